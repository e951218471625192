"""Phrase-structure trees as left-binarised trees.

A phrase with children c1 ... ck becomes binary by prefixes: its start to the end of c2, of c3 ... A phrase of one word
and the words that stand beside phrases are leaves, so a sentence of n words has 2n - 1 spans.
This runs once per corpus and is plain Python: a million words take seconds, less than it would take to compile.
"""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor

Phrase = tuple[int, int, int, int]
"""start, end exclusive, its label, the label of the parts that binarising adds below it"""


class NotATreeError(ValueError):
    """Phrases cross or are out of order; `sentence` is the first such one."""

    def __init__(self, sentence: int) -> None:
        super().__init__(f"the phrases of sentence {sentence} are no tree")
        self.sentence = sentence


def left_binarised(
    starts: Tensor, ends: Tensor, own: Tensor, rest: Tensor, offsets: Tensor, words: Tensor, bare: int
) -> tuple[Tensor, Tensor]:
    """Phrases [P], end to end with offsets int64 [N + 1], outer and left first, no two of a sentence with equal spans.

    own and rest, int64 [P]: the label of a phrase, and of the parts that binarising adds below it; bare: of what no
    phrase holds. words, int64 [N]: the lengths of sentences.
    Returns spans int64 [sum of 2n - 1, 2] and their labels int64, in an order of no meaning within a sentence.
    """
    phrases = list(zip(starts.tolist(), ends.tolist(), own.tolist(), rest.tolist(), strict=True))
    borders = offsets.tolist()
    found: list[tuple[int, int, int]] = []
    for number, size in enumerate(words.tolist()):
        before = len(found)
        fits = _extend(found, phrases[borders[number] : borders[number + 1]], size, bare) if size else True
        if not fits or len(found) - before != max(2 * size - 1, 0):
            raise NotATreeError(number)
    spans = torch.tensor(found, dtype=torch.int64).view(-1, 3)
    return spans[:, :2].contiguous(), spans[:, 2].contiguous()


def _extend(found: list[tuple[int, int, int]], phrases: Iterable[Phrase], size: int, bare: int) -> bool:
    """Append the spans of one sentence; False if some phrases do not lie inside of those that are open."""
    waiting = [*phrases][::-1]
    if not waiting or waiting[-1][:2] != (0, size):
        waiting.append((0, size, bare, bare))
    path: list[tuple[int, int, int]] = []  # the phrases that hold the word, outermost first: start, end, label of parts
    for word in range(size):
        while waiting and waiting[-1][0] == word:
            start, end, label, part = waiting.pop()
            if end <= start or (path and not (end <= path[-1][1] and (start, end) != path[-1][:2])):
                return False
            found.append((start, end, label))
            path.append((start, end, part))
        start, end, part = path[-1]
        if end - start > 1:
            found.append((word, word + 1, part))
            if start < word and word + 1 < end:
                found.append((start, word + 1, part))
        while path and path[-1][1] == word + 1:
            inner = path.pop()[0]
            if path and path[-1][0] < inner and word + 1 < path[-1][1]:
                found.append((path[-1][0], word + 1, path[-1][2]))
    return not waiting
