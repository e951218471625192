"""Every model against its single-task baseline: the difference, what is known of it, and the family it belongs to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import numpy as np

from mtlspec.metrics.metric import Rows
from mtlspec.results.evaluations import Evaluations, seed_scores
from mtlspec.results.inference import ONE_START, Difference, Family, Unit, compare_models, compare_runs, corrected
from mtlspec.results.jobs import Progress
from mtlspec.results.variants import Variant, baseline_for

Together = Literal["all", "group"]
"""Which comparisons Holm's correction takes together: all of an analysis, or those of each model group."""


@dataclass(frozen=True)
class Comparison:
    """One model and task against its baseline."""

    variant: Variant
    task: str
    baseline: Variant
    found: Difference
    family: Family | None = None  # with which it is corrected
    adjusted: float | None = None  # p after that; None where nothing could be tested

    @property
    def delta(self) -> float:
        """Difference of the means over seeds, in points."""
        return self.found.difference

    @property
    def significant(self) -> bool:
        return self.family is not None and self.adjusted is not None and self.adjusted < self.family.alpha


@dataclass(frozen=True)
class ToldTest:
    """A comparison as `analysis.json` holds it; models are known by their labels."""

    model: str
    task: str
    baseline: str
    found: Difference
    family: Family
    p_holm: float | None
    unequal: str = ""  # the end of a sentence, if the two were not trained for as long

    @property
    def significant(self) -> bool:
        return self.p_holm is not None and self.p_holm < self.family.alpha


@dataclass(frozen=True)
class ToldTests:
    """The numbers of a score matrix: its tests, the group they compare with, and their level."""

    baseline: str
    alpha: float
    tests: tuple[ToldTest, ...]

    @classmethod
    def of(
        cls,
        comparisons: Iterable[Comparison],
        baseline: str,
        alpha: float,
        unequal: Callable[[Comparison], str] = lambda _: "",
    ) -> ToldTests:
        tests = tuple(
            ToldTest(one.variant.label, one.task, one.baseline.label, one.found, one.family, one.adjusted, unequal(one))
            for one in comparisons
            if one.family is not None
        )
        return cls(baseline, alpha, tests)

    def stored(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def restored(cls, raw: Mapping[str, Any]) -> ToldTests:
        tests = (
            ToldTest(**{**one, "found": Difference.restored(one["found"]), "family": Family(**one["family"])})
            for one in raw["tests"]
        )
        return cls(raw["baseline"], raw["alpha"], tuple(tests))


@dataclass(frozen=True)
class Asked:
    """How a score matrix tests: the options of the analysis."""

    baseline: str = ""
    alpha: float = 0.05
    unit: Unit = "runs"
    family: Together = "all"
    rounds: int = 10_000  # of the randomisation test; only where sentences are the unit
    seed: int = 1


def compare(
    variants: Sequence[Variant], evaluations: Evaluations, asked: Asked, progress: Progress = lambda *_: None
) -> tuple[Comparison, ...]:
    """All comparisons with a control, or a single-task model of the baseline's group, corrected in their families.

    A model whose selection chose nothing may be the very same: nothing is compared with itself.
    """
    pairs = [
        (variant, task, against)
        for variant in variants
        for task in variant.tasks
        if seed_scores(variant, task, evaluations)
        and (against := baseline_for(variant, task, asked.baseline, variants)) is not None
        and not is_its_baseline(variant, against, task, evaluations)
    ]
    raw = []
    for done, (variant, task, against) in enumerate(pairs):
        progress(done, len(pairs), f"{variant.label}, {task}")
        found = difference_of(variant, against, task, evaluations, asked)
        raw.append(Comparison(variant, task, against, found))
    return _corrected(raw, asked)


def difference_of(
    a: Variant,
    b: Variant,
    task: str,
    evaluations: Evaluations,
    asked: Asked | None = None,
    score: str | None = None,
) -> Difference:
    """Two models on one task, by its main score or another one. Sentences as unit pool the seeds that both have."""
    metric = evaluations[a.runs[0].evaluate].metric(task, score)
    ours, theirs = (rows_of(side, task, side.seeds, evaluations) for side in (a, b))
    if asked is None or asked.unit == "runs":
        return with_equal_starts(compare_runs(metric, ours, theirs), a, b)
    shared = tuple(seed for seed in a.seeds if seed in b.seeds)
    if not shared:
        return _untested(compare_runs(metric, ours, theirs), "sentences", "no seed is in both")
    ours, theirs = (rows_of(side, task, shared, evaluations) for side in (a, b))
    return compare_models(metric, ours, theirs, asked.rounds, asked.seed)


def with_equal_starts(found: Difference, a: Variant, b: Variant) -> Difference:
    """Runs that share a start are independent given that start: a question which both sides must ask, or it is none."""
    return found if a.shared_starts == b.shared_starts else _untested(found, "runs", ONE_START)


def _untested(found: Difference, unit: Unit, why: str) -> Difference:
    return Difference(found.difference, unit, found.seeds, found.sentences, why=why)


def is_its_baseline(variant: Variant, baseline: Variant, task: str, evaluations: Evaluations) -> bool:
    """Whether a model whose selection chose nothing is the single-task model: the same predictions, seed by seed."""
    if not variant.is_selected or variant.runs[0].chosen != () or not set(variant.seeds) <= set(baseline.seeds):
        return False
    pairs = ((rows_of(side, task, (seed,), evaluations) for side in (variant, baseline)) for seed in variant.seeds)
    return all(np.array_equal(ours, theirs) for ours, theirs in pairs)


def rows_of(variant: Variant, task: str, seeds: Sequence[int], evaluations: Evaluations) -> list[Rows]:
    """Of these seeds, in their order: what counts of every run's test examples."""
    runs = {run.seed: run for run in variant.runs}
    return [evaluations[runs[seed].evaluate].counts[task] for seed in seeds]


def _corrected(raw: Sequence[Comparison], asked: Asked) -> tuple[Comparison, ...]:
    """Families are those of the options; a comparison that could not be tested belongs to one, and does not count."""
    groups = tuple(dict.fromkeys(item.variant.group for item in raw))
    families = [groups] if asked.family == "all" else [(group,) for group in groups]
    made: dict[int, Comparison] = {}
    for names in families:
        own = [number for number, item in enumerate(raw) if item.variant.group in names]
        title = f"{', '.join(names)} with {', '.join(dict.fromkeys(raw[number].baseline.group for number in own))}"
        family, adjusted = corrected(title, [raw[number].found.p for number in own], asked.alpha)
        made |= {n: replace(raw[n], family=family, adjusted=p) for n, p in zip(own, adjusted, strict=True)}
    return tuple(made[number] for number in range(len(raw)))
