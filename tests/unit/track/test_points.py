"""Curves for MLflow are short, and say what the whole history says."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from mtlspec.track.points import CURVE, history_points


def _points(directory: Path, updates: int) -> dict[str, dict[int, float]]:
    """Of two tasks in turn: the loss of `b` is twice that of `a`, one of them is missing."""
    number = np.arange(1, updates + 1)
    loss = np.where(number % 2, 1.0, 2.0) * number
    columns = {
        "update": number, "epoch": np.ones(updates), "task": ["a" if one % 2 else "b" for one in number],
        "loss": [None if one == 3 else value for one, value in zip(number, loss.tolist(), strict=True)],
        "lr_encoder": 1e-3 / number,
    }  # fmt: skip
    pq.write_table(pa.table(columns), directory / "history.parquet")
    found: dict[str, dict[int, float]] = {}
    for name, value, update in history_points(directory):
        assert update not in found.setdefault(name, {})
        found[name][update] = value
    return found


def test_a_short_history_is_sent_as_it_is(tmp_path: Path) -> None:
    found = _points(tmp_path, 100)
    assert found["lr/encoder"] == pytest.approx({update: 1e-3 / update for update in range(1, 101)})
    assert list(found["loss/a"]) == [1, *range(5, 100, 2)]
    assert found["loss/b"][10] == 20


@pytest.mark.parametrize("updates", [101, 376, 1880, 99_999])
def test_a_long_one_as_means_of_neighbours(tmp_path: Path, updates: int) -> None:
    found = _points(tmp_path, updates)
    window = -(-updates // CURVE)
    for curve in found.values():
        assert len(curve) <= CURVE
    assert max(found["lr/encoder"]) == updates
    first = [update for update in range(1, window + 1) if update % 2 and update != 3]
    assert found["loss/a"][window] == pytest.approx(sum(first) / len(first))
