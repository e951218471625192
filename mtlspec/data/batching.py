"""Batches: sentences of similar length, in an order that is new in every pass and can be resumed anywhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from mtlspec.data.streams import pass_stream
from mtlspec.data.transfer import to_device
from mtlspec.errors import DataError

if TYPE_CHECKING:
    from mtlspec.data.prepared import PreparedSplit

EXTRA = 2  # [CLS] and [SEP]
Ints = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True)
class Specials:
    """Ids of an encoder's special sub-tokens."""

    cls: int
    sep: int
    pad: int
    mask: int
    unk: int


@dataclass(frozen=True)
class Batch:
    """Padded sentences. B sentences, S sub-tokens with specials, W words."""

    rows: Tensor  # int64 [B]: the sentences' numbers in their split; always on the CPU, as the split is
    pieces: Tensor  # int64 [B, S]: [CLS] ... [SEP], then padding
    piece_mask: Tensor  # bool [B, S]: True where there is no padding
    word_of_piece: Tensor  # int64 [B, S]: word number, -1 on specials and padding
    word_mask: Tensor  # bool [B, W]
    split: PreparedSplit | None = None  # of all rows; None where they come from several
    types: Tensor | None = None  # int64 [B, S]: token types, where some example has two segments
    tasks: Tensor | None = None  # int64 [B]: the task that each example is encoded for; None where it does not matter
    first_only: bool = False  # True: nobody will read more of an example's states than its first sub-token's
    repeated: Tensor | None = None  # int64 [B]: sub-tokens at its start that every window of a long example begins with
    several: tuple[
        tuple[PreparedSplit, int], ...
    ] = ()  # where rows come from several splits: how many of which, in turn

    def to(self, device: torch.device | str) -> Batch:
        """On another device, all but `rows`; a GPU need not have finished anything."""
        moved: dict[str, Any] = {name: to_device(value, device) for name, value in self._tensors() if name != "rows"}
        return replace(self, **moved)

    @property
    def words_there(self) -> Tensor:
        """`word_mask` on the CPU; a GPU is asked only where no split tells."""
        if self.split is None or self.word_mask.device.type == "cpu":
            return self.word_mask.cpu()
        return torch.arange(self.word_mask.shape[1]) < self.split.word_counts[self.rows].unsqueeze(1)

    def sources(self) -> list[PreparedSplit]:
        """The split of every row; none where it is not known."""
        parts = self.several or (() if self.split is None else ((self.split, len(self.rows)),))
        return [split for split, count in parts for _ in range(count)]

    def _tensors(self) -> list[tuple[str, Tensor]]:
        return [(name, value) for name, value in vars(self).items() if isinstance(value, Tensor)]

    def for_task(self, task: int) -> Batch:
        """The same examples, encoded for one task (an index)."""
        return replace(self, tasks=self.pieces.new_full((len(self.rows),), task))

    def select(self, index: Tensor, split: PreparedSplit | None = None) -> Batch:
        """The examples of index int64 [n], without the columns that only others fill; `split`: where they come from.

        The index is on the CPU, and no device is asked for anything.
        """
        split = split if split is not None else self.split
        if split is None:
            raise ValueError("a part of a batch needs to know where its examples come from")
        rows = self.rows[index]
        words, pieces = int(split.word_counts[rows].max()), int(split.piece_counts[rows].max()) + 2 * split.edge
        widths = {"word_mask": words, "pieces": pieces, "piece_mask": pieces, "word_of_piece": pieces, "types": pieces}
        there = to_device(index, self.pieces.device)
        others = ((name, value) for name, value in self._tensors() if name != "rows")
        chosen: dict[str, Any] = {name: value.index_select(0, there) for name, value in others}
        chosen |= {name: chosen[name][:, :width] for name, width in widths.items() if name in chosen}
        return replace(self, **chosen, rows=rows, split=split, several=())


def collate(split: PreparedSplit, rows: Tensor, specials: Specials) -> Batch:
    """rows int64 [B] -> Batch; no loop over sentences."""
    return collate_parts([(split, rows)], specials)


def collate_parts(parts: Sequence[tuple[PreparedSplit, Tensor]], specials: Specials) -> Batch:
    """Examples of several splits, rows int64 [n] each, in one Batch with one padding; words and raw texts may mix.

    Sentences of words get [CLS] and [SEP] here; raw texts have the specials of their encoder already.
    """
    width = max(int(split.piece_counts[rows].max()) + 2 * split.edge for split, rows in parts)
    words = max(int(split.word_counts[rows].max()) for split, rows in parts)
    filled = [_filled(split, rows, specials, width, words) for split, rows in parts]
    pieces, piece_mask, word_of_piece, word_mask = map(_joined, zip(*filled, strict=True))
    types = None
    if any(split.types is not None for split, _ in parts):
        types = _joined([_types(split, rows, width) for split, rows in parts])
    mixed = any(split is not parts[0][0] for split, _ in parts)
    split = None if mixed else parts[0][0]
    several = tuple((own, len(rows)) for own, rows in parts) if mixed else ()
    repeated = None
    if any(split.repeated is not None for split, _ in parts):
        repeated = _joined([_repeated(split, rows) for split, rows in parts])
    rows = _joined([rows for _, rows in parts])
    return Batch(rows, pieces, piece_mask, word_of_piece, word_mask, split, types, repeated=repeated, several=several)


def _joined(parts: Sequence[Tensor]) -> Tensor:
    return torch.cat(list(parts)) if len(parts) > 1 else parts[0]


def _filled(
    split: PreparedSplit, rows: Tensor, specials: Specials, width: int, words: int
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """pieces, piece_mask and word_of_piece [n, width] and word_mask [n, words] of examples of one split."""
    counts = split.piece_counts[rows].unsqueeze(1)  # [n, 1]
    inner, source = _places(split, rows, width)
    pieces = torch.full(inner.shape, specials.pad, dtype=torch.int64)
    if split.edge:
        pieces[:, 0] = specials.cls
        pieces.scatter_(1, counts + 1, specials.sep)
    pieces[inner] = split.pieces[source].long()
    word_of_piece = torch.full(inner.shape, -1, dtype=torch.int64)
    word_of_piece[inner] = split.piece_words[source].long()
    piece_mask = torch.arange(width).unsqueeze(0) < counts + 2 * split.edge
    word_mask = torch.arange(words).unsqueeze(0) < split.word_counts[rows].unsqueeze(1)
    return pieces, piece_mask, word_of_piece, word_mask


def _places(split: PreparedSplit, rows: Tensor, width: int) -> tuple[Tensor, Tensor]:
    """Where stored sub-tokens go, bool [n, width], and where in the split they stand, int64 [their number]."""
    place = torch.arange(width).unsqueeze(0) - split.edge  # [1, width]
    inner = (place >= 0) & (place < split.piece_counts[rows].unsqueeze(1))
    return inner, (split.piece_offsets[rows].unsqueeze(1) + place)[inner]


def _types(split: PreparedSplit, rows: Tensor, width: int) -> Tensor:
    """Token types int64 [n, width], 0 where there is nothing else."""
    types = torch.zeros(len(rows), width, dtype=torch.int64)
    if split.types is not None:
        inner, source = _places(split, rows, width)
        types[inner] = split.types[source].long()
    return types


def _repeated(split: PreparedSplit, rows: Tensor) -> Tensor:
    """int64 [n], 0 where a window repeats nothing but specials."""
    return split.repeated[rows] if split.repeated is not None else torch.zeros_like(rows)


class BatchCursor:
    """An endless stream of row batches over one split.

    `lengths` int64 [N] are sub-tokens beside two specials. In every pass, sentences within about an eighth of the same
    length are shuffled among each other and cut where a limit is reached; then the batches are shuffled. The cuts never
    change, so the number of batches is known beforehand. `tokens` limits padded sub-tokens including specials; a
    sentence that alone exceeds it is a batch of one.
    """

    def __init__(self, lengths: Tensor, sentences: int, tokens: int, seed: int, name: str) -> None:
        if not len(lengths):
            raise DataError("E274", f"there are no sentences to take batches from ('{name}')")
        sizes = lengths.numpy().astype(np.int64)
        self._groups = _similar(sizes)
        longest = np.zeros(int(self._groups.max()) + 1, dtype=np.int64)
        np.maximum.at(longest, self._groups, sizes)
        costs = np.sort(longest[self._groups]) + EXTRA
        self._cuts = _cuts(costs, sentences, tokens)
        self._seed, self._name = seed, name
        self.batches_per_pass = len(self._cuts) - 1
        self.load_state({"pass": 0, "batch": 0})

    def next(self) -> Tensor:
        """Rows int64 [B] of the next batch."""
        if self._batch == self.batches_per_pass:
            self.load_state({"pass": self._pass + 1, "batch": 0})
        number = self._order[self._batch]
        self._batch += 1
        return torch.from_numpy(self._rows[self._cuts[number] : self._cuts[number + 1]].copy())

    def state(self) -> dict[str, int]:
        return {"pass": self._pass, "batch": self._batch}

    def load_state(self, state: dict[str, int]) -> None:
        """Continue exactly where `state()` was taken."""
        self._pass, self._batch = state["pass"], state["batch"]
        raw = pass_stream(self._seed, self._name, self._pass).random_raw(len(self._groups) + self.batches_per_pass)
        rows, batches = raw[: len(self._groups)], raw[len(self._groups) :]
        self._rows: Ints = np.lexsort((rows, self._groups))
        self._order: Ints = np.argsort(batches, kind="stable")


def sequential(lengths: Tensor, sentences: int, tokens: int) -> list[Tensor]:
    """Every row once, shortest first, in batches within the limits: the order of evaluation."""
    sizes = lengths.numpy().astype(np.int64)
    rows = np.argsort(sizes, kind="stable")
    cuts = _cuts(sizes[rows] + EXTRA, sentences, tokens)
    return [torch.from_numpy(part) for part in np.split(rows, cuts[1:-1])] if len(rows) else []


def _similar(lengths: Ints) -> Ints:
    """Group number of each length; groups are ranges about an eighth wide, in ascending order."""
    edges = [0]
    top = int(lengths.max(initial=0))
    while edges[-1] <= top:
        edges.append(edges[-1] + max(1, edges[-1] // 8))
    numbers = np.searchsorted(np.array(edges), lengths, side="right")
    return np.unique(numbers, return_inverse=True)[1].astype(np.int64)


def _cuts(costs: Ints, sentences: int, tokens: int) -> Ints:
    """Batch borders [batches + 1] over ascending costs: as many sentences as both limits allow, at least one."""
    cuts = [0]
    while cuts[-1] < len(costs):
        window = costs[cuts[-1] : cuts[-1] + sentences]
        fitting = int(np.count_nonzero(window * np.arange(1, len(window) + 1) <= tokens))
        cuts.append(cuts[-1] + max(1, fitting))
    return np.array(cuts, dtype=np.int64)
