"""History: one row for every task's part of every update, kept in plain number columns."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import torch
from torch import Tensor

if TYPE_CHECKING:
    from mtlspec.train.numbers import Number

INTEGERS = ("update", "epoch", "task", "examples")
FIXED = (*INTEGERS, "loss", "weight", "lr_encoder", "lr_decoder", "grad_norm")


class History:
    """Columns of 64-bit floats (exact for counts up to 2^53); `logs` are the columns of the sharing strategy."""

    def __init__(self, logs: Sequence[str] = ()) -> None:
        self._columns = {name: array("d") for name in (*FIXED, *logs)}
        self._waiting: list[Mapping[str, Number]] = []

    def __len__(self) -> int:
        return len(self._columns["update"])

    def add(self, row: Mapping[str, Number]) -> None:
        """A row with numbers that are still on a device waits for `settle`, and so do those behind it."""
        if self._waiting or any(isinstance(value, Tensor) for value in row.values()):
            self._waiting.append(row)
        else:
            self._append(row)

    @property
    def waiting(self) -> int:
        """How many rows wait for `settle`."""
        return len(self._waiting)

    def settle(self) -> list[dict[str, float]]:
        """Read all numbers that are on a device, at once; returns the rows that were waiting."""
        away = [value for row in self._waiting for value in row.values() if isinstance(value, Tensor)]
        read = iter(torch.stack(away).tolist() if away else ())
        rows = [
            {name: next(read) if isinstance(value, Tensor) else value for name, value in row.items()}
            for row in self._waiting
        ]
        self._waiting = []
        for row in rows:
            self._append(row)
        return rows

    def _append(self, row: Mapping[str, Any]) -> None:
        for name, column in self._columns.items():
            column.append(row[name])

    def seen(self, tasks: int) -> list[tuple[int, int]]:
        """In how many updates each of so many tasks took part, and how many examples it read in them."""
        read, took_part = [0] * tasks, [set[float]() for _ in range(tasks)]
        columns = (self._columns[name] for name in ("task", "update", "examples"))
        for task, update, examples in zip(*columns, strict=True):
            read[int(task)] += int(examples)
            took_part[int(task)].add(update)  # once, even if the update has several batches of the task
        return list(zip(map(len, took_part), read, strict=True))

    def tensors(self) -> dict[str, Tensor]:
        """Column -> float64 [rows], for resume points."""
        return {name: torch.tensor(column, dtype=torch.float64) for name, column in self._columns.items()}

    def load(self, tensors: Mapping[str, Tensor]) -> None:
        self._columns = {name: array("d", tensors[name].tolist()) for name in self._columns}

    def write(self, path: Path, tasks: Sequence[str]) -> None:
        """As Parquet, with task names instead of indices; `path` lies in a staged directory."""
        columns: dict[str, Any] = {}
        for name, column in self._columns.items():
            if name == "task":
                indices = pa.array([int(value) for value in column], pa.int32())
                columns[name] = pa.DictionaryArray.from_arrays(indices, pa.array(tasks, pa.string())).cast(pa.string())
            elif name in INTEGERS:
                columns[name] = pa.array([int(value) for value in column], pa.int32())
            else:
                columns[name] = pa.array(column, pa.float64())
        pq.write_table(pa.table(columns), path)
