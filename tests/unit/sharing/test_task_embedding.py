"""Task embeddings: the shared CRF with a task's tags alone, vectors behind words and in front of sentences."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter

from mtlspec import kinds
from mtlspec.contract import training
from mtlspec.data.batching import Batch, collate
from mtlspec.data.corpora import Corpora
from mtlspec.data.prepared import Prepared
from mtlspec.errors import StageError
from mtlspec.model.encoder.states import States
from mtlspec.model.mixed import Reading, encode_parts
from mtlspec.model.multitask import MultiTaskModel, build_model
from mtlspec.model.taggers.crf import Crf
from mtlspec.model.tasks.tagging import Options as TaggingOptions
from mtlspec.model.tasks.tagging import Tagging
from mtlspec.sharing.task_embedding import Options, TaskEmbedding
from mtlspec.spec.encoders import AnEncoder, EncoderOptions
from mtlspec.spec.families import TASKS, TaskOptions
from mtlspec.structs.linear_chain import marginals, nll, viterbi
from tests import real_sentences, toy

BIRNN: dict[str, Any] = {"type": "birnn", "word_size": 8, "char_size": 6, "char_hidden": 5, "hidden": 12}
ENCODERS: dict[str, dict[str, Any]] = {"transformer": {}, "birnn": BIRNN}
WIDTH = 6
TAGS = st.lists(st.sampled_from(["O", "B-X", "I-X", "N", "V", "P", "Q"]), min_size=1, max_size=5, unique=True)


class _NoEncoder:
    """What the strategy asks of an encoder before it encodes."""

    width, front_width = WIDTH, WIDTH


def _tasks(spaces: dict[str, list[str]], decoder: str = "crf", **options: Any) -> list[Tagging]:
    """Tagging tasks with these tags that share a tagger; all its parameters are random."""
    strategy = TaskEmbedding(_NoEncoder(), list(spaces), Options(type="task_embedding", **options))  # type: ignore[arg-type]
    made = TaggingOptions.model_validate({"type": "tagging", "layer": "x", "decoder": decoder, "dropout": 0.0})
    tasks = [Tagging(name, made, dict.fromkeys(tags, 1), strategy.width) for name, tags in spaces.items()]
    strategy.attach(tasks)
    for parameter in strategy.module.parameters():
        torch.nn.init.normal_(parameter, std=2.0)
    for task in tasks:
        task.module.requires_grad_(False)
    return tasks


def _batch(sentences: int, seed: int, width: int) -> tuple[States, Batch]:
    generator = torch.Generator().manual_seed(seed)
    lengths = torch.randint(1, 6, (sentences, 1), generator=generator)
    mask = torch.arange(int(lengths.max())) < lengths
    words = torch.randn(*mask.shape, width, generator=generator)
    none = torch.zeros(sentences, 0, dtype=torch.int64)
    batch = Batch(torch.arange(sentences), none, none.bool(), none, mask)
    return States(words, words[:, 0], words[:, 0], words), batch


@settings(max_examples=60, deadline=None)
@given(TAGS, TAGS, st.integers(0, 2**20), st.sampled_from(["shared", "apart"]), st.sampled_from(["crf", "linear"]))
def test_a_task_never_chooses_a_tag_of_another(
    one: list[str], other: list[str], seed: int, same_names: str, decoder: str
) -> None:
    torch.manual_seed(seed)
    spaces = {"one": one, "other": other}
    tasks = _tasks(spaces, decoder, same_names=same_names)
    states, batch = _batch(7, seed, WIDTH + 25)
    for task in tasks:
        for tags, length in zip(task.decode(states, batch), batch.word_mask.sum(1).tolist(), strict=True):
            assert len(tags) == length and set(tags) <= set(spaces[task.name])


@settings(max_examples=30, deadline=None)
@given(TAGS, TAGS, st.integers(0, 2**20))
def test_a_view_is_the_whole_crf_with_all_other_tags_masked(one: list[str], other: list[str], seed: int) -> None:
    torch.manual_seed(seed)
    union, own = sorted({*one, *other}), sorted(one)
    whole, view = (Crf(WIDTH, tags, "plain", 0.0) for tags in (union, own))
    for parameter in whole.module.parameters():
        torch.nn.init.normal_(parameter)
    columns = torch.tensor([union.index(tag) for tag in own])
    view.borrow(whole, columns)
    states, batch = _batch(4, seed, WIDTH)
    mask, scores = batch.word_mask, whole._scores
    foreign = torch.ones(len(union), dtype=torch.bool).index_fill(0, columns, value=False)
    emissions = whole._emissions(states.words).masked_fill(foreign, float("-inf"))
    chain = (scores["transitions"], scores["start"], scores["end"], mask)
    gold = torch.randint(len(own), mask.shape)
    expected = nll(emissions, *chain, columns[gold]).sum() / mask.sum()
    found = view.loss(states.words, mask, gold)
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)
    best = viterbi(emissions, *chain)[0]
    assert torch.equal(columns[view.decode(states.words, mask)][mask], best[mask])
    shares = marginals(emissions, *chain)[mask]
    torch.testing.assert_close(view.probabilities(states.words, mask)[mask], shares[:, columns], rtol=1e-4, atol=1e-5)
    found.backward()  # type: ignore[no-untyped-call]
    grad = scores["transitions"].grad
    assert grad is not None and not grad[foreign].any() and not grad[:, foreign].any()


def test_as_released_a_task_can_choose_what_is_another_tasks() -> None:
    torch.manual_seed(1)
    spaces = {"ner": ["O", "B-X", "I-X"], "pos": ["N", "O", "V"]}
    ner, pos = _tasks(spaces, mask="released")
    states, batch = _batch(20, 1, WIDTH + 25)
    for task in (ner, pos):
        found = {tag for tags in task.decode(states, batch) for tag in tags}
        assert not found <= set(spaces[task.name]) and found <= {"O", "B-X", "I-X", "N", "V"}
    assert ner.metric.main == "f1" and pos.metric.main == "accuracy", "the metric is that of the task's own tags"
    assert ner.decode(states, batch) == pos.decode(states, batch), "nothing but the task's vector tells them apart"


@pytest.mark.parametrize(("same_names", "tags"), [("shared", 5), ("apart", 6)])
def test_tags_of_one_name_are_one_tag_unless_the_spec_says_otherwise(same_names: str, tags: int) -> None:
    tasks = _tasks({"ner": ["O", "B-X", "I-X"], "pos": ["N", "O", "V"]}, same_names=same_names)
    taggers = [task._tagger for task in tasks]
    assert all(isinstance(tagger, Crf) and tagger._emissions.out_features == tags for tagger in taggers)
    outside = [tagger._columns[task.tags.index("O")] for tagger, task in zip(taggers, tasks, strict=True)]  # type: ignore[attr-defined]
    assert (outside[0] == outside[1]) == (same_names == "shared")
    released = _tasks({"ner": ["O", "B-X"], "pos": ["O", "V"]}, same_names="apart", mask="released")
    assert [task.tags for task in released] == [["B-X", "O", "pos:O", "pos:V"], ["O", "V", "ner:B-X", "ner:O"]]


def test_the_scheme_still_forbids_what_it_forbids() -> None:
    torch.manual_seed(2)
    ner, _ = _tasks({"ner": ["O", "B-X", "I-X"], "pos": ["N", "O", "V"]})
    states, batch = _batch(30, 2, WIDTH + 25)
    for tags in ner.decode(states, batch):
        assert tags[0] != "I-X" and all(b != "I-X" or a != "O" for a, b in pairwise(tags))


def test_tasks_that_cannot_share_a_tagger_are_refused(toy_encoder: Path, toy_prepared: Path) -> None:
    options = Options(type="task_embedding")
    crf, linear, tree = (
        kinds.parse(TASKS, TaskOptions, task)
        for task in (toy.TASKS["ner"], toy.TASKS["pos"], {"type": "biaffine_dep", "layer": "dep"})
    )
    assert options.task_problem({"a": crf, "b": crf}) is None and options.task_problem({"a": linear}) is None
    assert "'b' and 'a' have other decoders" in (options.task_problem({"a": crf, "b": linear}) or "")
    assert "'b' is of type 'biaffine_dep'" in (options.task_problem({"a": crf, "b": tree}) or "")
    with pytest.raises(StageError, match="E970: `sharing: task_embedding` has one tagger for all tasks"):
        _model(toy_encoder, Prepared.load(toy_prepared), {}, {"pos": toy.TASKS["pos"], "ner": toy.TASKS["ner"]})


def _model(
    directory: Path, data: Prepared, encoder: dict[str, Any], tasks: dict[str, Any] | None = None, **options: Any
) -> MultiTaskModel:
    torch.manual_seed(1)
    made: EncoderOptions = TypeAdapter[EncoderOptions](AnEncoder).validate_python({"card": "toy", **encoder})
    chosen = tasks or {name: toy.TASKS[name] for name in ("pos", "names")}
    parsed = {name: kinds.parse(TASKS, TaskOptions, task) for name, task in chosen.items()}
    strategy = Options(type="task_embedding", **options)
    model = build_model(made.build(directory), strategy, parsed, Corpora.single(data).labels(parsed))
    model.module.eval()
    return model


@pytest.mark.parametrize("encoder", ENCODERS.values(), ids=ENCODERS.keys())
@pytest.mark.parametrize("at", ["decoder", "encoder"])
def test_rows_of_a_mixed_batch_have_their_own_tasks_vector(
    at: str, encoder: dict[str, Any], toy_encoder: Path, toy_prepared: Path
) -> None:
    data = Prepared.load(toy_prepared)
    model = _model(toy_encoder, data, encoder, at=at)
    readings = [Reading(task, data.train, torch.arange(3) + task) for task in (0, 1)]
    with torch.no_grad():
        for reading, mixed in zip(readings, encode_parts(model, readings), strict=True):
            (alone,) = encode_parts(model, [reading])
            torch.testing.assert_close(mixed.states.words, alone.states.words, rtol=0, atol=1e-5)
        (first,) = encode_parts(model, readings[:1])
        (other,) = encode_parts(model, [readings[0]._replace(task=1)])
        difference = (first.states.words - other.states.words).abs().amax(2)
    assert bool((difference[first.batch.word_mask] > 1e-4).all()), "every word knows the task"
    assert not difference[~first.batch.word_mask].any() and not first.states.words[~first.batch.word_mask].any()
    assert first.states.words.shape[:2] == first.batch.word_mask.shape, "the token in front is no word"


def test_the_vector_stands_behind_every_word(toy_encoder: Path, toy_prepared: Path) -> None:
    data = Prepared.load(toy_prepared)
    model = _model(toy_encoder, data, {}, size=3)
    batch = collate(data.train, torch.arange(2), data.specials)
    strategy = model.sharing
    assert isinstance(strategy, TaskEmbedding) and strategy.width == model.encoder.width + 3
    words = model.states(batch, 1).words
    assert torch.equal(words[..., :-3], model.encoder(batch).words)
    assert torch.equal(words[0, 0, -3:], strategy.task_vectors()[1])


@pytest.mark.parametrize("at", ["decoder", "encoder"])
def test_on_birnn_it_trains_resumes_to_the_bit_and_comes_back(
    at: str, toy_encoder: Path, toy_prepared: Path, tmp_path: Path
) -> None:
    sharing = {"type": "task_embedding", "at": at, "same_names": "apart"}
    training.check(training.params(sharing=sharing, encoder=BIRNN), tmp_path, toy_encoder, toy_prepared)


def _by_heart(
    root: Path, kept: list[Any], tasks: dict[str, Any], at: str, encoder: dict[str, Any], epochs: int
) -> float:
    directory = toy.write_encoder(root / "encoder", dropout=0.0, known=kept)
    prepared = toy.write_prepared(root / "data", directory, {"train": kept, "dev": kept, "test": kept})
    rates = {"encoder": 1e-2, "decoder": 1e-2}
    limits = {"sentences": 10, "tokens": 800}
    params = toy.train_params([], dropout=0.0, epochs=epochs, patience=1.0, batch=limits, lr=rates)
    params["encoder"] |= {**encoder, "dropout": 0.0, "char_dropout": 0.0}
    params["tasks"], params["sharing"] = tasks, {"type": "task_embedding", "at": at}
    return toy.run_train(root, directory, prepared, params).scores["dev/mean"]


@pytest.mark.parametrize("at", ["decoder", "encoder"])
def test_two_tasks_are_learnt_by_heart(at: str, tmp_path: Path) -> None:
    tasks = {name: {"type": "tagging", "layer": name, "decoder": "crf"} for name in ("pos", "ner")}
    assert _by_heart(tmp_path, toy.corpus(11, 20), tasks, at, {**BIRNN, "hidden": 24}, 40) >= 99


@pytest.mark.slow
@pytest.mark.realdata
@pytest.mark.parametrize("at", ["decoder", "encoder"])
def test_fifty_real_sentences_are_learnt_by_heart(at: str, tmp_path: Path) -> None:
    kept = real_sentences.fifty("upos")
    tasks = {name: {"type": "tagging", "layer": "upos", "decoder": "crf"} for name in ("one", "two")}
    assert _by_heart(tmp_path, kept, tasks, at, {"type": "birnn", "hidden": 100}, 15) >= 99
