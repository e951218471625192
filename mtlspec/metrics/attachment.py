"""Attachment scores of dependency trees: the share of words with the right head, and with the right relation too.

Over all words these are the UAS and LAS of the CoNLL 2018 shared task for given words; its LAS ignores subtypes of
relations (`nmod:poss` counts as `nmod`), which `subtypes=False` does here. Papers on English usually leave out
punctuation, by rules that differ; where the gold trees say which words are punctuation, both figures are reported.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from mtlspec.data.escapes import unescape
from mtlspec.data.sentence import DepTree
from mtlspec.metrics.metric import AdditiveMetric, Counts, Scores, aligned_lengths, label_table, percentage, tag_codes

PunctuationRule = Literal["none", "unicode_p", "ptb", "upos"]
PUNCTUATION_TAGS = {"ptb": frozenset({"``", "''", ":", ",", "."}), "upos": frozenset({"PUNCT"})}


def punctuation(rule: PunctuationRule, words: Sequence[str], tags: Sequence[str | None] = ()) -> tuple[bool, ...]:
    """Which words a rule calls punctuation.

    `unicode_p`: all characters are of a Unicode category P. `ptb`: the tag is one of the five of the Penn Treebank's
    punctuation (brackets and currency signs count as words). `upos`: the tag is PUNCT. `none`: no word.
    """
    if rule == "none":
        return (False,) * len(words)
    if rule == "unicode_p":
        return tuple(all(unicodedata.category(mark)[0] == "P" for mark in unescape(word)) for word in words)
    return tuple(tag in PUNCTUATION_TAGS[rule] for tag in tags)


@dataclass(frozen=True, slots=True)
class GoldTree(DepTree):
    """A tree that knows which of its words are punctuation."""

    punctuation: tuple[bool, ...]


class Attachment(AdditiveMetric):
    """Gold values are `GoldTree`s, predictions `DepTree`s over the same words.

    Scores: `las` and `uas` over all words; where a rule is given, also `las_no_punct` and `uas_no_punct`.
    `subtypes`: whether relations are compared with their part after the colon.
    """

    kind = "attachment"
    main = "las"

    def __init__(self, rule: PunctuationRule = "none", subtypes: bool = True) -> None:
        self.rule, self.subtypes = rule, subtypes
        kinds = ("",) if rule == "none" else ("", "_no_punct")
        self._suffixes = kinds
        self.columns = tuple(f"{name}{kind}" for kind in kinds for name in ("labelled", "attached", "words"))

    def settings(self) -> dict[str, Any]:
        return {"rule": self.rule, "subtypes": self.subtypes}

    def counts(self, gold: Sequence[GoldTree], predicted: Sequence[DepTree]) -> Counts:
        lengths, _, (gold_rels, rels), attached = self._compare(gold, predicted)
        sentence = np.repeat(np.arange(len(lengths)), lengths)
        found = [attached & (gold_rels == rels), attached, np.ones_like(attached)]
        if len(self._suffixes) > 1:
            marks = chain.from_iterable(tree.punctuation for tree in gold)
            counted = ~np.fromiter(marks, np.bool_, len(sentence))
            found += [mask & counted for mask in found]
        return np.stack([np.bincount(sentence[mask], minlength=len(lengths)) for mask in found], axis=1)

    def scores(self, totals: npt.ArrayLike) -> dict[str, Scores]:
        columns = dict(zip(self.columns, np.moveaxis(np.asarray(totals), -1, 0), strict=True))
        return {
            f"{name}{kind}": percentage(columns[column + kind], columns["words" + kind])
            for kind in self._suffixes
            for name, column in (("las", "labelled"), ("uas", "attached"))
        }

    def label_scores(self, gold: Sequence[GoldTree], predicted: Sequence[DepTree]) -> dict[str, dict[str, float]]:
        """Per relation, over all words: a word is right if its head and its relation are."""
        _, names, (gold_rels, rels), attached = self._compare(gold, predicted)
        right = gold_rels[attached & (gold_rels == rels)]
        return label_table(names, *(np.bincount(codes, minlength=len(names)) for codes in (right, rels, gold_rels)))

    def _compare(
        self, gold: Sequence[DepTree], predicted: Sequence[DepTree]
    ) -> tuple[Counts, list[str], list[Counts], npt.NDArray[np.bool_]]:
        """Sentence lengths, relations, both sides' relations as codes, and which words have the right head."""
        sides = [[self._compared(tree.rels) for tree in side] for side in (gold, predicted)]
        lengths = aligned_lengths(*sides)
        names, codes = tag_codes(*sides)
        heads = [
            np.fromiter(chain.from_iterable(tree.heads for tree in side), np.int64, lengths.sum())
            for side in (gold, predicted)
        ]
        return lengths, names, codes, heads[0] == heads[1]

    def _compared(self, rels: tuple[str, ...]) -> tuple[str, ...]:
        return rels if self.subtypes else tuple(rel.partition(":")[0] for rel in rels)
