"""Biaffine NER: the loss by hand, flat and nested decoding, files of predictions, and it learns."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import pytest
import torch
from torch import nn

from mtlspec.data.batching import collate
from mtlspec.data.prepared import Prepared
from mtlspec.data.readers import columns
from mtlspec.data.sentence import Sentence
from mtlspec.errors import StageError
from mtlspec.kinds import options_class
from mtlspec.model.encoder.states import States
from mtlspec.model.task import rebuild_task
from mtlspec.model.tasks.biaffine_ner import BiaffineNer
from mtlspec.spec.families import TASKS, TaskOptions
from tests import toy

WORDS = ("cat", "sees", "dog", "tree", "house")


def biaffine(labels: dict[str, int], width: int = 8, **values: Any) -> BiaffineNer:
    options = options_class(TASKS, "biaffine_ner").model_validate({"type": "biaffine_ner", "layer": "ner", **values})
    task = cast(TaskOptions, options).build("ner", labels, width)
    assert isinstance(task, BiaffineNer)
    task.module.eval()
    return task


def made(tags: str) -> Sentence:
    given = tuple(tags.split())
    return Sentence("x", WORDS[: len(given)], {"ner": given})


@pytest.fixture(scope="module")
def odd_data(tmp_path_factory: pytest.TempPathFactory, toy_encoder: Path) -> Prepared:
    """Dev has a type that train has not; a sentence has one word."""
    splits = {
        "train": [made("O B-X I-X B-Y O"), made("B-X"), made("O O O")],
        "dev": [made("B-Z I-Z O B-X"), made("O")],
        "test": [made("O O O O O")],
    }
    return Prepared.load(toy.write_prepared(tmp_path_factory.mktemp("odd"), toy_encoder, splits))


def states_of(data: Prepared, split: str, rows: Sequence[int], width: int = 8) -> tuple[Any, States]:
    batch = collate(data.split(split), torch.tensor(rows), data.specials)  # type: ignore[arg-type]
    torch.manual_seed(5)
    words = torch.randn(*batch.word_mask.shape, width)
    return batch, States(words, words[:, 0], words[:, 0], words)


def randomised(task: BiaffineNer) -> BiaffineNer:
    torch.manual_seed(2)
    with torch.no_grad():
        for parameter in task.module.parameters():
            parameter.normal_(0, 0.3)
    return task


@pytest.mark.parametrize(("split", "rows"), [("train", [2, 0, 1]), ("dev", [0, 1])])
def test_the_loss_is_the_mean_over_spans_of_known_types(odd_data: Prepared, split: str, rows: list[int]) -> None:
    task = randomised(biaffine(dict(odd_data.labels["ner"]), size=4))
    assert task.types == ["X", "Y"]
    batch, states = states_of(odd_data, split, rows)
    mlps = [dict(task.module.named_children())[side] for side in ("start", "end")]
    weight = dict(task.module.named_parameters())["biaffine.weight"]  # [C, 5, 5]
    losses = []
    for b, row in enumerate(rows):
        gold = {(s, e - 1): kind for s, e, kind in task.gold_values(odd_data.split(split))[row]}  # type: ignore[arg-type]
        for i in range(int(batch.word_mask[b].sum())):
            for j in range(i, int(batch.word_mask[b].sum())):
                left, right = (
                    torch.cat([nn.functional.leaky_relu(mlp.linear(states.words[b, at]), 0.1), torch.ones(1)])
                    for mlp, at in zip(mlps, (i, j), strict=True)
                )
                scores = torch.stack([left @ matrix @ right for matrix in weight])
                kind = gold.get((i, j))
                if kind != "Z":
                    losses.append(-scores.log_softmax(0)[0 if kind is None else 1 + task.types.index(kind)])
    found = task.loss(states, batch, task.encode(odd_data.split(split)))  # type: ignore[arg-type]
    torch.testing.assert_close(found, torch.stack(losses).mean())


def test_an_unseen_type_counts_as_a_miss(odd_data: Prepared) -> None:
    task = biaffine(dict(odd_data.labels["ner"]))
    assert task.gold_values(odd_data.dev)[0] == [(0, 2, "Z"), (3, 4, "X")]
    batch, states = states_of(odd_data, "dev", [0, 1])
    assert task.metric.counts(task.gold_values(odd_data.dev), task.decode(states, batch)).tolist() == [
        [0, 0, 2],
        [0, 0, 0],
    ]


def scored(data: Prepared, table: dict[tuple[int, int, str], float], **options: Any) -> list[list[Any]]:
    """Decode three sentences whose words are one-hot, so that the biaffine matrix holds the score of every span."""
    task = biaffine({"O": 9, "B-X": 1, "B-Y": 1}, width=5, variant="released", size=5, **options)
    values = dict(task.module.named_parameters())
    with torch.no_grad():
        for side in ("start", "end"):
            values[f"{side}.0.weight"].copy_(torch.eye(5))
            values[f"{side}.0.bias"].zero_()
        for (start, end, kind), score in table.items():
            values["biaffine.weight"][1 + task.types.index(kind), start, end - 1] = score
    batch = collate(data.train, torch.arange(3), data.specials)
    words = torch.eye(5)[: batch.word_mask.shape[1]].expand(3, -1, -1)
    return task.decode(States(words, words[:, 0], words[:, 0], words), batch)


def test_spans_are_taken_by_score_without_crossing_or_nesting(odd_data: Prepared) -> None:
    table = {(0, 3, "X"): 3.0, (1, 2, "Y"): 2.0, (2, 4, "X"): 2.5, (3, 5, "Y"): 1.0, (4, 5, "X"): -1.0}
    long, one, three = scored(odd_data, table)
    assert long == [(0, 3, "X"), (3, 5, "Y")]
    assert one == []  # spans that leave the sentence are none
    assert three == [(0, 3, "X")]
    assert scored(odd_data, table, nested=True)[0] == [(0, 3, "X"), (1, 2, "Y"), (3, 5, "Y")]


def test_nothing_is_predicted_where_no_entity_is_best(odd_data: Prepared) -> None:
    assert scored(odd_data, {(0, 1, "X"): 0.0, (1, 2, "X"): -1.0}) == [[], [], []]


def test_predictions_are_written_in_columns_and_read_back(odd_data: Prepared, tmp_path: Path) -> None:
    task = biaffine(dict(odd_data.labels["ner"]), nested=True)
    nested = [[(0, 4, "X"), (0, 2, "Y"), (3, 4, "Y"), (4, 5, "X"), (1, 2, "X")], [], [(2, 3, "Y")]]
    task.write_predictions(odd_data.train, nested, tmp_path / "x.tsv")
    names = {"gold": 1, "0": 2, "1": 3, "2": 4}
    options = columns.Options(type="columns", column=names, delimiter="tab", spans=dict.fromkeys(names, "iob2"))
    first, second, third = options.read(tmp_path / "x.tsv")
    assert first.words == WORDS
    assert first.layers == {
        "gold": ("O", "B-X", "I-X", "B-Y", "O"),
        "0": ("B-X", "I-X", "I-X", "I-X", "B-X"),
        "1": ("B-Y", "I-Y", "O", "B-Y", "O"),
        "2": ("O", "B-X", "O", "O", "O"),
    }
    assert second.layers["0"] == ("O",)
    assert third.layers["0"] == ("O", "O", "B-Y")
    task.write_predictions(odd_data.train, [[], [(0, 1, "X")], []], tmp_path / "flat.tsv")
    assert "cat\tB-X\tB-X\n" in (tmp_path / "flat.tsv").read_text("utf-8")


def test_iobes_tags_are_read_as_the_spans_they_spell(tmp_path: Path, toy_encoder: Path) -> None:
    sentences = [made("S-X B-Y E-Y O B-X")]
    data = Prepared.load(toy.write_prepared(tmp_path, toy_encoder, dict.fromkeys(("train", "dev", "test"), sentences)))
    task = biaffine(dict(data.labels["ner"]))
    assert task.scheme == "iobes"
    assert task.gold_values(data.train) == [[(0, 1, "X"), (1, 3, "Y"), (4, 5, "X")]]


def test_the_paper_has_a_rectifier_and_dropout_and_the_released_code_neither() -> None:
    paper, released = (biaffine({"B-X": 1}, variant=variant) for variant in ("paper", "released"))
    assert [m.p for m in paper.module.modules() if hasattr(m, "p")] == [0.5, 0.5]
    assert [m.p for m in released.module.modules() if hasattr(m, "p")] == [0.0, 0.0]
    assert any(isinstance(m, nn.LeakyReLU) for m in paper.module.modules())
    assert not any(isinstance(m, nn.LeakyReLU) for m in released.module.modules())


def test_plain_tags_are_refused_and_a_layer_without_entities_is_not(odd_data: Prepared) -> None:
    with pytest.raises(StageError, match=r"E447.*'NOUN' of layer 'ner' spells no part of a span"):
        biaffine({"NOUN": 3, "VERB": 2})
    task = biaffine({"O": 7})
    batch, states = states_of(odd_data, "test", [0])
    assert task.loss(states, batch, task.encode(odd_data.test)).item() == 0.0
    assert task.decode(states, batch) == [[]]


def test_a_described_task_is_rebuilt_the_same() -> None:
    task = biaffine({"O": 9, "B-X": 3, "I-X": 1}, variant="released", nested=True, dropout=0.25, size=7)
    again = rebuild_task("ner", task.describe(), 8)
    assert again.describe() == task.describe()
    assert str(again.module) == str(task.module)


def overfitted(root: Path, encoder: Path, fifty: Sequence[Sentence], epochs: int, lr: float) -> float:
    prepared = toy.write_prepared(root / "data", encoder, {"train": fifty, "dev": fifty, "test": fifty})
    train = {"epochs": epochs, "patience": 1.0, "batch": {"sentences": 10, "tokens": 800}}
    params = toy.train_params([], dropout=0.0, **train, lr={"encoder": lr, "decoder": 1e-3})
    params["tasks"] = {"ner": {"type": "biaffine_ner", "layer": "ner", "dropout": 0.0}}
    return float(toy.run_train(root, encoder, prepared, params).scores["dev/mean"])


def test_fifty_sentences_are_learnt_by_heart(tmp_path: Path) -> None:
    encoder = toy.write_encoder(tmp_path / "encoder", dropout=0.0)
    assert overfitted(tmp_path, encoder, toy.corpus(11, 50), epochs=30, lr=3e-3) >= 99


@pytest.mark.slow
@pytest.mark.realdata
def test_fifty_real_sentences_are_learnt_by_heart(tmp_path: Path) -> None:
    file = Path(os.environ["MTLSPEC_DATA"]) / "ewt5" / "small" / "ewt5-small.train.ner.conll"
    options = columns.Options(type="columns", column={"ner": 3}, spans={"ner": "iob2"})
    fifty = [s for s in options.read(file) if len(s.words) < 40 and set(s.layers["ner"]) != {"O"}][:50]  # type: ignore[arg-type]
    encoder = toy.write_encoder(tmp_path / "encoder", width=128, layers=4, heads=8, dropout=0.0, known=fifty)
    assert overfitted(tmp_path, encoder, fifty, epochs=60, lr=5e-4) >= 99


def test_spans_that_touch_a_gap_neither_train_nor_count(tmp_path: Path, toy_encoder: Path) -> None:
    """Every span that holds word 1, which has no tag, or word 0, whose span may go on, is left out of the loss."""
    sentence = Sentence("x", WORDS[:4], {"ner": ("B-X", None, "O", "B-Y")})
    splits = {"train": [sentence, made("B-X B-Y"), Sentence("x", WORDS[:2], {})], "dev": [sentence], "test": [sentence]}
    data = Prepared.load(toy.write_prepared(tmp_path / "data", toy_encoder, splits))
    task = randomised(biaffine(dict(data.labels["ner"]), size=4))
    assert task.rows(data.train).tolist() == [0, 1]
    assert [list(spans) for spans in task.gold_values(data.train)] == [[(3, 4, "Y")], [(0, 1, "X"), (1, 2, "Y")], []]
    batch, states = states_of(data, "train", [0])
    scores = task._scores(states.words).log_softmax(-1)[0]
    expected = -(scores[2, 2, 0] + scores[2, 3, 0] + scores[3, 3, 2]) / 3
    torch.testing.assert_close(task.loss(states, batch, task.encode(data.train)), expected)
    counts = task.metric.counts(task.gold_values(data.train)[:1], [[(0, 2, "X"), (2, 3, "Y"), (3, 4, "Y")]])
    assert counts.tolist() == [[1, 2, 1]]
    task.write_predictions(data.train, [[(0, 1, "X")], None, []], tmp_path / "x.tsv")
    lines = "cat\t_\tB-X\nsees\t_\tO\ndog\tO\tO\ntree\tB-Y\tO\n\ncat\t_\tO\nsees\t_\tO\n\n"
    assert (tmp_path / "x.tsv").read_text() == lines
