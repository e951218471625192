"""One meaning of "kept": of the heads that are there, those with an open gate."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch

from mtlspec.io.write import write_json
from mtlspec.kinds import options_class
from mtlspec.model.encoder.encoder import Encoder
from mtlspec.results.kept import kept_by_layer, kept_heads, kept_share, recorded_share
from mtlspec.spec.families import SHARING

GATES = np.array([[1.0, 0.3, 0.0, 0.0], [0.5, 0.0, 0.0, 0.0]])


def test_a_gate_above_zero_keeps_its_head() -> None:
    assert kept_heads(GATES).tolist() == [[True, True, False, False], [True, False, False, False]]
    assert kept_share(GATES, (4, 4)) == 3 / 8
    assert kept_by_layer(GATES, (4, 4)) == [0.5, 0.25]


def test_places_that_are_no_heads_do_not_count() -> None:
    assert kept_share(GATES, (4, 1)) == 3 / 5
    assert kept_by_layer(GATES, (4, 1)) == [0.5, 1.0]
    assert kept_by_layer(np.zeros((2, 4)), (4, 0)) == [0.0, 0.0]


def test_training_records_the_same_share(toy_encoder: Path) -> None:
    encoder = Encoder.load(toy_encoder)
    gone = torch.ones(encoder.heads.shape)
    gone[0, 1:] = 0
    encoder.heads.remove(gone)
    strategy = options_class(SHARING, "l0").model_validate({"type": "l0"}).build(encoder, ["pos"])  # type: ignore[attr-defined]
    with torch.no_grad():
        strategy.module["gates"].copy_(torch.linspace(-5, 5, strategy.module["gates"].numel()).reshape(gone.shape))
    gates = strategy.head_gates("gate").double().numpy()
    assert len(set(encoder.heads.counts)) > 1
    assert strategy.logs()["gates_kept"] == pytest.approx(kept_share(gates, encoder.heads.counts))


def _history(directory: Path, **columns: list[float]) -> Path:
    epochs = [{"epoch": n, "scores": {}, "mean": 1.0, "best": best} for n, best in ((1, True), (2, True), (3, False))]
    write_json(directory / "epochs.json", epochs)
    pq.write_table(
        pa.table({"task": ["pos"] * 6, "epoch": [1, 1, 2, 2, 3, 3], **columns}), directory / "history.parquet"
    )
    return directory


def test_the_recorded_share_is_that_of_the_weights_that_were_kept(tmp_path: Path) -> None:
    assert recorded_share(_history(tmp_path, gates_kept=[1.0, 0.9, 0.8, 0.7, 0.6, 0.5])) == 0.7
    assert recorded_share(_history(tmp_path)) is None
