"""Prepared data: sentences read, checked and tokenised once, opened from Arrow as tensors once per process."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import torch
from torch import Tensor

from mtlspec.data.batching import EXTRA, Specials
from mtlspec.data.layer import Kind
from mtlspec.data.layer_kinds import layer_kind
from mtlspec.errors import DataError
from mtlspec.spec.families import LayerKind, Layout


class PreparedSplit:
    """One split: N sentences, their sub-tokens as flat tensors with offsets, their layers as Arrow columns."""

    def __init__(self, table: pa.Table, layers: Mapping[str, LayerKind], layout: Layout = "tsv") -> None:
        self._table = table
        self.layers = dict(layers)
        self.layout: Layout = layout  # of predictions of labels and numbers
        self.pieces, self.piece_offsets = _flat(table["pieces"])  # int32 [total], int64 [N + 1]
        self.word_pieces, self.word_offsets = _flat(table["word_pieces"])  # int32 [total words], int64 [N + 1]
        self.piece_counts = self.piece_offsets.diff()  # int64 [N]
        self.word_counts = self.word_offsets.diff()  # int64 [N]
        self.raw = "segments" in table.column_names  # raw texts, stored with the specials of their encoder, no words
        self.edge = 0 if self.raw else 1  # specials that a batch adds on each side
        types = _flat(table["types"])[0] if self.raw else torch.zeros(0)
        self.types = types if bool(types.any()) else None  # int32 [total]: token types, where there are two segments

    @classmethod
    def load(cls, directory: Path, split: str) -> PreparedSplit:
        """`split` is train, dev, test, or a further one of the card."""
        path = directory / f"{split}.arrow"
        if not path.is_file():
            raise DataError("E270", "the prepared split is missing", path, "run the `prepare` stage again")
        with pa.memory_map(str(path)) as source:
            table = pa.ipc.open_stream(source).read_all()
        about = _about(directory)
        return cls(table, about["layers"], about.get("layout", "tsv"))

    def __len__(self) -> int:
        return int(self._table.num_rows)

    def taken(self, rows: Tensor) -> PreparedSplit:
        """Some of the examples, int64 [n], in this order."""
        return PreparedSplit(self._table.take(pa.array(rows.numpy())), self.layers, self.layout)

    @cached_property
    def piece_words(self) -> Tensor:
        """int32 [total]: number of the word, within its sentence, that each sub-token belongs to.

        Of raw text: number of the segment, -1 on specials.
        """
        if self.raw:
            return _flat(self._table["segments"])[0]
        words = torch.arange(len(self.word_pieces)) - torch.repeat_interleave(self.word_offsets[:-1], self.word_counts)
        return torch.repeat_interleave(words.int(), self.word_pieces)

    @cached_property
    def characters(self) -> tuple[Tensor, Tensor]:
        """int32 [total] each: the first character that each sub-token of raw text stands for in its own text, and
        behind the last; only where a layer points into texts."""
        return self.flat("starts")[0], self.flat("ends")[0]

    @cached_property
    def repeated(self) -> Tensor | None:
        """int64 [N]: how many sub-tokens at the start of a long example belong to every window that it is read in.

        Of a pair of which nothing may be cut, those before the second text; None where no layer asks for that.
        """
        if not self.raw or not any(layer_kind(kind).whole_text for kind in self.layers.values()):
            return None
        second = torch.nonzero(self.piece_words == 1).squeeze(1)
        rows = torch.searchsorted(self.piece_offsets, second, right=True) - 1
        found = torch.zeros(len(self), dtype=torch.int64)
        starts = torch.ones(len(rows), dtype=torch.bool)
        starts[1:] = rows[1:] != rows[:-1]
        found[rows[starts]] = second[starts] - self.piece_offsets[rows[starts]]
        return found

    @cached_property
    def lengths(self) -> Tensor:
        """int64 [N]: sub-tokens beside two specials, which batches count for every example."""
        return (self.piece_counts - EXTRA).clamp(min=0) if self.raw else self.piece_counts

    def texts(self, row: int) -> list[str]:
        """The segments of an example of raw text."""
        texts: list[str] = self.column("texts")[row].as_py()
        return texts

    def all_texts(self) -> list[list[str]]:
        """The segments of every example; of words, one segment with blanks between them."""
        texts: list[list[str]] = self.column("texts" if self.raw else "words").to_pylist()
        return texts if self.raw else [[" ".join(words)] for words in texts]

    def ids(self) -> list[str]:
        """The name of every example in its corpus, or its number there."""
        ids: list[str] = self.column("id").to_pylist()
        return ids

    def words(self, row: int) -> list[str]:
        words: list[str] = self._table["words"][row].as_py()
        return words

    def column(self, name: str) -> pa.ChunkedArray:
        """An Arrow column, such as `xpos` or `dep.heads`."""
        if name not in self._table.column_names:
            raise DataError(
                "E271", f"the prepared data have no column '{name}'", hint=f"known: {', '.join(self.layers)}"
            )
        return self._table[name]

    def _kind(self, layer: str) -> Kind[Any]:
        if layer not in self.layers:
            hint = f"known: {', '.join(self.layers)}"
            raise DataError("E241", f"the prepared data have no layer '{layer}'", hint=hint)
        return layer_kind(self.layers[layer])

    def has_tags(self, layer: str) -> bool:
        """Whether there is a layer of this name that has one label a word."""
        return layer in self.layers and self._kind(layer).per_word

    def strings(self, column: str) -> list[list[str | None]]:
        """A column of string lists, such as a tag layer: None for a missing string, no strings for a missing list."""
        lists: list[list[str | None] | None] = self.column(column).to_pylist()
        return [texts if texts is not None else [] for texts in lists]

    def codes(self, column: str, labels: Sequence[str]) -> Tensor:
        """The strings of a column as places in `labels`, -1 for all others and for missing ones: int64 [total].

        Lists of strings are read end to end, missing lists are empty (`offsets` says where each begins). Each distinct
        string is looked up once, through Arrow's dictionary encoding.
        """
        strings = self.column(column).combine_chunks()
        encoded = (strings.flatten() if pa.types.is_list(strings.type) else strings).dictionary_encode()
        place = {label: number for number, label in enumerate(labels)}
        known = np.array([*(place.get(label, -1) for label in encoded.dictionary.to_pylist()), -1], np.int64)
        indices = encoded.indices.fill_null(len(encoded.dictionary))
        return torch.from_numpy(known[indices.to_numpy(zero_copy_only=False).astype(np.int64)])

    def numbers(self, layer: str) -> Tensor:
        """A column of numbers: float64 [N], not a number where it is missing."""
        return torch.from_numpy(self.column(layer).combine_chunks().to_numpy(zero_copy_only=False).astype(np.float64))

    def labelled(self, layer: str) -> Tensor:
        """int64 [n], ascending: the examples that carry a layer."""
        suffix = next(iter(self._kind(layer).columns()))
        there = self.column(layer + suffix).is_valid().to_numpy()
        return torch.from_numpy(np.flatnonzero(there))

    def flat(self, column: str) -> tuple[Tensor, Tensor]:
        """A column of integer lists as values int32 [total] and offsets int64 [N + 1]; missing lists are empty."""
        return _flat(self.column(column))

    def offsets(self, column: str) -> Tensor:
        """Where each list of a column begins when they are read end to end: int64 [N + 1]; missing lists are empty."""
        return _offsets(self.column(column))

    def values(self, layer: str) -> list[Any]:
        """A layer as the objects that readers and metrics know, one an example: None where it is missing."""
        kind = self._kind(layer)
        columns = [self.column(layer + suffix).to_pylist() for suffix in kind.columns()]
        return [kind.value(cells) if cells[0] is not None else None for cells in zip(*columns, strict=True)]


@dataclass(frozen=True)
class Prepared:
    """A prepared directory."""

    splits: Mapping[str, PreparedSplit]  # train, dev, test, and further ones for evaluation
    labels: Mapping[str, Mapping[str, int]]  # layer -> label -> count in train
    unseen: Mapping[str, Sequence[str]]  # layer -> labels that only dev or test have
    specials: Specials
    layers: Mapping[str, LayerKind]

    @classmethod
    def load(cls, directory: Path) -> Prepared:
        about = _about(directory)
        labels = json.loads((directory / "labels.json").read_bytes())
        return cls(
            splits={name: PreparedSplit.load(directory, name) for name in about["sizes"]},
            labels=labels["train"],
            unseen=labels["unseen"],
            specials=Specials(**about["specials"]),
            layers=about["layers"],
        )

    @property
    def train(self) -> PreparedSplit:
        return self.split("train")

    @property
    def dev(self) -> PreparedSplit:
        return self.split("dev")

    @property
    def test(self) -> PreparedSplit:
        return self.split("test")

    def split(self, name: str) -> PreparedSplit:
        if name not in self.splits:
            hint = f"known: {', '.join(self.splits)}"
            raise DataError("E258", f"the prepared data have no split '{name}'", hint=hint)
        return self.splits[name]


def _about(directory: Path) -> dict[str, Any]:
    path = directory / "prepared.json"
    if not path.is_file():
        raise DataError("E272", "this is not a directory of prepared data", directory, "it has no prepared.json")
    about: dict[str, Any] = json.loads(path.read_bytes())
    return about


def _flat(column: pa.ChunkedArray) -> tuple[Tensor, Tensor]:
    """list<int32> column -> values int32 [total] and offsets int64 [N + 1], by whole-array operations."""
    values = [chunk.flatten().to_numpy(zero_copy_only=False) for chunk in column.chunks]
    flat = np.concatenate([np.zeros(0, np.int32), *values]).astype(np.int32)
    return torch.from_numpy(flat), _offsets(column)


def _offsets(column: pa.ChunkedArray) -> Tensor:
    lengths = [chunk.value_lengths().fill_null(0).to_numpy(zero_copy_only=False) for chunk in column.chunks]
    return torch.from_numpy(np.cumsum(np.concatenate([np.zeros(1, np.int64), *lengths]).astype(np.int64)))
