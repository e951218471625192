"""Tagging: gold encoding, losses by hand, constrained decoding, and both decoders learn."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise, product
from pathlib import Path
from typing import Any, cast

import pytest
import torch

from mtlspec.data.batching import collate
from mtlspec.data.prepared import Prepared
from mtlspec.data.sentence import Sentence
from mtlspec.kinds import options_class
from mtlspec.metrics.schemes import convert
from mtlspec.model.encoder.states import States
from mtlspec.model.tagger import UNKNOWN
from mtlspec.model.task import rebuild_task
from mtlspec.model.tasks.tagging import Tagging
from mtlspec.spec.families import TAGGERS, TASKS, TaskOptions
from tests import real_sentences, toy


def tagging(layer: str, labels: dict[str, int], width: int = 8, **values: Any) -> Tagging:
    options = options_class(TASKS, "tagging").model_validate({"type": "tagging", "layer": layer, **values})
    task = cast(TaskOptions, options).build(layer, labels, width)
    assert isinstance(task, Tagging)
    task.module.eval()
    return task


@pytest.fixture(scope="module")
def odd_data(tmp_path_factory: pytest.TempPathFactory, toy_encoder: Path) -> Prepared:
    """Dev has a tag that train has not."""

    def made(tags: str, ner: str) -> Sentence:
        words = ("cat", "sees", "dog", "tree")[: len(tags.split())]
        return Sentence("x", words, {"pos": tuple(tags.split()), "ner": tuple(ner.split())})

    splits = {
        "train": [made("N V N", "O O B-X"), made("N V", "B-X I-X"), made("V", "O")],
        "dev": [made("N ODD N", "O B-Y O"), made("N V N N", "O O O O")],
        "test": [made("ODD", "I-Y")],
    }
    return Prepared.load(toy.write_prepared(tmp_path_factory.mktemp("odd"), toy_encoder, splits))


@pytest.fixture(scope="module")
def gaps(tmp_path_factory: pytest.TempPathFactory, toy_encoder: Path) -> Prepared:
    """A word without a tag, and a sentence without the layer."""
    train = [
        Sentence("1", ("cat", "sees", "dog"), {"pos": ("N", None, "N")}),
        Sentence("2", ("dog", "sees"), {}),
        Sentence("3", ("cat",), {"pos": ("V",)}),
    ]
    splits = {"train": train, "dev": train, "test": train[1:2]}
    return Prepared.load(toy.write_prepared(tmp_path_factory.mktemp("gaps"), toy_encoder, splits))


def states_of(prepared: Prepared, split: str, rows: list[int], width: int = 8) -> tuple[Any, States]:
    batch = collate(getattr(prepared, split), torch.tensor(rows), prepared.specials)
    torch.manual_seed(5)
    words = torch.randn(*batch.word_mask.shape, width)
    return batch, States(words, words[:, 0], words[:, 0], words)


def test_gold_is_encoded_with_unknown_tags_marked(odd_data: Prepared) -> None:
    task = tagging("pos", dict(odd_data.labels["pos"]))
    assert task.tags == ["N", "V"]
    assert task.encode(odd_data.train).ids.tolist() == [0, 1, 0, 0, 1, 1, UNKNOWN]
    assert task.encode(odd_data.dev).ids.tolist() == [0, UNKNOWN, 0, 0, 1, 0, 0, UNKNOWN]
    assert task.gold_values(odd_data.dev)[0] == ["N", "ODD", "N"]


def test_linear_loss_is_the_mean_over_known_words(odd_data: Prepared) -> None:
    task = tagging("pos", dict(odd_data.labels["pos"]))
    batch, states = states_of(odd_data, "dev", [1, 0])
    (weight, bias) = task.module.parameters()
    log_probabilities = (states.words @ weight.T + bias).log_softmax(-1)
    expected = -sum(log_probabilities[0, i, tag] for i, tag in enumerate([0, 1, 0, 0]))
    expected = (expected - log_probabilities[1, 0, 0] - log_probabilities[1, 2, 0]) / 6
    torch.testing.assert_close(task.loss(states, batch, task.encode(odd_data.dev)), expected)


def test_crf_loss_adds_l2(odd_data: Prepared) -> None:
    plain = tagging("ner", dict(odd_data.labels["ner"]), decoder="crf")
    gold = plain.encode(odd_data.dev)
    batch, states = states_of(odd_data, "dev", [1, 0])
    penalised = tagging("ner", dict(odd_data.labels["ner"]), decoder={"type": "crf", "transition_l2": 0.5})
    penalised.module.load_state_dict(plain.module.state_dict())
    with torch.no_grad():
        for task in (plain, penalised):
            dict(task.module.named_parameters())["tagger.scores.transitions"].fill_(2.0)
    extra = penalised.loss(states, batch, gold) - plain.loss(states, batch, gold)
    assert extra.item() == pytest.approx(0.5 * 9 * 4)


def test_crf_sums_over_all_tags_of_a_word_without_one() -> None:
    """Against the sum over every tagging, and so does the gradient."""
    torch.manual_seed(2)
    crf = options_class(TAGGERS, "crf").model_validate({"type": "crf"}).build(4, ["A", "B", "C"], "plain")  # type: ignore[attr-defined]
    for parameter in crf.module.parameters():
        torch.nn.init.normal_(parameter)
    words, mask = torch.randn(3, 4, 4), torch.tensor([[True] * 4, [True] * 3 + [False], [True] * 2 + [False] * 2])
    tags = torch.tensor([[0, UNKNOWN, 2, UNKNOWN], [UNKNOWN, 1, 1, UNKNOWN], [UNKNOWN] * 4])
    loss = crf.loss(words, mask, tags)
    parts = dict(crf.module.named_parameters())
    transitions, start, end = (parts[f"scores.{name}"] for name in ("transitions", "start", "end"))
    total = torch.zeros(())
    for row in range(3):
        emissions = crf.module["emissions"](words[row])
        size = int(mask[row].sum())
        found: list[tuple[torch.Tensor, bool]] = []
        for path in product(range(3), repeat=size):
            score = start[path[0]] + end[path[-1]] + sum(emissions[i, tag] for i, tag in enumerate(path))
            score = score + sum(transitions[a, b] for a, b in pairwise(path))
            agrees = all(tags[row, i] in (UNKNOWN, tag) for i, tag in enumerate(path))
            found.append((score, agrees))
        everything = torch.logsumexp(torch.stack([score for score, _ in found]), 0)
        total = total + everything - torch.logsumexp(torch.stack([score for score, agrees in found if agrees]), 0)
    torch.testing.assert_close(loss, total / 4)  # four words have a tag
    ours = torch.autograd.grad(loss, list(parts.values()))
    theirs = torch.autograd.grad(total / 4, list(parts.values()))
    torch.testing.assert_close(ours, theirs)


@pytest.mark.parametrize("decoder", ["linear", "crf"])
def test_words_without_a_tag_neither_train_nor_count(decoder: str, gaps: Prepared, tmp_path: Path) -> None:
    task = tagging("pos", dict(gaps.labels["pos"]), decoder=decoder)
    gold = task.encode(gaps.train)
    assert task.rows(gaps.train).tolist() == [0, 2]
    assert task.gold_values(gaps.train)[0] == ["N", None, "N"]
    batch, states = states_of(gaps, "train", [0, 2])
    loss = task.loss(states, batch, gold)
    words = states.words.clone()
    words[1, 0] += 1.0
    assert task.loss(replace(states, words=words), batch, gold) != loss
    counts = task.metric.counts(task.gold_values(gaps.train)[:1], [["N", "N", "V"]])
    assert counts.tolist() == [[1, 2]]
    task.write_predictions(gaps.train, [["N", "V", "N"], None, ["V"]], tmp_path / "x.tsv")
    assert (tmp_path / "x.tsv").read_text() == "cat\tN\tN\nsees\t_\tV\ndog\tN\tN\n\ncat\tV\tV\n\n"


def test_linear_gradient_is_zero_at_words_without_a_tag(gaps: Prepared) -> None:
    task = tagging("pos", dict(gaps.labels["pos"]))
    batch, states = states_of(gaps, "train", [0, 2])
    states.words.requires_grad_()
    (found,) = torch.autograd.grad(task.loss(states, batch, task.encode(gaps.train)), states.words)
    assert (found.abs().sum(2) > 0).tolist() == [[True, False, True], [True, False, False]]


@pytest.mark.parametrize("decoder", ["linear", "crf"])
def test_uncertainty_is_the_mean_entropy_of_the_words(decoder: str, odd_data: Prepared) -> None:
    task = tagging("ner", dict(odd_data.labels["ner"]), decoder=decoder)
    batch, states = states_of(odd_data, "dev", [1, 0])
    found = task.uncertainty(states, batch)
    assert found.shape == (2,)
    assert ((found > 0) & (found < 1)).all()
    with torch.no_grad():
        for parameter in task.module.parameters():
            parameter.zero_()
    torch.testing.assert_close(task.uncertainty(states, batch), torch.ones(2))
    emissions = cast(Any, task.module["tagger"] if decoder == "linear" else task.module["tagger"]["emissions"])
    with torch.no_grad():
        emissions.bias[0] = 100.0
    torch.testing.assert_close(task.uncertainty(states, batch), torch.zeros(2))


def test_an_unseen_gold_tag_counts_as_an_error(odd_data: Prepared) -> None:
    task = tagging("pos", dict(odd_data.labels["pos"]))
    batch, states = states_of(odd_data, "test", [0])
    counts = task.metric.counts(task.gold_values(odd_data.test), task.decode(states, batch))
    assert counts.tolist() == [[0, 1]]


@pytest.mark.parametrize("scheme", ["bio", "iobes"])
def test_constrained_decoding_obeys_the_scheme(scheme: Any, toy_prepared: Path) -> None:
    data = Prepared.load(toy_prepared)
    prefixes = "BI" if scheme == "bio" else "BIES"
    labels = {"O": 1, **{f"{prefix}-{kind}": 1 for prefix in prefixes for kind in ("X", "Y")}}
    batch, states = states_of(data, "train", list(range(40)))
    free = tagging("ner", labels, decoder={"type": "crf", "constrained": False}, scheme=scheme)
    bound = tagging("ner", labels, decoder="crf", scheme=scheme)
    bound.module.load_state_dict(free.module.state_dict())
    assert any(convert(tags, scheme) != list(tags) for tags in free.decode(states, batch))
    assert all(convert(tags, scheme) == list(tags) for tags in bound.decode(states, batch))


def test_decoding_survives_an_inventory_that_allows_no_sequence(toy_prepared: Path) -> None:
    data = Prepared.load(toy_prepared)
    batch, states = states_of(data, "train", [0, 1])
    found = tagging("ner", {"I-X": 3, "I-Y": 2}, decoder="crf", scheme="bio").decode(states, batch)
    assert [len(tags) for tags in found] == batch.word_mask.sum(1).tolist()


def test_scheme_decides_the_metric() -> None:
    assert tagging("pos", {"N": 1, "V": 1}).metric.main == "accuracy"
    assert tagging("ner", {"O": 1, "B-X": 1}).metric.main == "f1"
    assert tagging("ner", {"O": 1, "B-X": 1}, scheme="plain").metric.main == "accuracy"


def test_a_described_task_is_rebuilt_the_same() -> None:
    task = tagging("ner", {"O": 9, "B-X": 3, "I-X": 1}, decoder={"type": "crf", "transition_l2": 0.01}, dropout=0.25)
    again = rebuild_task("ner", task.describe(), 8)
    assert again.describe() == task.describe()
    assert again.module.state_dict().keys() == task.module.state_dict().keys()
    assert str(again.module) == str(task.module)


@pytest.mark.parametrize("name", ["pos", "names", "ner"])
def test_both_decoders_learn_fifty_sentences_by_heart(name: str, tmp_path: Path) -> None:
    encoder = toy.write_encoder(tmp_path / "encoder", dropout=0.0)
    fifty = toy.corpus(11, 50)
    prepared = toy.write_prepared(tmp_path / "data", encoder, {"train": fifty, "dev": fifty, "test": fifty})
    params = toy.train_params([name], dropout=0.0, epochs=30, patience=1.0, batch={"sentences": 10, "tokens": 400})
    assert toy.run_train(tmp_path, encoder, prepared, params).scores["dev/mean"] >= 99


@pytest.mark.slow
@pytest.mark.realdata
@pytest.mark.parametrize("decoder", ["linear", "crf"])
def test_both_decoders_learn_fifty_real_sentences_by_heart(decoder: str, tmp_path: Path) -> None:
    kept = real_sentences.fifty("upos")
    encoder = toy.write_encoder(tmp_path / "encoder", 128, 4, 8, dropout=0.0, known=kept)
    prepared = toy.write_prepared(tmp_path / "data", encoder, {"train": kept, "dev": kept, "test": kept})
    rates = {"encoder": 5e-4, "decoder": 2e-3}
    params = toy.train_params(
        [], dropout=0.0, epochs=40, patience=1.0, batch={"sentences": 10, "tokens": 800}, lr=rates
    )
    params["tasks"] = {"pos": {"type": "tagging", "layer": "upos", "decoder": decoder}}
    assert toy.run_train(tmp_path, encoder, prepared, params).scores["dev/pos/accuracy"] >= 99
