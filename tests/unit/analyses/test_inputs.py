"""Analyses of heads measure nothing on an encoder whose heads do not answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mtlspec.analyses import attended_value_probe, attention_probe, head_importance, pruning_table
from mtlspec.data.prepared import Prepared
from mtlspec.errors import EncoderError
from mtlspec.results.jobs import Measurement
from tests.model_rows import model_row
from tests.unit.analyses.gated_models import CLOSED, OPEN, write_model
from tests.unit.model.encoder.many import permute_heads

GATES = [[OPEN, OPEN, CLOSED, CLOSED], [CLOSED, OPEN, OPEN, CLOSED]]
PROBES: dict[Any, dict[str, Any]] = {attention_probe: {"dep": "dep"}, attended_value_probe: {"pos": "pos"}}
ANALYSES = {pruning_table: {"rounds": 1, "sentences": 2}, head_importance: {"sentences": 2}, **PROBES}


def _measure(module: Any, job: Measurement) -> None:
    kind = module.__name__.rpartition(".")[2]
    module.Options.model_validate({"type": kind, **ANALYSES[module]}).measure(job)


@pytest.mark.parametrize("module", ANALYSES)
def test_a_model_is_measured_only_if_its_heads_answer(
    module: Any, toy_encoder: Path, toy_prepared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    train = write_model(tmp_path / "train", toy_encoder, Prepared.load(toy_prepared), ["pos"], 1, GATES)
    out = tmp_path / "out"
    out.mkdir()
    job = Measurement(model_row("dp", ["pos"], 1), {"train": train, "prepare-toy": toy_prepared}, out)
    with monkeypatch.context() as broken:
        permute_heads(broken)
        with pytest.raises(EncoderError, match=r"E355.*heads of this 'bert' encoder do not answer"):
            _measure(module, job)
        assert not list(out.iterdir())
    _measure(module, job)
    assert list(out.iterdir())


@pytest.mark.parametrize("module", PROBES)
def test_so_is_the_pretrained_encoder(
    module: Any, toy_encoder: Path, toy_prepared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    permute_heads(monkeypatch)
    with pytest.raises(EncoderError, match="E355"):
        _measure(module, Measurement(None, {"encoder": toy_encoder, "prepare-toy": toy_prepared}, tmp_path))
    assert not list(tmp_path.iterdir())
