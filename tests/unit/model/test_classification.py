"""Classification: pooling and losses by hand, weights, metrics, files of predictions, and it learns."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

import pytest
import torch

from mtlspec.data.batching import Batch, collate
from mtlspec.data.prepare import write_prepared
from mtlspec.data.prepared import Prepared
from mtlspec.data.sentence import Sentence
from mtlspec.data.tokenizer import WordTokenizer
from mtlspec.errors import EncoderError, StageError
from mtlspec.kinds import options_class
from mtlspec.metrics.classes import ClassScores, ExampleAccuracy
from mtlspec.model.encoder.encoder import Encoder
from mtlspec.model.encoder.states import States
from mtlspec.model.importance import sentence_losses
from mtlspec.model.task import rebuild_task
from mtlspec.model.tasks._pooled_head import pooled
from mtlspec.model.tasks.classification import Classification
from mtlspec.spec.families import TASKS, Layout, TaskOptions
from tests import toy
from tests.unit.model.encoder import small

LABELS = {"names": 6, "things": 2}


def classification(labels: dict[str, int] | None = None, width: int = 8, **values: Any) -> Classification:
    about = {"type": "classification", "layer": "topic", **values}
    options = cast(TaskOptions, options_class(TASKS, "classification").model_validate(about))
    task = options.build("topic", LABELS if labels is None else labels, width)
    assert isinstance(task, Classification)
    task.module.eval()
    return task


def test_weights_of_zero_for_all_labels_are_refused() -> None:
    with pytest.raises(StageError, match="E473"):
        classification(class_weights={"names": 0.0, "things": 0.0})


def states_of(data: Prepared, rows: list[int], causal: bool = False, width: int = 8) -> tuple[Batch, States]:
    batch = collate(data.train, torch.tensor(rows), data.specials)
    torch.manual_seed(5)
    pieces = torch.randn(*batch.pieces.shape, width)
    last = pieces[torch.arange(len(rows)), batch.piece_mask.sum(1) - 1]
    return batch, States(torch.randn(*batch.word_mask.shape, width), pieces[:, 0], last, pieces, causal)


@pytest.fixture(scope="module")
def data(toy_prepared: Path) -> Prepared:
    return Prepared.load(toy_prepared)


def test_pooling_takes_the_first_the_last_or_the_mean_of_real_sub_tokens(data: Prepared) -> None:
    batch, states = states_of(data, [0, 1, 2])
    assert torch.equal(pooled(states, batch, "cls"), states.pieces[:, 0])
    for row in range(3):
        size = int(batch.piece_mask[row].sum())
        assert torch.equal(pooled(states, batch, "last")[row], states.pieces[row, size - 1])
        torch.testing.assert_close(pooled(states, batch, "mean")[row], states.pieces[row, 1 : size - 1].mean(0))


def test_pooling_follows_the_encoder(data: Prepared) -> None:
    batch, both = states_of(data, [0, 1])
    assert torch.equal(pooled(both, batch, "auto"), both.cls)
    batch, causal = states_of(data, [0, 1], causal=True)
    assert torch.equal(pooled(causal, batch, "auto"), causal.sep)
    with pytest.raises(EncoderError, match="reads from left to right") as caught:
        pooled(causal, batch, "cls")
    assert caught.value.code == "E371"


def test_the_loss_is_a_weighted_mean_over_known_labels(data: Prepared) -> None:
    batch, states = states_of(data, [0, 1, 2, 3])
    gold = torch.full((len(data.train),), -1)
    gold[:3] = torch.tensor([0, 1, 0])
    for weights, expected in ((None, (1.0, 1.0)), ("balanced", (8 / 12, 8 / 4)), ({"things": 3.0}, (1.0, 3.0))):
        task = classification(class_weights=weights)
        log = task.module(states, batch).log_softmax(1)
        a, b = expected
        by_hand = -(a * log[0, 0] + b * log[1, 1] + a * log[2, 0]) / (2 * a + b)
        torch.testing.assert_close(task.loss(states, batch, gold), by_hand)
    assert task.loss(states, batch, torch.full_like(gold, -1)) == 0.0


def test_uncertainty_is_the_normalised_entropy(data: Prepared) -> None:
    task = classification({"a": 1, "b": 1, "c": 1})
    batch, states = states_of(data, [0, 1, 2])
    p = task.module(states, batch).softmax(1)
    expected = -(p * p.log()).sum(1) / torch.tensor(3.0).log()
    torch.testing.assert_close(task.uncertainty(states, batch), expected.detach())
    assert classification({"a": 1}).uncertainty(states, batch).tolist() == [0.0] * 3


def test_options_decide_the_metric() -> None:
    assert isinstance(classification().metric, ExampleAccuracy)
    f1 = classification(metric="f1").metric
    assert isinstance(f1, ClassScores)
    assert (f1.main, f1.positive) == ("f1", "things")
    assert classification(metric="f1_accuracy", positive="names").metric.describe()["positive"] == "names"
    assert classification({"a": 1, "b": 1, "c": 1}, metric="matthews").metric.main == "matthews"


@pytest.mark.parametrize(
    ("labels", "values", "code", "message"),
    [
        ({}, {}, "E471", "have no labels"),
        ({"a": 1, "b": 1, "c": 1}, {"metric": "f1"}, "E473", "one of 3 labels; which one"),
        (LABELS, {"positive": "thing"}, "E473", "`positive` names 'thing'"),
        (LABELS, {"class_weights": dict.fromkeys(LABELS, 0.0)}, "E473", "are 0 for all labels"),
        (LABELS, {"class_weights": {"x": 1.0}}, "E473", "`class_weights` names 'x'"),
    ],
)
def test_what_does_not_fit_the_labels_is_refused(
    labels: dict[str, int], values: dict[str, Any], code: str, message: str
) -> None:
    with pytest.raises(StageError, match=message) as caught:
        classification(labels, **values)
    assert caught.value.code == code


def test_a_described_task_is_rebuilt_the_same() -> None:
    task = classification(hidden=5, class_weights={"things": 2.0}, metric="f1", pooling="mean", dropout=0.3)
    again = rebuild_task("topic", json.loads(json.dumps(task.describe())), 8)
    assert again.describe() == task.describe()
    assert str(again.module) == str(task.module)
    assert again.metric.describe() == task.metric.describe()


def test_a_hidden_layer_has_tanh(data: Prepared) -> None:
    task = classification(hidden=5)
    batch, states = states_of(data, [0, 1])
    parts = task.module.state_dict()
    hidden = torch.tanh(states.cls @ parts["hidden.weight"].T + parts["hidden.bias"])
    torch.testing.assert_close(task.module(states, batch), hidden @ parts["scores.weight"].T + parts["scores.bias"])


@pytest.mark.parametrize("pooling", ["cls", "mean", "last"])
def test_it_learns_fifty_sentences_by_heart(pooling: str, tmp_path: Path) -> None:
    encoder = toy.write_encoder(tmp_path / "encoder", dropout=0.0)
    fifty = toy.corpus(11, 50)
    prepared = toy.write_prepared(tmp_path / "data", encoder, {"train": fifty, "dev": fifty, "test": fifty})
    params = toy.train_params([], dropout=0.0, epochs=30, patience=1.0, batch={"sentences": 10, "tokens": 400})
    params["tasks"] = {"topic": {"type": "classification", "layer": "topic", "pooling": pooling, "metric": "matthews"}}
    assert toy.run_train(tmp_path, encoder, prepared, params).scores["dev/topic/matthews"] >= 99
    result = toy.run_evaluate(tmp_path / "evaluated", tmp_path / "out", prepared)
    assert result.scores["test/topic/accuracy"] >= 99
    lines = (tmp_path / "evaluated" / "out" / "predictions" / "topic.tsv").read_text().splitlines()
    assert lines[0] == "index\tid\ttext\tgold\tprediction"
    first = lines[1].split("\t")
    assert first[:4] == ["0", fifty[0].id, " ".join(fifty[0].words), fifty[0].layers["topic"]]
    assert len(lines) == 51


@pytest.mark.parametrize("layout", ["tsv", "jsonl"])
def test_predictions_for_raw_texts_are_written_in_the_layout_of_the_corpus(
    layout: Layout, toy_encoder: Path, tmp_path: Path
) -> None:
    texts = [("a dog\tand\u2028a cat",), ("the\nbird", "a  tree"), ("a bird",)]
    examples = [
        Sentence(f"n{i}", (), {"topic": "names"} if i else {}, ("a.tsv", i), texts=own) for i, own in enumerate(texts)
    ]
    write_prepared({"train": examples}, WordTokenizer.load(toy_encoder), tmp_path, layout=layout)
    split, task = Prepared.load(tmp_path).train, classification()
    path = tmp_path / f"x.{task.extension_for(split)}"
    task.write_predictions(split, ["names", "things", None], path)
    assert path.suffix == f".{layout}"
    if layout == "tsv":
        assert path.read_text() == (
            "index\tid\ttext\ttext2\tgold\tprediction\n"
            "0\tn0\ta dog and a cat\t\t_\tnames\n"
            "1\tn1\tthe bird\ta  tree\tnames\tthings\n"
        )
    else:
        found = [json.loads(line) for line in path.read_text().split("\n")[:-1]]
        names = ("index", "id", "text", "text2", "gold", "prediction")
        assert found[0] == dict(zip(names, (0, "n0", *texts[0], "", None, "names"), strict=True))
        assert found[1] == dict(zip(names, (1, "n1", *texts[1], "names", "things"), strict=True))
        assert len(found) == 2


def test_a_causal_encoder_decides_the_pooling_in_training_and_in_importance(data: Prepared, tmp_path: Path) -> None:
    encoder = Encoder.load(small.write(tmp_path, "gpt2"))
    batch = small.batch(4, 7)
    states = encoder(batch)
    gold = torch.tensor([0, 1])
    auto, last, cls = (classification(width=32, pooling=pooling) for pooling in ("auto", "last", "cls"))
    last.module.load_state_dict(auto.module.state_dict())
    assert torch.equal(auto.loss(states, batch, gold), last.loss(states, batch, gold))
    expected = sentence_losses(last, states, batch, gold)
    assert torch.equal(sentence_losses(auto, states, batch, gold), expected)
    torch.testing.assert_close(expected.mean(), auto.loss(states, batch, gold))
    for refused in (lambda: cls.loss(states, batch, gold), lambda: sentence_losses(cls, states, batch, gold)):
        with pytest.raises(EncoderError, match="E371"):
            refused()
