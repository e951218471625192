"""The one place for inference: differences with their uncertainty, and families of tests that are corrected together.

By default the unit is the run: a difference is one of configurations, and must be more than the luck of seeds and of
test examples together. With examples as the unit the trained models count as given: what is then shown is that two sets
of trained models differ, and never that one way of training is better than another.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import numpy as np

from mtlspec.errors import StageError
from mtlspec.metrics.bootstrap import paired_bootstrap
from mtlspec.metrics.metric import Metric, Rows
from mtlspec.metrics.runs import Runs, Spread, difference_of_runs
from mtlspec.metrics.significance import holm, paired_randomisation
from mtlspec.metrics.student import detectable_shift, t_quantile, t_tail

Unit = Literal["runs", "sentences"]
Judgement = Literal["not worse", "worse", "undecided"]
LEVEL = 0.05  # of intervals and of differences that could have been found
MARGIN = 1.0  # points: a loss up to this still keeps a score
_NOTHING = 1e-9  # points: what rounding alone can make
ONE_SEED = "one seed does not show how seeds scatter"
ONE_START = "all runs of one side start from one trained model and share its luck, which the other side does not"


@dataclass(frozen=True)
class Difference:
    """a minus b, in points, and what is known of it. What cannot be known is None, and `why` says so."""

    difference: float
    unit: Unit
    seeds: tuple[int, int]  # runs of a and of b
    sentences: int | None = None  # test examples that the test knows of; None: only the runs' scores are known
    p: float | None = None  # two-sided
    error: float | None = None  # standard error
    df: float | None = None  # degrees of freedom; None: as many as one likes
    interval: tuple[float, float] | None = None  # 95 %
    effect: float | None = None  # Hedges' g: the difference in standard deviations of a run
    detectable: float | None = None  # the smallest difference that is found at 5 % with 80 % power
    why: str = ""

    def not_worse(self, margin: float) -> Judgement:
        """Non-inferiority: whether the interval excludes a loss of more than `margin`, or shows one."""
        if self.interval is None:
            return "undecided"
        low, high = self.interval
        return "not worse" if low >= -margin else ("worse" if high < -margin else "undecided")

    def detectable_at(self, alpha: float) -> float | None:
        """The smallest difference that is found at another level with 80 % power."""
        if self.error is None:
            return None
        return self.error * detectable_shift(math.inf if self.df is None else self.df, alpha)

    def stored(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def restored(cls, raw: Mapping[str, Any]) -> Difference:
        pairs = {name: None if raw[name] is None else tuple(raw[name]) for name in ("seeds", "interval")}
        return cls(**{**raw, **pairs})


def compare_runs(metric: Metric, a: Sequence[Rows], b: Sequence[Rows]) -> Difference:
    """Rows of every run of two configurations on the same examples: the default test."""
    shapes = {rows.shape for rows in (*a, *b)}
    if len(shapes) != 1:
        examples, columns = ({rows.shape[axis] for rows in (*a, *b)} for axis in (0, 1))
        what, sizes = ("scored test examples", examples) if len(examples) > 1 else ("columns of counts", columns)
        message = f"runs that are compared have different numbers of {what}: {', '.join(map(str, sorted(sizes)))}"
        raise StageError("E437", message, hint="evaluate them on the same data")
    return difference_between(Runs.of(metric, a), Runs.of(metric, b))


def compare_scores(a: Sequence[float], b: Sequence[float], *, power: bool = True) -> Difference:
    """Two configurations of which only the runs' scores are known; test examples count as given.

    Without `power`, what could have been found is not computed, which takes far longer than the test itself.
    """
    return difference_between(Runs(np.asarray(a, np.float64)), Runs(np.asarray(b, np.float64)), power=power)


def compare_models(metric: Metric, a: Sequence[Rows], b: Sequence[Rows], rounds: int, seed: int) -> Difference:
    """Two sets of trained models, as many on either side: every example changes sides with all its runs at once."""
    scores = [[float(metric.score_rows(rows)[metric.main]) for rows in side] for side in (a, b)]
    difference = float(np.mean(scores[0]) - np.mean(scores[1]))
    p = paired_randomisation(metric, metric.pool(a), metric.pool(b), rounds, seed)
    return Difference(difference, "sentences", (len(a), len(b)), len(a[0]), p, effect=_effect(*scores))


def compare_pairs(metric: Metric, a: Sequence[Rows], b: Sequence[Rows]) -> Difference:
    """Rows of runs that belong together pair by pair, such as those on the same few examples: a test of differences.

    The model that all runs of a side start from counts as given, if they do.
    """
    ours, theirs = Runs.of(metric, a), Runs.of(metric, b)
    pulls = None if ours.pulls is None or theirs.pulls is None else ours.pulls - theirs.pulls
    found = above_zero(Runs(ours.scores - theirs.scores, pulls))
    return replace(found, effect=_effect(ours.scores.tolist(), theirs.scores.tolist()))


def resample_pairs(a: Sequence[float], b: Sequence[float], rounds: int, seed: int) -> Difference:
    """The same of scores by a paired bootstrap: test examples count as given, and few pairs make it err too often."""
    differences = [ours - theirs for ours, theirs in zip(a, b, strict=True)]
    difference, seeds = float(np.mean(differences)), (len(a), len(b))
    if len(differences) < 2:
        return Difference(difference, "runs", seeds, why=ONE_SEED)
    found = paired_bootstrap(differences, rounds, seed, LEVEL)
    return Difference(difference, "runs", seeds, None, found.p, found.error, None, found.interval, _effect(a, b))


def loss_words(judged: Sequence[Judgement], margin: float = MARGIN) -> str:
    """How many of several comparisons keep their scores, by their intervals; a gain is no loss."""
    kept, lost = judged.count("not worse"), judged.count("worse")
    loss = f"a loss of more than {margin:g} {'point' if margin == 1 else 'points'}"
    told = f"{loss} is excluded in {kept} of {len(judged)} comparisons by their intervals, shown in {lost}"
    return f"{told}, undecided in {len(judged) - kept - lost}"


def above_zero(runs: Runs) -> Difference:
    """A statistic of one configuration that is zero if there is nothing to tell: a t test of its mean."""
    nothing = Runs(np.zeros_like(runs.scores), None if runs.pulls is None else np.zeros_like(runs.pulls))
    return difference_between(runs, nothing)


def difference_between(a: Runs, b: Runs, *, power: bool = True) -> Difference:
    """The same for runs of which any statistic is known, and perhaps what each example does to it."""
    difference, seeds = float(a.mean - b.mean), (a.number, b.number)
    sentences = None if a.pulls is None else int(a.pulls.shape[-1])
    if min(seeds) < 2:
        return Difference(difference, "runs", seeds, sentences, why=ONE_SEED)
    found = difference_of_runs(a, b)
    spreads = [_known(spread) for spread in (found.runs, found.whole)]
    error, df = max(spreads, key=lambda spread: spread[0] * t_quantile(1 - LEVEL / 2, spread[1]))
    if error <= _NOTHING:
        why = (
            ""
            if abs(difference) <= _NOTHING
            else "neither seeds nor test examples vary, so there is nothing to compare with"
        )
        return Difference(difference, "runs", seeds, sentences, p=None if why else 1.0, why=why)
    margin = error * t_quantile(1 - LEVEL / 2, df)
    return Difference(
        difference,
        "runs",
        seeds,
        sentences,
        p=max(t_tail(difference / own, free) for own, free in spreads if own > _NOTHING),
        error=error,
        df=None if math.isinf(df) else df,
        interval=(difference - margin, difference + margin),
        effect=_effect(a.scores.tolist(), b.scores.tolist()),
        detectable=error * detectable_shift(df, LEVEL) if power else None,
    )


def _known(spread: Spread) -> tuple[float, float]:
    return float(spread.variance) ** 0.5, float(spread.df)


def _effect(a: Sequence[float], b: Sequence[float]) -> float | None:
    """Hedges' g; None where runs do not scatter."""
    freedom = len(a) + len(b) - 2
    if freedom < 1:
        return None
    squares = sum(float(np.var(side)) * len(side) for side in (a, b))
    if squares <= _NOTHING:
        return None
    correction = 1 - 3 / (4 * freedom - 1)
    return float(np.mean(a) - np.mean(b)) / math.sqrt(squares / freedom) * correction


@dataclass(frozen=True)
class Family:
    """Tests that are corrected together, because any of them would be told as a finding."""

    name: str  # what they compare, as in "pair, mtl with stl"
    size: int  # tests that were done
    alpha: float

    @property
    def words(self) -> str:
        """For captions, also in brackets: `Holm's correction over 25 comparisons: pair, mtl with stl`."""
        tests = "comparison" if self.size == 1 else "comparisons"
        return f"Holm's correction over {self.size} {tests}: {self.name}"

    @property
    def first_level(self) -> float:
        """The level that the smallest p value must pass."""
        return self.alpha / max(self.size, 1)


def corrected(name: str, ps: Sequence[float | None], alpha: float) -> tuple[Family, tuple[float | None, ...]]:
    """A family and its p values after Holm's correction, in the given order; None or NaN, not tested, gives None."""
    tested = [p for p in ps if p is not None and not math.isnan(p)]
    adjusted = iter(holm(tested).tolist())
    return Family(name, len(tested), alpha), tuple(
        None if p is None or math.isnan(p) else float(next(adjusted)) for p in ps
    )
