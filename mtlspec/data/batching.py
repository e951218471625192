"""Batches: sentences of similar length, in an order that is new in every pass and can be resumed anywhere."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from mtlspec.data.streams import pass_stream
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

    rows: Tensor  # int64 [B]: the sentences' numbers in their split
    pieces: Tensor  # int64 [B, S]: [CLS] ... [SEP], then padding
    piece_mask: Tensor  # bool [B, S]: True where there is no padding
    word_of_piece: Tensor  # int64 [B, S]: word number, -1 on specials and padding
    word_mask: Tensor  # bool [B, W]
    split: PreparedSplit | None = None  # of all rows; None where they come from several
    types: Tensor | None = None  # int64 [B, S]: token types, where some example has two segments
    tasks: Tensor | None = None  # int64 [B]: the task that each example is encoded for; None where it does not matter

    def to(self, device: torch.device | str) -> Batch:
        moved: dict[str, Any] = {name: value.to(device, non_blocking=True) for name, value in self._tensors()}
        return replace(self, **moved)

    def _tensors(self) -> list[tuple[str, Tensor]]:
        return [(name, value) for name, value in vars(self).items() if isinstance(value, Tensor)]

    def for_task(self, task: int) -> Batch:
        """The same examples, encoded for one task (an index)."""
        return replace(self, tasks=torch.full_like(self.rows, task))

    def select(self, index: Tensor, split: PreparedSplit | None = None) -> Batch:
        """The examples of index int64 [n], without the columns that only others fill; `split`: where they come from."""
        words = int(self.word_mask.index_select(0, index).sum(1).max())
        pieces = int(self.piece_mask.index_select(0, index).sum(1).max())
        widths = {"word_mask": words, "pieces": pieces, "piece_mask": pieces, "word_of_piece": pieces, "types": pieces}
        chosen: dict[str, Any] = {name: value.index_select(0, index) for name, value in self._tensors()}
        chosen |= {name: chosen[name][:, :width] for name, width in widths.items() if name in chosen}
        return replace(self, **chosen, split=split if split is not None else self.split)


def collate(split: PreparedSplit, rows: Tensor, specials: Specials) -> Batch:
    """rows int64 [B] -> Batch; no loop over sentences."""
    counts = split.piece_counts[rows].unsqueeze(1)  # [B, 1]
    place = torch.arange(int(counts.max()) + EXTRA).unsqueeze(0)  # [1, S]
    inner = (place >= 1) & (place <= counts)  # [B, S]: real sub-tokens
    source = (split.piece_offsets[rows].unsqueeze(1) + place - 1)[inner]
    pieces = torch.full(inner.shape, specials.pad, dtype=torch.int64)
    pieces[:, 0] = specials.cls
    pieces.scatter_(1, counts + 1, specials.sep)
    pieces[inner] = split.pieces[source].long()
    word_of_piece = torch.full(inner.shape, -1, dtype=torch.int64)
    word_of_piece[inner] = split.piece_words[source].long()
    words = split.word_counts[rows].unsqueeze(1)
    word_mask = torch.arange(int(words.max())).unsqueeze(0) < words
    return Batch(rows, pieces, place <= counts + 1, word_of_piece, word_mask, split)


class BatchCursor:
    """An endless stream of row batches over one split.

    `lengths` int64 [N] are sub-tokens without specials. In every pass, sentences within about an eighth of the same
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
