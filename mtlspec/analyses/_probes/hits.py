"""Hits of every label and head, and the file they are kept in."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from mtlspec.io.write import write_bytes, write_json

Labels = Literal["gold", "shuffled"]
HITS, ABOUT = "probe.parquet", "probe.json"


@dataclass
class Tally:
    """Of one subject, task, split and labelling: hits int64 [labels, heads], counts int64 [labels]."""

    task: str
    split: str
    labels: Labels
    names: tuple[str, ...]
    hits: Tensor
    counts: Tensor

    @classmethod
    def empty(cls, task: str, split: str, labels: Labels, names: tuple[str, ...], heads: int) -> Tally:
        hits = torch.zeros(len(names), heads, dtype=torch.int64)
        return cls(task, split, labels, names, hits, torch.zeros(len(names), dtype=torch.int64))

    def add(self, hit: Tensor, label: Tensor) -> None:
        """hit bool [r, heads], label int64 [r]. A matrix product of zeros and ones, exact in any order."""
        share = torch.nn.functional.one_hot(label, len(self.names)).to(torch.float32)
        self.hits += (share.T @ hit.to(torch.float32)).to(self.hits)
        self.counts += torch.bincount(label, minlength=len(self.names)).cpu()


def write_hits(
    out: Path, groups: Sequence[tuple[str, int, Iterable[Tally]]], heads: Sequence[int], about: Mapping[str, Any]
) -> None:
    """`probe.parquet`, one row a subject, task, label, layer, head, split and labelling; and `probe.json`.

    `groups` are (model, seed, tallies); `heads` are the numbers of heads of each layer.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    layer = np.repeat(np.arange(len(heads)), heads).astype(np.int16)
    head = np.concatenate([np.arange(count) for count in heads]).astype(np.int16)
    parts = []
    for model, seed, tallies in groups:
        for tally in tallies:
            labels, size = len(tally.names), len(layer)
            count = np.repeat(tally.counts.numpy(), size)
            hits = tally.hits.numpy().reshape(-1)
            parts.append(
                pa.table(
                    {
                        "model": _same(model, labels * size),
                        "seed": pa.array(np.full(labels * size, seed, np.int32)),
                        "task": _same(tally.task, labels * size),
                        "label": _repeated(tally.names, size),
                        "layer": np.tile(layer, labels),
                        "head": np.tile(head, labels),
                        "split": _same(tally.split, labels * size),
                        "labels": _same(tally.labels, labels * size),
                        "accuracy": 100.0 * hits / np.maximum(count, 1),
                        "count": count.astype(np.int32),
                    }
                )
            )
    buffer = io.BytesIO()
    pq.write_table(pa.concat_tables(parts).unify_dictionaries(), buffer)
    write_bytes(out / HITS, buffer.getvalue())
    write_json(out / ABOUT, {**about, "heads": list(heads)})


def _same(value: str, size: int) -> Any:
    return _repeated((value,), size)


def _repeated(values: Sequence[str], times: int) -> Any:
    """Each value `times` times, as a dictionary array: the strings are stored once."""
    import pyarrow as pa

    indices = np.repeat(np.arange(len(values), dtype=np.int32), times)
    return pa.DictionaryArray.from_arrays(pa.array(indices), pa.array(list(values), pa.string()))


@dataclass(frozen=True)
class Accuracies:
    """Of one subject and task: float64 [labels, layers, heads] in percent, NaN where there is no such head."""

    names: tuple[str, ...]
    counts: dict[str, npt.NDArray[np.int64]]  # split -> [labels]
    values: dict[tuple[str, str], npt.NDArray[np.float64]]  # (split, labelling) -> [labels, layers, heads]


def read_hits(directory: Path) -> dict[tuple[str, int, str], Accuracies]:
    """(model, seed, task) -> accuracies, of a file that `write_hits` wrote."""
    import pyarrow.parquet as pq

    table = pq.read_table(directory / HITS).unify_dictionaries()
    coded = {name: table[name].combine_chunks() for name in ("model", "task", "label", "split", "labels")}
    code = {name: column.indices.to_numpy() for name, column in coded.items()}
    text = {name: column.dictionary.to_pylist() for name, column in coded.items()}
    number = {name: table[name].to_numpy() for name in ("seed", "layer", "head", "accuracy", "count")}
    shape = (int(number["layer"].max()) + 1, int(number["head"].max()) + 1)
    keys = np.stack([code["model"], number["seed"], code["task"], code["split"], code["labels"]])
    changes = np.flatnonzero((keys[:, 1:] != keys[:, :-1]).any(axis=0)) + 1
    found: dict[tuple[str, int, str], Accuracies] = {}
    for first, last in pairwise([0, *changes.tolist(), keys.shape[1]]):
        model, task, split, labels = (text[name][code[name][first]] for name in ("model", "task", "split", "labels"))
        part = slice(first, last)
        known, place = np.unique(code["label"][part], return_inverse=True)
        values = np.full((len(known), *shape), np.nan)
        values[place, number["layer"][part], number["head"][part]] = number["accuracy"][part]
        counts = np.zeros(len(known), np.int64)
        counts[place] = number["count"][part]
        names = tuple(text["label"][index] for index in known)
        entry = found.setdefault((model, int(number["seed"][first]), task), Accuracies(names, {}, {}))
        entry.counts[split] = counts
        entry.values[split, labels] = values
    return found
