"""Labels of binarised trees: unary chains as one label each, and labels of the parts that binarising adds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from mtlspec.data.layers.con import CHAIN
from mtlspec.data.prepared import PreparedSplit
from mtlspec.errors import DataError, Place, StageError
from mtlspec.metrics.brackets import ROOTS
from mtlspec.structs.binarise import NotATreeError, left_binarised

UNKNOWN = -100  # a label that training never saw; no loss


class TreeGold(NamedTuple):
    """Binarised trees of a split end to end: spans int64 [total, 2], labels int64 [total] (UNKNOWN: never seen).

    A sentence of n words has 2n - 1 of them, so offsets int64 [N + 1] follow from lengths int64 [N].
    """

    spans: Tensor
    labels: Tensor
    offsets: Tensor
    lengths: Tensor


class PhraseLabels:
    """The classes of a span: first the chains of the training trees without their root, then the added parts.

    Parts are told apart by the phrase that they are part of, as binarised grammars do. `written[c]` are the labels that
    class c stands for, upper one first; none for a part. `root` is the node above all sentences, if there is one.
    """

    def __init__(self, counts: Mapping[str, int]) -> None:
        if not counts:
            raise StageError("E440", "the training trees have no phrases to learn")
        chains, parents, roots = set(), set(), Counter[str]()
        for joined, count in counts.items():
            root, chain = _without_root(joined.split(CHAIN))
            roots.update({root: count} if root else {})
            parents.add(chain[-1] if chain else root)
            if chain:
                chains.add(chain)
        self.root: str | None = min(roots, key=lambda name: (-roots[name], name)) if roots else None
        parents.add(self.root or "")
        ordered = sorted(chains)
        self.chains = len(ordered)
        self._own = {chain: number for number, chain in enumerate(ordered)}
        self._parts = {parent: self.chains + number for number, parent in enumerate(sorted(parents))}
        self.written: list[tuple[str, ...]] = [*ordered, *([()] * len(self._parts))]

    def __len__(self) -> int:
        return len(self.written)

    def encode(self, split: PreparedSplit, layer: str) -> TreeGold:
        """Every distinct chain is looked up once; binarising is a loop over sentences."""
        starts, offsets = split.flat(f"{layer}.start")
        ends, _ = split.flat(f"{layer}.end")
        encoded = split.column(f"{layer}.label").combine_chunks().flatten().dictionary_encode()
        codes = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
        first = _first_of_chains(starts.numpy(), ends.numpy(), offsets.numpy())
        own, rest = self._classes(codes, first, encoded.dictionary.to_pylist())
        at = torch.from_numpy(np.searchsorted(first, offsets.numpy()))
        phrases, bare = torch.from_numpy(first), self._parts[self.root or ""]
        try:
            spans, labels = left_binarised(starts[phrases], ends[phrases], own, rest, at, split.word_counts, bare)
        except NotATreeError as error:
            file, _, line = split.column("place")[error.sentence].as_py().rpartition(":")
            what = f"the phrases of layer '{layer}' are no tree: some cross"
            raise DataError("E281", what, Place(file, int(line))) from error
        sizes = (2 * split.word_counts - 1).clamp(min=0)
        return TreeGold(spans, labels, torch.cat([sizes.new_zeros(1), sizes.cumsum(0)]), split.word_counts)

    def _classes(
        self, codes: npt.NDArray[np.int64], first: npt.NDArray[np.int64], names: Sequence[str]
    ) -> tuple[Tensor, Tensor]:
        """Class of each chain, and of the parts below it: int64 [chains] both."""
        sizes = np.diff(np.append(first, len(codes)))
        table = np.full((len(first), int(sizes.max(initial=1))), -1, np.int64)
        table[np.arange(table.shape[1]) < sizes[:, None]] = codes
        distinct, number = np.unique(table, axis=0, return_inverse=True)
        classes = [self._class([names[code] for code in row if code >= 0]) for row in distinct.tolist()]
        known = np.array(classes, np.int64).reshape(-1, 2)[number.reshape(-1)]
        return torch.from_numpy(known[:, 0].copy()), torch.from_numpy(known[:, 1].copy())

    def _class(self, labels: Sequence[str]) -> tuple[int, int]:
        root, chain = _without_root(labels)
        part = self._parts.get(chain[-1] if chain else root, UNKNOWN)
        return (self._own.get(chain, UNKNOWN) if chain else part), part


def _without_root(labels: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """The root's name, empty if there is none, and the chain below it."""
    return (labels[0], tuple(labels[1:])) if labels[0] in ROOTS else ("", tuple(labels))


def _first_of_chains(starts: Any, ends: Any, offsets: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Where a phrase is not over the same words as the one before it: int64 [chains]."""
    opens = np.ones(len(starts), np.bool_)
    opens[1:] = (starts[1:] != starts[:-1]) | (ends[1:] != ends[:-1])
    opens[offsets[:-1][offsets[:-1] < len(starts)]] = True
    return np.flatnonzero(opens).astype(np.int64)
