"""A gated model becomes a plain, smaller one that says the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

import mtlspec
from mtlspec.data.batching import collate
from mtlspec.data.prepared import Prepared
from mtlspec.errors import EncoderError
from mtlspec.model.predict import predict
from mtlspec.spec.models import BatchLimits
from tests.unit.analyses.gated_models import CLOSED, OPEN, write_model

GATES = [[OPEN, 0.5, CLOSED, CLOSED], [CLOSED] * 4]


def _model(path: Path, encoder: Path, data: Prepared, gates: Any = None) -> Any:
    return mtlspec.load(write_model(path, encoder, data, ["pos", "ner"], 1, gates))


def test_a_gated_model_is_pruned_saved_and_loaded(toy_encoder: Path, toy_prepared: Path, tmp_path: Path) -> None:
    data = Prepared.load(toy_prepared)
    gated = _model(tmp_path / "gated", toy_encoder, data, GATES)
    expected = predict(gated, data.test, BatchLimits())
    small, report = mtlspec.prune(gated)
    assert (report.heads_before, report.heads_after, report.kept) == (8, 2, ((0, 1), ()))
    assert report.max_difference < 1e-5
    small.save(tmp_path / "small", tokenizer=toy_encoder)
    again: Any = mtlspec.load(tmp_path / "small")
    assert again.encoder.heads.counts == (2, 0)
    assert again.sharing.head_gates() is None
    assert predict(small, data.test, BatchLimits()) == expected
    assert predict(again, data.test, BatchLimits()) == expected
    assert predict(gated, data.test, BatchLimits()) == expected, "the gated model is left as it was"
    assert gated.encoder.heads.counts == (4, 4)


def test_a_plain_model_is_pruned_by_the_gates_that_are_given(
    toy_encoder: Path, toy_prepared: Path, tmp_path: Path
) -> None:
    data = Prepared.load(toy_prepared)
    plain = _model(tmp_path / "plain", toy_encoder, data)
    with pytest.raises(EncoderError, match=r"E377.*learnt no gates"):
        mtlspec.prune(plain)
    gates = torch.tensor([[1.0, 0.5, 0, 0], [0, 0, 0, 0]])
    batch = collate(data.test, torch.arange(5), data.specials)
    small, _ = mtlspec.prune(plain, gates, batch)
    with plain.encoder.heads.gated(gates), torch.no_grad():
        expected = plain.states(batch, 0).words
    with torch.no_grad():
        assert torch.allclose(small.states(batch, 0).words, expected, atol=1e-5)
        assert not torch.allclose(plain.states(batch, 0).words, expected, atol=1e-3)


def test_heads_are_not_removed_under_learnt_gates(toy_encoder: Path, toy_prepared: Path, tmp_path: Path) -> None:
    data = Prepared.load(toy_prepared)
    gated = _model(tmp_path / "gated", toy_encoder, data, GATES)
    gated.encoder.heads.remove(gated.sharing.head_gates())
    with pytest.raises(EncoderError, match=r"E376.*mtlspec.prune"):
        predict(gated, data.test, BatchLimits())
