"""Groups of models beside each other: is one more specialised than another that learns the same tasks?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from mtlspec.analyses._iap.specialised import Specialised
from mtlspec.metrics.runs import Runs
from mtlspec.results.comparisons import with_equal_starts
from mtlspec.results.inference import Difference, Family, corrected, difference_between


@dataclass(frozen=True)
class Compared:
    """The average dissociation of a model minus that of a model of another group."""

    model: Specialised
    reference: Specialised
    found: Difference
    family: Family
    adjusted: float | None = None  # p after Holm's correction

    @property
    def significant(self) -> bool:
        return self.adjusted is not None and self.adjusted < self.family.alpha

    def stored(self) -> dict[str, Any]:
        return {
            "model": self.model.variant.label,
            "reference": self.reference.variant.label,
            "found": self.found.stored(),
            "p_holm": self.adjusted,
        }


@dataclass(frozen=True)
class BeyondRandom:
    """The tests of every model against random sets, corrected together."""

    family: Family
    adjusted: tuple[float | None, ...]

    def significant(self, place: int) -> bool:
        p = self.adjusted[place]
        return p is not None and p < self.family.alpha


def beyond_random(models: Sequence[Specialised], alpha: float) -> BeyondRandom:
    name = "dissociation by important heads with that by random ones"
    return BeyondRandom(*corrected(name, [one.beyond_random.p for one in models], alpha))


def compare_groups(models: Sequence[Specialised], alpha: float) -> tuple[Compared, ...]:
    """Every model with that of the first group which learns the same tasks, corrected together."""
    pairs = [(one, reference) for one in models if (reference := _reference(one, models)) is not None]
    found = [_difference(one, reference) for one, reference in pairs]
    groups = ", ".join(dict.fromkeys(f"{one.variant.group} with {other.variant.group}" for one, other in pairs))
    family, adjusted = corrected(groups, [difference.p for difference in found], alpha)
    raw = [Compared(*pair, difference, family) for pair, difference in zip(pairs, found, strict=True)]
    return tuple(replace(one, adjusted=p) for one, p in zip(raw, adjusted, strict=True))


def _reference(model: Specialised, among: Sequence[Specialised]) -> Specialised | None:
    """Where the first group is swept, its model with the same values, or its only one."""
    alike = [other for other in among if other.tasks == model.tasks]
    own = [other for other in alike if other.variant.group == alike[0].variant.group]
    if model.variant.group == alike[0].variant.group:
        return None
    same = [other for other in own if other.variant.sweep == model.variant.sweep]
    return same[0] if same else own[0] if len(own) == 1 else None


def _difference(a: Specialised, b: Specialised) -> Difference:
    sides = [one.average_runs for one in (a, b)]
    if a.examples != b.examples:  # then only the runs' numbers can be compared
        sides = [Runs(side.scores) for side in sides]
    return with_equal_starts(difference_between(*sides), a.variant, b.variant)
