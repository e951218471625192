"""Which changes of probing accuracy are more than the luck of seeds: tests of whole tables, corrected together.

A probe counts hits of labels, not of single items, so the test knows how far seeds scatter and takes the test items as
given. Means of labels are what a reader asks first: they are a family of their own, single labels are another.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mtlspec.analyses._probes.best import Floats
from mtlspec.analyses._probes.results import Compared, TaskResults
from mtlspec.results.comparisons import with_equal_starts
from mtlspec.results.inference import LEVEL, Difference, Family, compare_scores, corrected
from mtlspec.results.tables import interval_text

Place = tuple[str, int | None]
"""A column's title and a label's number; None is the mean of all labels."""


def at(values: Floats, number: int | None, results: TaskResults) -> float | None:
    """The value of a label, or the mean of all that are shown; None where none is."""
    if number is not None:
        return float(values[number])
    return float(results.of(values).mean()) if results.labels else None


@dataclass(frozen=True)
class Changes:
    """Every model against the single-task one, in the mean of labels and label by label."""

    found: Mapping[Place, Difference]
    adjusted: Mapping[Place, float | None]
    families: tuple[Family, ...]

    def sure(self, column: Compared, number: int | None) -> bool:
        p = self.adjusted.get((column.title, number))
        return p is not None and p < LEVEL

    def mean_words(self, column: Compared) -> str:
        """What is known of a difference of means, as the end of a sentence."""
        found = self.found[column.title, None]
        if found.p is None:
            return f"were not tested ({found.why})"
        told = "differ by no more than luck may" if found.p >= LEVEL else "may differ by luck after Holm's correction"
        if self.sure(column, None):
            told = "differ by more than the luck of seeds"
        return f"{told} (95 % interval {interval_text(found.interval)})"

    @property
    def words(self) -> str:
        """For captions: what a colour says."""
        tested = [family for family in self.families if family.size]
        if not tested:
            return "without colours, because nothing could be tested"
        families = "; ".join(family.words for family in tested)
        return (
            f"blue above and red below where a t test over seeds finds it at {100 * LEVEL:g} %, "
            f"with the test items as given ({families})"
        )

    def mean(self, column: Compared) -> dict[str, Any]:
        """The difference of a model's mean of labels, in full precision, and its p after correction."""
        place = (column.title, None)
        return {"model": column.title, "found": self.found[place].stored(), "p_holm": self.adjusted[place]}


def changes_of(results: TaskResults) -> Changes:
    """All tests of a probed task; none without single-task models, or without labels."""
    base = results.baseline
    if base is None or not results.labels:
        return Changes({}, {}, ())
    found: dict[Place, Difference] = {}
    adjusted: dict[Place, float | None] = {}
    families = []
    for what, numbers in (("means of labels", (None,)), ("single labels", results.labels)):
        own = {
            (other.title, number): _difference(other, base, number, results)
            for other in results.others
            for number in numbers
        }
        family, ps = corrected(f"{what}, every model with {base.title}", [one.p for one in own.values()], LEVEL)
        families.append(family)
        found |= own
        adjusted |= dict(zip(own, ps, strict=True))
    return Changes(found, adjusted, tuple(families))


def _difference(column: Compared, base: Compared, number: int | None, results: TaskResults) -> Difference:
    sides = [[at(best.score, number, results) or 0.0 for best in one.seeds.values()] for one in (column, base)]
    found = compare_scores(*sides, power=number is None)  # labels are many, and only means tell it
    return with_equal_starts(found, column.variant, base.variant)
