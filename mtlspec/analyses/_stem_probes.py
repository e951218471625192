"""What sets of heads know before and after training, by the hits of probes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from mtlspec.analyses._probes.best import SCORED, Floats
from mtlspec.analyses._probes.hits import ABOUT, Accuracies, read_hits
from mtlspec.results.lengths import EQUAL, Length, Times

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Known:
    """Of one model and task: the score of every head for every label, and which head comes first, second ... on dev."""

    scored: Floats  # [labels, heads of all layers]
    order: npt.NDArray[np.int64]  # the same shape: heads, the best first
    shape: tuple[int, int]  # layers, and heads of the widest

    @classmethod
    def of(cls, found: Accuracies, labels: npt.NDArray[np.int64], choosing: str) -> Known:
        chosen, scored = (found.values[split, "gold"][labels].reshape(len(labels), -1) for split in (choosing, SCORED))
        order = np.argsort(-np.nan_to_num(chosen, nan=-1.0), axis=1, kind="stable")
        layers, heads = found.values[SCORED, "gold"].shape[1:]
        return cls(scored, order, (layers, heads))

    def best_of(self, sets: Mask) -> Floats:
        """Sets of heads [D, layers, heads] -> the mean over labels of the score of each set's best head: [D]."""
        layers, heads = self.shape
        flat = sets[:, :layers, :heads].reshape(len(sets), -1)
        total = np.zeros(len(flat))
        for order, scored in zip(self.order, self.scored, strict=True):
            total += scored[order[flat[:, order].argmax(1)]]
        return total / len(self.scored)


@dataclass(frozen=True)
class Scores:
    """Probing accuracy of D sets of heads: means over labels of the best head's score."""

    before: Floats  # [D]: heads of the pre-trained encoder
    single: Floats  # [seeds, D]: after single-task training
    joint: Floats  # [seeds, D]: after training on all tasks

    @property
    def rise(self) -> Floats:
        """What single-task training adds: [seeds, D]."""
        return self.single - self.before

    @property
    def loss(self) -> Floats:
        """What joint training leaves out, compared with single-task training of the same seed: [seeds, D]."""
        return self.single - self.joint


@dataclass(frozen=True)
class Probed:
    """One task, probed in the encoder and in both kinds of models; seeds are those that both have."""

    task: str
    labels: int
    seeds: tuple[int, ...]
    before: Known
    single: tuple[Known, ...]
    joint: tuple[Known, ...]
    times: Times = EQUAL  # as long as single-task models joint ones were trained
    held_out: bool = True  # False: heads were chosen on the very data that they are scored on

    def scores(self, sets: Mask, seeds: Sequence[int] | None = None) -> Scores:
        """Those of sets of heads [D, layers, heads], of all seeds or of some."""
        places = [self.seeds.index(seed) for seed in (self.seeds if seeds is None else seeds)]
        single, joint = (
            np.stack([models[place].best_of(sets) for place in places]) for models in (self.single, self.joint)
        )
        return Scores(self.before.best_of(sets), single, joint)


def read_probed(directory: Path, single: str, joint: str) -> Iterator[Probed]:
    """Every task of one probe; tasks that lack one of the models, or labels with enough items, are left out."""
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
        if len(chosen) < 2 or not len(labels):
            continue
        seeds = [seed for seed in about["models"][chosen[single]]["seeds"] if (chosen[joint], seed, task) in hits]
        if not seeds:
            continue
        models = {
            group: tuple(Known.of(hits[name, seed, task], labels, about["choosing"]) for seed in seeds)
            for group, name in chosen.items()
        }
        yield Probed(
            task=task,
            labels=len(labels),
            seeds=tuple(seeds),
            before=Known.of(before, labels, about["choosing"]),
            single=models[single],
            joint=models[joint],
            times=_times(about["models"][chosen[joint]], about["models"][chosen[single]], layer),
            held_out=about["choosing"] != SCORED,
        )


def _times(ours: Mapping[str, Any], theirs: Mapping[str, Any], layer: str) -> Times:
    """As long as another model one was trained, on the layer that both learnt."""
    tasks = (next(task for task, learnt in model["layers"].items() if learnt == layer) for model in (ours, theirs))
    return Length.restored(ours["length"]).times(Length.restored(theirs["length"]), *tasks)


def common_seeds(probed: Sequence[Probed]) -> tuple[int, ...]:
    """The seeds that all tasks have."""
    return tuple(sorted(set.intersection(*(set(one.seeds) for one in probed)))) if probed else ()


def mean_scores(probed: Sequence[Probed], sets: Mask, seeds: Sequence[int]) -> Scores:
    """Means over tasks."""
    found = [one.scores(sets, seeds) for one in probed]
    before, single, joint = (
        np.mean([getattr(scores, name) for scores in found], axis=0) for name in ("before", "single", "joint")
    )
    return Scores(before, single, joint)
