"""Labelled bracket F1 as EVALB computes it with the parameters that are customary for the Penn Treebank.

Deleted words and brackets do not count; brackets that hold no other words vanish; function tags are cut off; ADVP and
PRT are the same label; a unary chain is several brackets, and equal brackets count as often as both sides have them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from mtlspec.data.sentence import ConTree
from mtlspec.metrics.metric import AdditiveMetric, Counts, Scores, label_table, percentage, precision_recall_f1

ROOTS = ("TOP", "S1", "ROOT")  # names of the node above the sentence; EVALB's own lists lack the last
DELETED = frozenset({*ROOTS, "-NONE-", ",", ":", "``", "''", ".", "?", "!"})
EQUAL: Mapping[str, str] = {"PRT": "ADVP"}
_FUNCTION = re.compile(r"(?<=.)[-=].*")

Bracket = tuple[int, int, str]


class BracketF1(AdditiveMetric):
    """Words are deleted by the gold pre-terminals on both sides, so predicted trees need none."""

    kind = "bracket_f1"
    main = "f1"
    columns = ("correct", "predicted", "gold", "complete", "sentences")

    def counts(self, gold: Sequence[ConTree], predicted: Sequence[ConTree]) -> Counts:
        rows = np.ones((len(gold), len(self.columns)), np.int64)
        for i, (right, found) in enumerate(_pairs(gold, predicted)):
            both = (right & found).total()
            rows[i, :3] = both, found.total(), right.total()
            rows[i, 3] = right == found
        return rows

    def scores(self, totals: npt.ArrayLike) -> dict[str, Scores]:
        """`complete`: sentences whose brackets are all right."""
        counts = np.asarray(totals)
        return {**precision_recall_f1(counts[..., :3]), "complete": percentage(counts[..., 3], counts[..., 4])}

    def label_scores(self, gold: Sequence[ConTree], predicted: Sequence[ConTree]) -> dict[str, dict[str, float]]:
        """PRT is counted under ADVP."""
        sums: tuple[Counter[str], Counter[str], Counter[str]] = (Counter(), Counter(), Counter())
        for right, found in _pairs(gold, predicted):
            for total, brackets in zip(sums, (right & found, found, right), strict=True):
                for (_, _, label), number in brackets.items():
                    total[label] += number
        labels = sorted(sums[1].keys() | sums[2].keys())
        return label_table(labels, *(np.array([total[label] for label in labels], np.int64) for total in sums))


def _pairs(gold: Sequence[ConTree], predicted: Sequence[ConTree]) -> list[tuple[Counter[Bracket], Counter[Bracket]]]:
    """The brackets of both sides, a pair a sentence."""
    if len(gold) != len(predicted):
        raise ValueError(f"{len(gold)} gold trees, {len(predicted)} predicted ones")
    shown: dict[str, str | None] = {}
    pairs = []
    for number, (right, found) in enumerate(zip(gold, predicted, strict=True)):
        place = [0]
        for tag in right.pos:
            place.append(place[-1] + (tag not in DELETED))
        if any(end >= len(place) for _, end, _ in found.spans):
            raise ValueError(f"sentence {number}: a predicted phrase ends behind the last of {len(right.pos)} words")
        pairs.append((_brackets(right, place, shown), _brackets(found, place, shown)))
    return pairs


def _brackets(tree: ConTree, place: Sequence[int], shown: dict[str, str | None]) -> Counter[Bracket]:
    """`place` is the number of words kept before each fence-post; `shown` remembers what labels count as."""
    found: Counter[Bracket] = Counter()
    for start, end, label in tree.spans:
        if label not in shown:
            shown[label] = _shown(label)
        counted = shown[label]
        if counted is not None and place[start] < place[end]:
            found[place[start], place[end], counted] += 1
    return found


def _shown(label: str) -> str | None:
    """The label that counts, or None for one that is deleted."""
    if label in DELETED:
        return None
    bare = _FUNCTION.sub("", label)
    return None if bare in DELETED else EQUAL.get(bare, bare)
