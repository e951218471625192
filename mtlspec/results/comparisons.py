"""Every model against its single-task baseline: difference, significance, and Holm's correction over all of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from mtlspec.metrics.significance import holm, paired_randomisation
from mtlspec.results.estimates import mean_and_std
from mtlspec.results.evaluations import Evaluations, pooled_rows, seed_scores
from mtlspec.results.jobs import Progress
from mtlspec.results.variants import Variant, baseline_for


@dataclass(frozen=True)
class Comparison:
    """One model and task; `p` is of the paired randomisation test, `adjusted` after Holm's correction."""

    variant: Variant
    task: str
    baseline: Variant
    delta: float  # difference of the means over seeds, in points
    seeds: tuple[int, ...]  # those that both have; the test pools them
    p: float | None  # None where no seed is shared
    adjusted: float | None = None


@dataclass(frozen=True)
class PairedTest:
    """A comparison as `analysis.json` holds it; models are known by their labels."""

    model: str
    task: str
    baseline: str
    delta: float
    seeds: tuple[int, ...]
    p: float | None
    p_holm: float | None


@dataclass(frozen=True)
class PairedTests:
    """The numbers of a score matrix: its tests, the group they compare with, and their level."""

    baseline: str
    alpha: float
    tests: tuple[PairedTest, ...]

    @classmethod
    def of(cls, comparisons: Iterable[Comparison], baseline: str, alpha: float) -> PairedTests:
        tests = tuple(
            PairedTest(one.variant.label, one.task, one.baseline.label, one.delta, one.seeds, one.p, one.adjusted)
            for one in comparisons
        )
        return cls(baseline, alpha, tests)

    def stored(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def restored(cls, raw: Mapping[str, Any]) -> PairedTests:
        tests = (PairedTest(**{**one, "seeds": tuple(one["seeds"])}) for one in raw["tests"])
        return cls(raw["baseline"], raw["alpha"], tuple(tests))


def compare(
    variants: Sequence[Variant],
    evaluations: Evaluations,
    *,
    baseline: str,
    rounds: int,
    seed: int,
    progress: Progress,
) -> tuple[Comparison, ...]:
    """All comparisons with a single-task model of group `baseline`; one family for Holm's correction."""
    pairs = [
        (variant, task, against)
        for variant in variants
        for task in variant.tasks
        if seed_scores(variant, task, evaluations)
        and (against := baseline_for(variant, task, baseline, variants)) is not None
    ]
    raw = []
    for done, (variant, task, against) in enumerate(pairs):
        progress(done, len(pairs), f"{variant.label}, {task}")
        raw.append(_one(variant, task, against, evaluations, rounds=rounds, seed=seed))
    tested = [comparison.p for comparison in raw if comparison.p is not None]
    corrected = iter([float(value) for value in holm(tested)] if tested else [])
    return tuple(item if item.p is None else replace(item, adjusted=next(corrected)) for item in raw)


def _one(
    variant: Variant, task: str, against: Variant, evaluations: Evaluations, *, rounds: int, seed: int
) -> Comparison:
    ours, _ = mean_and_std(seed_scores(variant, task, evaluations))
    theirs, _ = mean_and_std(seed_scores(against, task, evaluations))
    shared = tuple(value for value in variant.seeds if value in against.seeds)
    p = None
    if shared:
        a, b = (pooled_rows(side, task, shared, evaluations) for side in (variant, against))
        p = paired_randomisation(evaluations[variant.runs[0].evaluate].metrics[task], a, b, rounds, seed)
    return Comparison(variant, task, against, ours - theirs, shared, p)
