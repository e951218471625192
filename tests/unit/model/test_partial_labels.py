"""Every task type on data of which a half lacks the layer: the same losses and scores as without that half."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from mtlspec import kinds
from mtlspec.data.batching import collate
from mtlspec.data.marks import Marked
from mtlspec.data.prepared import Prepared
from mtlspec.data.sentence import Sentence
from mtlspec.model.encoder.encoder import Encoder
from mtlspec.model.multitask import build_model
from mtlspec.model.predict import count, predict
from mtlspec.spec.families import SHARING, TASKS
from mtlspec.spec.models import BatchLimits
from tests import toy

LAYERS = {
    "biaffine_dep": "dep",
    "biaffine_ner": "ner",
    "classification": "topic",
    "crf_con": "con",
    "multiple_choice": "odd",
    "qa_span": "reply",
    "regression": "size",
    "span_srl": "srl",
    "tagging": "pos",
    "tagging_f1": "pos",
    "word_in_context": "alike",
}


OPTIONS: dict[str, dict[str, Any]] = {"qa_span": {"no_answer": True}}


def _without(sentence: Sentence) -> Sentence:
    """Without labels; which words are marked is given anyway."""
    marked = {name: replace(value, label=None) for name, value in sentence.layers.items() if isinstance(value, Marked)}
    return replace(sentence, layers=marked)


@pytest.fixture(scope="module", params=[toy.corpus, toy.questions])
def halves(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, toy_encoder: Path
) -> tuple[Prepared, Prepared]:
    """Every second sentence lacks all layers; and the same data without these sentences."""
    whole = [request.param(seed, 24) for seed in (1, 2, 3)]
    names = ("train", "dev", "test")
    partial = {
        name: [_without(s) if number % 2 else s for number, s in enumerate(sentences)]
        for name, sentences in zip(names, whole, strict=True)
    }
    kept = {name: sentences[::2] for name, sentences in zip(names, whole, strict=True)}
    partial["test"] = [_without(s) for s in partial["test"]]
    folder = tmp_path_factory.mktemp("halves")
    written = [toy.write_prepared(folder / name, toy_encoder, data) for name, data in (("a", partial), ("b", kept))]  # type: ignore[arg-type]
    return Prepared.load(written[0]), Prepared.load(written[1])


@pytest.mark.parametrize("kind", kinds.names(TASKS))
def test_only_labelled_rows_train_predict_and_count(
    kind: str, halves: tuple[Prepared, Prepared], toy_encoder: Path, tmp_path: Path
) -> None:
    partial, kept = halves
    if LAYERS[kind] not in partial.layers:
        return  # it is tried on the other data
    said = {"type": kind, "layer": LAYERS[kind], **OPTIONS.get(kind, {})}
    options: Any = kinds.options_class(TASKS, kind).model_validate(said)
    sharing: Any = kinds.options_class(SHARING, "hard")(type="hard")
    assert partial.labels[options.layer] == kept.labels[options.layer]
    torch.manual_seed(3)
    model = build_model(Encoder.load(toy_encoder), sharing, {"x": options}, {"x": partial.labels[options.layer]})
    model.module.eval()
    (task,) = model.tasks
    rows = task.rows(partial.train)
    assert rows.tolist() == list(range(0, 24, 2))
    losses = []
    for data, chosen in ((partial, rows), (kept, torch.arange(12))):
        batch = collate(data.train, chosen, data.specials)
        losses.append(task.loss(model.states(batch, 0), batch, task.encode(data.train)))
    assert torch.equal(*losses)
    found, expected = (predict(model, data.dev, BatchLimits())["x"] for data in halves)
    assert found[::2] == expected
    assert all(prediction is None for prediction in found[1::2])
    ours, theirs = (count(task.metric, task, *one) for one in ((partial.dev, found), (kept.dev, expected)))
    assert ours.tolist() == theirs.tolist()
    # Nothing of the test data is labelled: all of it is predicted and written.
    unseen = predict(model, partial.test, BatchLimits())["x"]
    assert not any(prediction is None for prediction in unseen)
    for name, predictions in (("dev", found), ("test", unseen)):
        task.write_predictions(partial.split(name), predictions, tmp_path / name)
        assert (tmp_path / name).stat().st_size > 0
