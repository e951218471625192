"""The three claims behind the stem cell hypothesis, each as a number with its uncertainty."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt

from mtlspec.analyses._gates import Gated
from mtlspec.analyses._probes.best import SCORED, Floats
from mtlspec.analyses._probes.hits import ABOUT, Accuracies, read_hits
from mtlspec.errors import StageError
from mtlspec.results.estimates import t_interval
from mtlspec.results.kept import kept_heads

Mask = npt.NDArray[np.bool_]
Shown = Literal["shown", "contradicted", "open"]
Verdict = Literal["supported", "not supported", "not enough evidence"]


@dataclass(frozen=True)
class Common:
    """Which tasks use which heads: used bool [tasks, layers, heads] (kept in more than half of a task's runs)."""

    tasks: tuple[str, ...]
    used: Mask
    least: int
    expected: float  # stem cells by chance, on average over shuffles within layers
    p: float  # share of shuffles with at least as many
    p_fewer: float  # share of shuffles with at most as many
    most: int  # stem cells if tasks that keep as many heads of each layer agreed as far as they can
    p_most: float  # share of shuffles with as many as that

    @property
    def stem(self) -> Mask:
        """bool [layers, heads]"""
        return np.asarray(self.used.sum(0) >= self.least)


def common_heads(gated: Sequence[Gated], least: int, draws: int, seed: int) -> Common:
    """Heads that at least `least` tasks keep, against tasks that keep as many heads of each layer at random."""
    by_task: dict[str, Mask] = {}
    for one in gated:  # of several values of lambda, the first speaks for its task
        by_task.setdefault(one.variant.tasks[0], kept_heads(one.gates).mean(0) > 0.5)
    if len(by_task) < max(2, least):
        have = "1 task has" if len(by_task) == 1 else f"{len(by_task)} tasks have"
        raise StageError(
            "E461",
            f"{have} gated models, but stem cells are heads of at least {max(2, least)} tasks",
            hint="name groups of single-task models with `sharing: l0`, or lower `tasks_at_least`",
        )
    used = np.stack(list(by_task.values()))
    observed = int((used.sum(0) >= least).sum())
    random = np.random.default_rng(seed)
    counts = np.array([(random.permuted(used, axis=2).sum(0) >= least).sum() for _ in range(draws)])
    most = sum(most_in_common(layer.sum(1).tolist(), layer.shape[1], least) for layer in used.transpose(1, 0, 2))
    reached = (counts >= observed, counts <= observed, counts >= most)
    p, fewer, p_most = ((1 + int(found.sum())) / (1 + draws) for found in reached)
    return Common(tuple(by_task), used, least, float(counts.mean()), p, fewer, most, p_most)


def most_in_common(kept: Sequence[int], heads: int, least: int) -> int:
    """The greatest number of heads that `least` tasks each can share, if task t keeps kept[t] of them."""
    fitting = (number for number in range(heads, 0, -1) if sum(min(own, number) for own in kept) >= least * number)
    return next(fitting, 0)


@dataclass(frozen=True)
class Change:
    """Probing accuracy of one task before and after training: means over labels of the best head's score.

    Arrays are [seeds]; the seeds are those that single-task and joint models share.
    """

    task: str
    labels: int
    seeds: tuple[int, ...]
    before: float  # stem cells of the pre-trained encoder
    single: Floats  # the same heads after single-task training
    joint: Floats  # and after training on all tasks
    others: tuple[float, float, float]  # all other heads: before, single, joint
    held_out: bool = True  # False: heads were chosen on the very data that they are scored on


def probe_changes(directory: Path, stem: Mask, single: str, joint: str) -> Iterator[Change]:
    """The changes of every task of one probe; tasks that lack one of the models are left out."""
    about = json.loads((directory / ABOUT).read_bytes())
    hits = read_hits(directory)
    for task, layer in about["probed"].items():
        chosen: dict[str, str] = {}
        for name, model in about["models"].items():
            wanted = model["group"] == single and len(model["layers"]) == 1
            if layer in model["layers"].values() and (wanted or model["group"] == joint):
                chosen.setdefault(model["group"], name)
        before = hits["pretrained", 0, task]
        least = np.minimum(before.counts[about["choosing"]], before.counts[SCORED])
        labels = np.flatnonzero(least >= about["least"])
        if len(chosen) < 2 or not len(labels) or not stem.any() or stem.all():
            continue
        seeds = [seed for seed in about["models"][chosen[single]]["seeds"] if (chosen[joint], seed, task) in hits]

        def score(found: Accuracies, heads: Mask, labels: npt.NDArray[np.int64] = labels) -> float:
            return _best_among(found, heads, labels, about["choosing"])

        single_hits = [hits[chosen[single], seed, task] for seed in seeds]
        joint_hits = [hits[chosen[joint], seed, task] for seed in seeds]
        yield Change(
            task=task,
            labels=len(labels),
            seeds=tuple(seeds),
            before=score(before, stem),
            single=np.array([score(found, stem) for found in single_hits]),
            joint=np.array([score(found, stem) for found in joint_hits]),
            others=(
                score(before, ~stem),
                float(np.mean([score(found, ~stem) for found in single_hits])),
                float(np.mean([score(found, ~stem) for found in joint_hits])),
            ),
            held_out=about["choosing"] != SCORED,
        )


def _best_among(found: Accuracies, heads: Mask, labels: npt.NDArray[np.int64], choosing: str) -> float:
    """The mean over labels of the score of the best of these heads, chosen on one split and scored on test."""
    layers, width = found.values[choosing, "gold"].shape[1:]
    inside = heads[:layers, :width]
    chosen = np.nan_to_num(found.values[choosing, "gold"][labels][:, inside], nan=-1.0)
    scored = found.values[SCORED, "gold"][labels][:, inside]
    return float(scored[np.arange(len(labels)), chosen.argmax(1)].mean())


@dataclass(frozen=True)
class Claim:
    statement: str
    estimate: str
    test: str
    shown: Shown


def claims(common: Common, changes: Sequence[Change], alpha: float) -> tuple[Claim, ...]:
    """Heads in common; they specialise in single-task training; they lose by joint training."""
    stem = int(common.stem.sum())
    lacking = "no task was probed before, after single-task and after joint training"
    if stem in (0, common.stem.size):
        lacking = "no head is a stem cell" if stem == 0 else "every head is a stem cell, so none stands out"
    shown: Shown = "shown" if common.p < alpha else ("contradicted" if common.p_fewer < alpha else "open")
    test = f"by chance {common.expected:.1f}, p = {common.p:.3f} (heads shuffled within layers)"
    if common.p_most >= alpha:  # no agreement, however close, would pass: what is seen says nothing either way
        shown = "open"
        test += f"; no test: so many heads are kept that chance reaches the most possible, {common.most}"
    made = [
        Claim(
            f"More heads than chance are used by at least {common.least} of {len(common.tasks)} tasks",
            f"{stem} of {common.stem.size} heads",
            test,
            shown,
        )
    ]
    made.append(
        _interval_claim("Single-task training raises what these heads know", changes, alpha, lacking, rising=True)
    )
    made.append(
        _interval_claim("Joint training leaves them below single-task training", changes, alpha, lacking, rising=False)
    )
    return tuple(made)


def _interval_claim(statement: str, changes: Sequence[Change], alpha: float, lacking: str, *, rising: bool) -> Claim:
    """`rising`: single minus before should be above 0; otherwise joint minus single below 0. Paired by seed."""
    seeds = sorted(set.intersection(*(set(change.seeds) for change in changes))) if changes else []
    if not seeds:
        return Claim(statement, "–", lacking, "open")
    per_seed = np.array(
        [
            np.mean(
                [
                    change.single[change.seeds.index(seed)] - change.before
                    if rising
                    else change.joint[change.seeds.index(seed)] - change.single[change.seeds.index(seed)]
                    for change in changes
                ]
            )
            for seed in seeds
        ]
    )
    mean = float(per_seed.mean())
    estimate = f"{mean:+.2f} points".replace("-", "−")
    interval = t_interval(per_seed.tolist(), alpha)
    if interval is None:
        return Claim(statement, estimate, "one seed: no interval", "open")
    low, high = interval
    text = f"{100 * (1 - alpha):g} % interval {low:+.2f} to {high:+.2f} over {len(seeds)} seeds".replace("-", "−")
    above, below = low > 0, high < 0
    shown: Shown = (
        "shown" if (above if rising else below) else ("contradicted" if (below if rising else above) else "open")
    )
    return Claim(statement, estimate, text, shown)


def verdict(made: Sequence[Claim]) -> Verdict:
    """The hypothesis needs all of its claims; one that is contradicted refutes it."""
    if any(claim.shown == "contradicted" for claim in made):
        return "not supported"
    return "supported" if all(claim.shown == "shown" for claim in made) else "not enough evidence"
