"""Do two configurations differ, beyond the luck of seeds and of test examples?

A configuration is known by a few trained models (runs), each scored on the same examples. The difference of the mean
scores of two configurations varies with the seeds, and with the examples that happened to be in the test set: some suit
one configuration better than the other. Its variance is

    between runs of a + between runs of b + examples that suit one of the two

The first two are the variances of the runs' scores over their number. They contain the noise of single examples in
single runs. So does the variance of the difference from example to example, from which that noise is therefore taken
away: what remains is the third part. No part is smaller than the noise says or than zero. The degrees of freedom follow
from how well each part is known (Satterthwaite), which with few seeds is: badly. Where chance makes the runs look more
alike than they are, that rule trusts too much; so a difference must also stand out from the runs alone (Welch).
`docs/statistics.md` compares this test with others on simulated experiments.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mtlspec.metrics.metric import Metric, Rows

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Runs:
    """Runs of one configuration on N examples; arrays may have further axes in front."""

    scores: Floats  # [..., runs]
    pulls: Floats | None = None  # [..., runs, N]: how an example moves its run's score; None where that is not known

    @classmethod
    def of(cls, metric: Metric, rows: Sequence[Rows] | Rows) -> Runs:
        """Rows of every run, [..., runs, N, K] together. Pulls are those of the jackknife."""
        counts = np.asarray(rows)
        scores = np.asarray(metric.score_rows(counts)[metric.main], np.float64)
        examples = counts.shape[-2]
        return cls(scores, (examples - 1) * (scores[..., None] - metric.without_each(counts)))

    @property
    def number(self) -> int:
        return int(self.scores.shape[-1])

    @property
    def mean(self) -> Floats:
        return np.asarray(self.scores.mean(axis=-1))

    def between(self) -> Floats:
        """Variance of the mean score over runs: [...]."""
        return np.asarray(self.scores.var(axis=-1, ddof=1) / self.number)

    def noise(self) -> Floats:
        """The part of it that comes from single examples in single runs: [...]."""
        if self.pulls is None or self.pulls.shape[-1] < 2:
            return np.zeros(self.scores.shape[:-1])
        examples = self.pulls.shape[-1]
        own = self.pulls - self.pulls.mean(axis=-2, keepdims=True)  # what all runs find hard is no noise
        own = own - own.mean(axis=-1, keepdims=True)
        freedom = (self.number - 1) * (examples - 1)
        return np.asarray((own**2).sum(axis=(-2, -1)) / freedom / (self.number * examples))


@dataclass(frozen=True)
class Spread:
    """The variance of a difference, and how well that is known; arrays [...]."""

    variance: Floats
    df: Floats  # degrees of freedom; infinite where nothing varies


@dataclass(frozen=True)
class Estimate:
    """The difference of two configurations [...]; it must stand out from both spreads."""

    difference: Floats
    runs: Spread  # for these very examples
    whole: Spread  # for others of their kind, too


def difference_of_runs(a: Runs, b: Runs) -> Estimate:
    """Both sides need two runs at least. Without pulls on both sides, examples count as given."""
    if min(a.number, b.number) < 2:
        raise ValueError("one run does not show how runs scatter")
    between, noise = (a.between(), b.between()), (a.noise(), b.noise())
    freedom = a.number - 1, b.number - 1
    runs = _spread(between, freedom)
    parts = [np.maximum(seen, least) for seen, least in zip(between, noise, strict=True)]
    doubts, known = list(between), list(freedom)  # a part that the noise lifts is known no worse for it
    if a.pulls is not None and b.pulls is not None and a.pulls.shape[-1] > 1:
        examples = a.pulls.shape[-1]
        differing = (a.pulls.mean(axis=-2) - b.pulls.mean(axis=-2)).var(axis=-1, ddof=1) / examples
        suited = np.maximum(differing - noise[0] - noise[1], 0.0)
        parts.append(suited)
        doubts += [suited, noise[0], noise[1]]
        known += [examples - 1, *(own * examples for own in freedom)]
    whole = _spread(parts, known, doubts)
    return Estimate(np.asarray(a.mean - b.mean), Spread(runs.variance, _careful(runs.df, freedom)), whole)


def _spread(parts: Sequence[Floats], known: Sequence[int], doubts: Sequence[Floats] | None = None) -> Spread:
    """Independent parts of a variance, those that must be estimated, and the degrees of freedom of these."""
    variance = np.sum(np.stack(parts), axis=0)
    doubt = np.sum([part**2 / own for part, own in zip(doubts or parts, known, strict=True)], axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return Spread(np.asarray(variance), np.asarray(np.where(doubt > 0, variance**2 / doubt, np.inf)))


def _careful(df: Floats, freedom: tuple[int, int]) -> Floats:
    """Fewer degrees of freedom where one side has fewer runs than the other: Welch's are then too many.

    Two thirds of the way from the least to Welch's, which count at most as many as if both sides were the smaller one;
    simulations chose the share.
    """
    least = min(freedom)
    if freedom[0] == freedom[1]:
        return df
    return np.asarray(least + 2 / 3 * (np.minimum(df, 2 * least) - least))
