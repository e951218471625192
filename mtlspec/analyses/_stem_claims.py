"""The three claims behind the stem cell hypothesis, each with its tests, and the verdict.

Training raises what all heads know, and joint training lowers it, so a change of stem cells says nothing alone.
A claim is shown only if all of its tests carry it: the change over seeds, the change beyond that of other heads over
seeds, and the change beyond that of random sets with as many heads in every layer. It is refuted over seeds, by a
change to the other side, or where stem cells differ from other heads by certainly less than what would matter.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

import numpy as np

from mtlspec.analyses._stem_cells import Common, Floats, Mask
from mtlspec.analyses._stem_probes import Probed, Scores, common_seeds, mean_scores
from mtlspec.metrics.student import t_tail
from mtlspec.results.contrast import beside_random, same_counts
from mtlspec.results.estimates import t_interval
from mtlspec.results.tables import interval_text, signed

Shown = Literal["shown", "contradicted", "too small", "open"]
Verdict = Literal["supported", "not supported", "not enough evidence"]
COMMON = "Any {least} of the {tasks} tasks have more heads in common than chance gives"
RISE = "Single-task training raises what these heads know, and more than what other heads know"
LOSS = "Joint training leaves these heads below single-task training, and further below than other heads"


@dataclass(frozen=True)
class Evidence:
    """One test of a claim: what is compared, the estimate with its uncertainty, and what follows."""

    against: str
    estimate: str
    uncertainty: str
    shown: Shown
    over_seeds: bool = True  # else shuffles or random sets, which know nothing of seeds and so refute nothing alone
    numbers: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Claim:
    statement: str
    tests: tuple[Evidence, ...]

    @property
    def shown(self) -> Shown:
        """All tests must carry a claim; one over seeds refutes it, by the other sign or by too little."""
        if any(test.shown == "contradicted" for test in self.tests if test.over_seeds):
            return "contradicted"
        if any(test.shown == "too small" for test in self.tests):
            return "too small"
        return "shown" if all(test.shown == "shown" for test in self.tests) else "open"

    def stored(self) -> dict[str, Any]:
        return {**asdict(self), "shown": self.shown}


def claims(
    common: Common, probed: Sequence[Probed], alpha: float, matters: float, draws: int, seed: int
) -> tuple[Claim, ...]:
    """Heads in common; they gain more than others by single-task training; they lose more than others by joint."""
    stem = int(common.stem.sum())
    statement = COMMON.format(least=common.least, tasks=len(common.tasks))
    first = Claim(statement, (_beyond_shuffles(common, alpha), _over_seeds_beyond(common, alpha)))
    lacking = "" if common_seeds(probed) else "no task was probed before, after single-task and after joint training"
    if stem in (0, int(common.there.sum())):
        lacking = "no head is a stem cell" if stem == 0 else "every head is a stem cell, so none stands out"
    if lacking:
        nothing = (Evidence("–", "–", lacking, "open"),)
        return first, Claim(RISE, nothing), Claim(LOSS, nothing)
    rise, loss = changes_of_sets(common.stem, common.there, probed, draws, seed)
    second = Claim(RISE, contrasted(rise, alpha, matters, "points"))
    return first, second, Claim(LOSS, contrasted(loss, alpha, matters, "points lost"))


def _beyond_shuffles(common: Common, alpha: float) -> Evidence:
    shown: Shown = "shown" if common.p < alpha else ("contradicted" if common.p_fewer < alpha else "open")
    text = f"by chance {common.expected:.1f}, p = {common.p:.3f}"
    if common.p_most >= alpha:  # no agreement, however close, would pass: what is seen says nothing either way
        shown = "open"
        text += f"; no test: so many heads are kept that chance reaches the most possible, {common.most:.1f}"
    numbers = {"observed": common.shared, "expected": common.expected, "p": common.p, "p_fewer": common.p_fewer}
    estimate = f"{common.shared:.1f} of {common.there.sum()} heads"
    return Evidence("each task's heads shuffled within layers", estimate, text, shown, False, numbers)


def _over_seeds_beyond(common: Common, alpha: float) -> Evidence:
    name = "the same in each seed's own models"
    if not len(common.beyond):
        return Evidence(name, "–", "no seed that all tasks have", "open")
    test = _interval_test(name, common.beyond, alpha, "heads beyond chance")
    return test if common.p_most < alpha else replace(test, shown="open")


@dataclass(frozen=True)
class Changes:
    """A change that a claim says is large, of stem cells and of what they are compared with."""

    stem: Floats  # [seeds]
    beyond_others: Floats  # [seeds]; empty if no layer has both stem cells and others
    beyond_rest: float  # minus the change of all heads outside, mean over seeds
    random: Floats  # [draws]: the same of random sets with as many heads in every layer


def changes_of_sets(
    stem: Mask, there: Mask, probed: Sequence[Probed], draws: int, seed: int
) -> tuple[Changes, Changes]:
    """The rise by single-task training, and the loss by joint training.

    The best of many heads is better than the best of few. So stem cells and others meet in equal numbers: as many of
    either as the scarcer have in that layer, drawn at random; means over draws. Random sets are as large as the
    set of stem cells, and so is what is outside of them. There the difference counts: a set with one stem cell may
    change like all of them together, but then others are outside.
    """
    seeds = common_seeds(probed)
    sets = np.concatenate([stem[None], same_counts(stem, there)(draws, seed)])
    inside, outside = (mean_scores(probed, chosen, seeds) for chosen in (sets, there & ~sets))
    equal = np.minimum(stem.sum(1), (there & ~stem).sum(1))
    wanted = np.arange(stem.shape[1]) < equal[:, None]
    sides: list[Scores] = []
    if equal.any():
        sides = [mean_scores(probed, same_counts(wanted, side)(draws, seed), seeds) for side in (stem, there & ~stem)]

    def changes(name: Literal["rise", "loss"]) -> Changes:
        means = [getattr(side, name).mean(1) for side in sides]
        beyond = means[0] - means[1] if means else np.zeros(0)
        own, rest = getattr(inside, name), getattr(outside, name)
        contrast = (own - rest).mean(0)
        return Changes(own[:, 0], beyond, float(contrast[0]), contrast[1:])

    return changes("rise"), changes("loss")


def contrasted(changes: Changes, alpha: float, matters: float, unit: str) -> tuple[Evidence, ...]:
    """The change alone, beyond that of other heads, and beyond that of random sets."""
    others = "minus other heads, as many of each layer"
    beside = beside_random(changes.beyond_rest, changes.random, alpha=alpha)
    verdicts: dict[str, Shown] = {"supported": "shown", "contradicted": "contradicted", "open": "open"}
    return (
        _interval_test("stem cells alone", changes.stem, alpha, unit),
        _interval_test(others, changes.beyond_others, alpha, unit, matters=matters)
        if len(changes.beyond_others)
        else Evidence(others, "–", "no layer has both stem cells and others", "open"),
        Evidence(
            "minus all heads outside, beside random sets with as many heads in each layer",
            f"{signed(beside.observed)} {unit}",
            f"p = {beside.p:.3f}; random sets {signed(beside.mean)}, 95 % of them {interval_text(beside.interval)}",
            verdicts[beside.verdict],
            False,
            beside.stored(),
        ),
    )


def _interval_test(against: str, per_seed: Floats, alpha: float, unit: str, *, matters: float = 0.0) -> Evidence:
    """Student's interval of the mean over seeds must lie above zero; one-sided tests against what matters refute."""
    values = per_seed.tolist()
    estimate = f"{signed(float(per_seed.mean()))} {unit}"
    interval = t_interval(values, alpha)
    if interval is None:
        return Evidence(against, estimate, "one seed: no interval", "open", numbers={"seeds": values})
    text = f"{100 * (1 - alpha):g} % interval {interval_text(interval)} over {len(values)} seeds"
    shown: Shown = "shown" if interval[0] > 0 else ("contradicted" if interval[1] < 0 else "open")
    numbers = {"seeds": values, "interval": list(interval)}
    if matters:
        numbers["p_matters"] = p = _p_of_at_least(matters, per_seed)
        text += f"; that it is {matters:g} or more: p = {p:.3f}"
        if p < alpha and shown != "contradicted":
            shown = "too small"
    return Evidence(against, estimate, text, shown, numbers=numbers)


def _p_of_at_least(matters: float, per_seed: Floats) -> float:
    """Student's one-sided test of means over seeds that are at least as large as what matters."""
    error = float(per_seed.std(ddof=1)) / math.sqrt(len(per_seed))
    below = matters - float(per_seed.mean())
    if error == 0:
        return 0.0 if below > 0 else 1.0
    half = t_tail(abs(below) / error, len(per_seed) - 1) / 2
    return half if below > 0 else 1 - half


def verdict(made: Sequence[Claim]) -> Verdict:
    """The hypothesis needs all of its claims; one that is contradicted, or true of too little, refutes it."""
    if any(claim.shown in ("contradicted", "too small") for claim in made):
        return "not supported"
    return "supported" if all(claim.shown == "shown" for claim in made) else "not enough evidence"
