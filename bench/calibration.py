"""How often do tests of two configurations find a difference where there is none, and where there is one?

`python -m bench calibration` simulates experiments and writes the tables of docs/statistics.md. Nothing is timed, and
the numbers do not depend on the machine.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy.special import stdtr

from bench._simulated import METRICS, World, simulate
from mtlspec.metrics.bootstrap import paired_bootstrap
from mtlspec.metrics.runs import Floats, Runs, Spread, difference_of_runs
from mtlspec.spec.k_sigma import KSigma

_PAGE = Path(__file__).parent.parent / "docs" / "statistics.md"
_TIMES, _BOOTSTRAPS, _ROUNDS = 2000, 300, 400

NULLS = {
    "seeds and sentences": World(),
    "seeds scatter little": World(seeds=(0.001, 0.001)),
    "seeds scatter much": World(seeds=(0.03, 0.03)),
    "one side scatters 3 times as much": World(seeds=(0.03, 0.01)),
    "one side scatters 10 times as much": World(seeds=(0.03, 0.003)),
    "no sentence suits one side": World(sentences=0.0, seeds=(0.02, 0.02)),
    "sentences decide": World(sentences=0.2),
    "both share their seeds' luck": World(common=0.7, seeds=(0.03, 0.03)),
    "15 % of the runs fail": World(collapse=0.15),
}
SHIFTS = {
    "+4 points": World(sentences=0.05, shift=0.04),
    "+8 points, seeds scatter much": World(seeds=(0.03, 0.03), sentences=0.05, shift=0.08),
    "+2.5 points, seeds scatter little": World(seeds=(0.002, 0.002), sentences=0.05, shift=0.025),
    "+4 points, seeds' luck shared": World(common=0.7, seeds=(0.03, 0.03), sentences=0.05, shift=0.04),
}
Bools = npt.NDArray[np.bool_]


def p_values(difference: Floats, spread: Spread) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(spread.variance > 0, np.abs(difference) / np.sqrt(spread.variance), np.inf)
    return np.asarray(2 * stdtr(np.minimum(spread.df, 1e9), -t))


def default(a: Runs, b: Runs) -> Bools:
    found = difference_of_runs(a, b)
    p = np.maximum(p_values(found.difference, found.runs), p_values(found.difference, found.whole))
    return np.asarray(p < 0.05)


def sentences_only(a: Runs, b: Runs) -> Bools:
    """Trained models count as given: what exchanging sentences with seeds pooled tests."""
    return np.asarray(p_values(a.mean - b.mean, Spread(_differing(a, b), np.asarray(_examples(a) - 1.0))) < 0.05)


def welch(a: Runs, b: Runs) -> Bools:
    parts = a.between(), b.between()
    doubt = parts[0] ** 2 / (a.number - 1) + parts[1] ** 2 / (b.number - 1)
    variance = parts[0] + parts[1]
    return np.asarray(p_values(a.mean - b.mean, Spread(variance, variance**2 / doubt)) < 0.05)


def paired(a: Runs, b: Runs) -> Bools:
    own = a.scores - b.scores
    spread = Spread(np.asarray(own.var(axis=-1, ddof=1) / a.number), np.asarray(a.number - 1.0))
    return np.asarray(p_values(np.asarray(own.mean(axis=-1)), spread) < 0.05)


def added(a: Runs, b: Runs) -> Bools:
    """Welch's variance and that of sentences, whose noise then counts twice."""
    parts = [(a.between(), a.number - 1), (b.between(), b.number - 1), (_differing(a, b), _examples(a) - 1)]
    variance = np.asarray(sum(part for part, _ in parts))
    doubt = np.asarray(sum(part**2 / freedom for part, freedom in parts))
    return np.asarray(p_values(a.mean - b.mean, Spread(variance, variance**2 / doubt)) < 0.05)


def mixed(a: Runs, b: Runs) -> Bools:
    """Crossed random effects of runs, sentences and sentences by configuration; runs of both sides scatter alike.

    With as many runs on both sides these are the estimates of restricted maximum likelihood, with Satterthwaite's df.
    """
    freedom = a.number + b.number - 2
    scatter = (a.between() * a.number * (a.number - 1) + b.between() * b.number * (b.number - 1)) / freedom
    noise = (a.noise() * a.number * (a.number - 1) + b.noise() * b.number * (b.number - 1)) / freedom
    both = 1 / a.number + 1 / b.number
    seen = np.maximum(scatter, noise) * both
    suited = np.maximum(_differing(a, b) - noise * both, 0.0)
    doubt = (scatter * both) ** 2 / freedom + suited**2 / (_examples(a) - 1)
    variance = seen + suited
    return np.asarray(p_values(a.mean - b.mean, Spread(variance, variance**2 / doubt)) < 0.05)


def bootstrap(a: Runs, b: Runs) -> Bools:
    """Seeds are drawn, then sentences, the same for both sides; whether the middle 95 % of differences exclude zero."""
    assert a.pulls is not None
    assert b.pulls is not None
    rng, examples = np.random.default_rng(5), _examples(a)
    found = []
    for time in range(min(len(a.scores), _BOOTSTRAPS)):
        weights = rng.multinomial(examples, np.full(examples, 1 / examples), _ROUNDS) / examples - 1 / examples
        means = []
        for side, pulls in ((a, a.pulls), (b, b.pulls)):
            drawn = side.scores[time] + weights @ pulls[time].T  # [rounds, runs]
            chosen = rng.integers(0, side.number, (_ROUNDS, side.number))
            means.append(np.take_along_axis(drawn, chosen, axis=1).mean(axis=1))
        low, high = np.quantile(means[0] - means[1], [0.025, 0.975])
        found.append(low > 0 or high < 0)
    return np.array(found)


def _examples(runs: Runs) -> int:
    assert runs.pulls is not None
    return int(runs.pulls.shape[-1])


def _differing(a: Runs, b: Runs) -> Floats:
    assert a.pulls is not None
    assert b.pulls is not None
    return np.asarray((a.pulls.mean(axis=-2) - b.pulls.mean(axis=-2)).var(axis=-1, ddof=1) / _examples(a))


TESTS: dict[str, Callable[[Runs, Runs], Bools]] = {
    "**default**": default,
    "sentences only": sentences_only,
    "Welch on seeds": welch,
    "paired by seed": paired,
    "both added": added,
    "mixed model": mixed,
    "bootstrap": bootstrap,
}


def simulated(
    world: World, metric: str, runs: tuple[int, int], times: int = _TIMES, seed: int = 7
) -> tuple[Runs, Runs]:
    a, b = simulate(world, metric, runs, times, seed)
    return Runs.of(METRICS[metric][0], a), Runs.of(METRICS[metric][0], b)


def _row(title: str, cells: list[str]) -> str:
    return "| " + " | ".join([title, *cells]) + " |"


def _head(title: str, columns: list[str]) -> list[str]:
    return [_row(title, columns), "|---|" + "---:|" * len(columns)]


def _share(found: Bools) -> str:
    return f"{100 * found.mean():.1f}"


def _side_by_side(worlds: dict[str, World], metric: str) -> list[str]:
    lines = _head(f"{metric}, 3 seeds each", list(TESTS))
    for name, world in worlds.items():
        a, b = simulated(world, metric, (3, 3))
        lines.append(_row(name, [_share(test(a, b)) for test in TESTS.values()]))
    return lines


def _by_runs(metric: str) -> list[str]:
    sizes = [(3, 3), (4, 4), (5, 5), (10, 10), (3, 5), (3, 10), (2, 2)]
    lines = _head(f"default test, {metric}", [f"{m} and {n}" for m, n in sizes])
    for name, world in NULLS.items():
        smaller = replace(world, examples=100)
        lines.append(_row(name, [_share(default(*simulated(smaller, metric, size))) for size in sizes]))
    return lines


def default_of_pairs(a: Runs, b: Runs) -> Bools:
    """What runs that belong together pair by pair are compared with: the default test of their differences."""
    assert a.pulls is not None
    assert b.pulls is not None
    differences = Runs(a.scores - b.scores, a.pulls - b.pulls)
    return default(differences, Runs(np.zeros_like(a.scores), np.zeros_like(a.pulls)))


def bootstrap_of_pairs(a: Runs, b: Runs) -> Bools:
    """Pairs are drawn with replacement, and test examples count as given."""
    return np.array([paired_bootstrap(own, 1000, 1).p < 0.05 for own in a.scores - b.scores])


def k_sigma(a: Runs, b: Runs) -> Bools:
    """An arrow up or down by the rule of `transfer_table`: 1.5 standard deviations of either side leave a gap."""
    rule = KSigma()
    sides = [[rule.spread(own) for own in side.scores.tolist()] for side in (a, b)]
    return np.array([rule.higher(*pair) or rule.higher(*reversed(pair)) for pair in zip(*sides, strict=True)])


def _arrows(metric: str) -> list[str]:
    sizes = (2, 3, 5, 10)
    lines = _head(f"arrows by k sigma, {metric}", [f"{size} and {size}" for size in sizes])
    for name, world in NULLS.items():
        smaller = replace(world, examples=100)
        lines.append(_row(name, [_share(k_sigma(*simulated(smaller, metric, (size, size)))) for size in sizes]))
    return lines


def _pairs(metric: str) -> list[str]:
    sizes = (3, 5, 10, 30)
    tests = {"default": default_of_pairs, "bootstrap": bootstrap_of_pairs}
    lines = _head(f"pairs of runs, {metric}", [f"{name}, {size}" for name in tests for size in sizes])
    for name, world in NULLS.items():
        drawn = {size: simulated(replace(world, examples=100), metric, (size, size)) for size in sizes}
        lines.append(_row(name, [_share(test(*drawn[size])) for test in tests.values() for size in sizes]))
    return lines


def main() -> None:
    parts = []
    for metric in ("accuracy", "F1"):
        parts += [_side_by_side(NULLS, metric), _side_by_side(SHIFTS, metric)]
    parts += [_by_runs(metric) for metric in ("accuracy", "F1", "Pearson")]
    parts += [_pairs("accuracy"), _arrows("accuracy")]
    text = "\n\n".join("\n".join(part) for part in parts)
    print(text)
    before, _, rest = _PAGE.read_text("utf-8").partition("<!-- calibration -->\n")
    after = rest.partition("<!-- end of calibration -->")[2]
    _PAGE.write_text(f"{before}<!-- calibration -->\n{text}\n<!-- end of calibration -->{after}", "utf-8")
