"""Semantic role F1, end to end: right are roles with the right predicate, start, end and label; micro-averaged.

The predicate itself is no role: V and C-V are left out on both sides. A second score says whether predicates are found.
An end-to-end labeller sees a predicate through its roles, so predicates without any do not count there, on either side.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from mtlspec.data.sentence import Frame
from mtlspec.metrics.entities import set_counts, set_label_scores
from mtlspec.metrics.metric import AdditiveMetric, Counts, Scores, precision_recall_f1

VERB_ROLES = frozenset({"V", "C-V"})

Role = tuple[int, int, int, str]
"""(predicate, start, end exclusive, label)"""


class RoleF1(AdditiveMetric):
    kind = "role_f1"
    main = "f1"
    columns = ("correct", "predicted", "gold", "predicates_correct", "predicates_predicted", "predicates_gold")

    def counts(self, gold: Sequence[Sequence[Frame]], predicted: Sequence[Sequence[Frame]]) -> Counts:
        right, given = [roles(frames) for frames in gold], [roles(frames) for frames in predicted]
        predicates = set_counts(_predicates(right), _predicates(given))
        return np.concatenate([set_counts(right, given), predicates], axis=1)

    def scores(self, totals: npt.ArrayLike) -> dict[str, Scores]:
        values = np.asarray(totals)
        predicates = precision_recall_f1(values[..., 3:])
        return precision_recall_f1(values[..., :3]) | {f"predicate_{name}": score for name, score in predicates.items()}

    def label_scores(
        self, gold: Sequence[Sequence[Frame]], predicted: Sequence[Sequence[Frame]]
    ) -> dict[str, dict[str, float]]:
        right, given = [roles(frames) for frames in gold], [roles(frames) for frames in predicted]
        return set_label_scores(right, given, lambda role: role[3])


def roles(frames: Sequence[Frame]) -> set[Role]:
    """What counts of a sentence's frames."""
    return {
        (frame.predicate, start, end, label)
        for frame in frames
        for start, end, label in frame.roles
        if label not in VERB_ROLES
    }


def _predicates(sentences: Sequence[set[Role]]) -> list[set[int]]:
    return [{role[0] for role in found} for found in sentences]
