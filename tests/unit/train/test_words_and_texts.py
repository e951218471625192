"""One update of words and raw texts together: sentences of a tagging task beside pairs of texts that have one label."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import pyarrow.parquet as pq
import pytest
import torch
from pydantic import TypeAdapter

from mtlspec.data.corpora import Corpora
from mtlspec.data.prepare import write_prepared
from mtlspec.data.prepared import Prepared
from mtlspec.data.sentence import Sentence
from mtlspec.data.text_tokenizer import TextTokenizer
from mtlspec.data.tokenizer import WordTokenizer
from mtlspec.io.digest import digest_file
from mtlspec.kinds import OneOf
from mtlspec.model.encoder.encoder import Encoder
from mtlspec.model.mixed import encode_parts
from mtlspec.model.multitask import build_model
from mtlspec.sharing.hard import Options as Hard
from mtlspec.spec.families import TASKS
from mtlspec.spec.models import RunOptions
from mtlspec.train import freezing
from mtlspec.train.determinism import make_deterministic
from mtlspec.train.loop import backward
from mtlspec.train.sampling import Part
from mtlspec.train.state import TrainState
from tests import toy
from tests.unit.train.test_loop import options

OWN: dict[str, dict[str, Any]] = {
    "pos": {"type": "tagging", "layer": "pos", "decoder": {"type": "linear"}, "data": "words", "dropout": 0.0},
    "topic": {"type": "classification", "layer": "topic", "data": "texts", "pooling": "mean", "dropout": 0.0},
    "size": {"type": "regression", "layer": "size", "data": "texts", "pooling": "last", "dropout": 0.0},
}
JOINT: dict[str, Any] = {"batching": "joint", "balance": {"type": "none"}, "batch": {"sentences": 6, "tokens": 300}}


def _pairs(sentences: Sequence[Sentence]) -> list[Sentence]:
    """The same sentences as raw texts; every third has no topic."""
    made = []
    for number, own in enumerate(sentences):
        layers = {name: own.layers[name] for name in (("topic", "size") if number % 3 else ("size",))}
        made.append(replace(own, words=(), texts=(" ".join(own.words), "the cat"), layers=layers))
    return made


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Without dropout, so that two passes see the same."""
    return toy.write_encoder(tmp_path_factory.mktemp("calm"), dropout=0.0)


@pytest.fixture(scope="module")
def corpora(encoder: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    root = tmp_path_factory.mktemp("corpora")
    splits = {split: toy.corpus(seed, size) for split, seed, size in (("train", 1, 90), ("dev", 2, 20), ("test", 3, 9))}
    words = toy.write_prepared(root / "words", encoder, splits)
    (root / "texts").mkdir()
    texts = {split: _pairs(sentences[:60]) for split, sentences in splits.items()}
    write_prepared(texts, WordTokenizer.load(encoder), root / "texts", texts=partial(TextTokenizer.load, encoder))
    return {"words": words, "texts": root / "texts"}


def _state(encoder: Path, corpora: dict[str, Path], **train: Any) -> TrainState:
    make_deterministic(1, RunOptions())
    tasks = TypeAdapter(dict[str, Annotated[Any, OneOf(TASKS)]]).validate_python(OWN)
    data = Corpora({name: Prepared.load(path) for name, path in corpora.items()})
    model = build_model(Encoder.load(encoder), Hard(type="hard"), tasks, data.labels(tasks))
    state = TrainState.fresh(model, data, options(**JOINT, **train), RunOptions(), seed=1)
    model.module.train()
    return state


def test_words_and_texts_of_one_update_are_read_as_if_they_were_alone(encoder: Path, corpora: dict[str, Path]) -> None:
    together, apart = _state(encoder, corpora), _state(encoder, corpora)
    readings = together.draw()
    assert [reading.task for reading in readings] == [0, 1, 2]
    assert readings[0].split is not readings[1].split and readings[1].split is readings[2].split
    passes: list[int] = []
    together.model.encoder.register_forward_hook(lambda _, inputs, __: passes.append(len(inputs[0].rows)))
    told = backward(together, readings, 1.0, nullcontext())
    assert passes == [len(readings[0].rows) + len(readings[2].rows)], "one pass, every text once"
    labels = sum(len(reading.rows) for reading in readings)
    own = [reading._replace(split=apart.supply.splits[reading.task]) for reading in apart.draw()]
    for number, reading in enumerate(own):
        assert torch.equal(reading.rows, readings[number].rows)
        (alone,) = backward(apart, [reading], len(reading.rows) / labels, nullcontext())
        assert told[number] == {**alone, "loss": pytest.approx(alone["loss"], abs=1e-5)}
    pairs = zip(together.model.module.named_parameters(), apart.model.module.parameters(), strict=True)
    moved = 0
    for (name, one), other in pairs:
        assert one.grad is not None and other.grad is not None, name
        torch.testing.assert_close(one.grad, other.grad, rtol=0, atol=1e-5, msg=name)
        moved += bool(one.grad.abs().sum() > 1e-3)
    assert moved > 10
    with torch.no_grad():
        parts = encode_parts(together.model, readings)
        for reading, (states, batch) in zip(readings, parts, strict=True):
            ((expected, single),) = encode_parts(together.model, [reading])
            assert torch.equal(batch.pieces, single.pieces)
            for found, wanted in (
                (states.words, expected.words),
                (states.cls, expected.cls),
                (states.sep, expected.sep),
            ):
                torch.testing.assert_close(found, wanted, rtol=0, atol=1e-5)


def test_kept_states_of_several_corpora_serve_updates_and_samplers(
    encoder: Path, corpora: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The frozen layer is not computed again, and what comes out is what it computes, in both modes."""
    kept = _state(encoder, corpora, freeze={"layers": 1})
    monkeypatch.setattr(freezing, "LIMIT", 0)
    computed = _state(encoder, corpora, freeze={"layers": 1})
    assert kept.kept.active and not computed.kept.active
    readings = kept.draw()
    told = [backward(kept, readings, 1.0, nullcontext()), backward(computed, computed.draw(), 1.0, nullcontext())]
    assert told[0] == [{**row, "loss": pytest.approx(row["loss"], abs=1e-5)} for row in told[1]]
    runs: list[int] = []
    for number, place in enumerate(kept.model.encoder.places.layers):
        query = place.module.get_submodule("attention.self.query")
        query.register_forward_hook(lambda *_, number=number: runs.append(number))
    candidates = [Part(reading.task, reading.rows) for reading in readings[:2]]
    scores = [torch.cat(state._judge(candidates)) for state in (kept, computed)]
    torch.testing.assert_close(*scores, rtol=0, atol=1e-6)
    assert runs and 0 not in runs


class _StoppedError(Exception):
    pass


def _stop(done: int, _total: int, _what: str) -> None:
    if done == 22:  # between two resume points
        raise _StoppedError


def test_words_and_texts_train_together_and_an_interrupted_run_ends_with_the_same_bits(
    toy_encoder: Path, corpora: dict[str, Path], tmp_path: Path
) -> None:
    params = toy.train_params((), dropout=0.0, epochs=8, patience=1.0, checkpoint_every=4, **JOINT) | {"tasks": OWN}
    whole = toy.run_train(tmp_path / "whole", toy_encoder, corpora, params)
    assert whole.facts["updates"] > 26
    history = pq.read_table(tmp_path / "whole/out/history.parquet").to_pydict()
    for task in OWN:
        losses = [loss for name, loss in zip(history["task"], history["loss"], strict=True) if name == task]
        assert sum(losses[-8:]) < 0.8 * sum(losses[:8]), task
    with pytest.raises(_StoppedError):
        toy.run_train(tmp_path / "again", toy_encoder, corpora, params, _stop)
    toy.run_train(tmp_path / "again", toy_encoder, corpora, params)
    for file in ("model.safetensors", "history.parquet", "epochs.json", "model.json"):
        assert digest_file(tmp_path / "again/out" / file) == digest_file(tmp_path / "whole/out" / file), file
