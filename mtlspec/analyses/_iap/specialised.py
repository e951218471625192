"""What was measured of a model over its seeds: dissociations with their uncertainty, and sets of heads."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from mtlspec.analyses._iap.dissociation import Dissociation, Judged, judge
from mtlspec.analyses._iap.measure import COUNTS, FILE
from mtlspec.metrics.metric import Rows
from mtlspec.metrics.rebuild import rebuild_metric
from mtlspec.metrics.runs import Runs
from mtlspec.model.head_sets import Floats, Mask
from mtlspec.results.inference import Difference, above_zero
from mtlspec.results.jobs import AnalysisJob
from mtlspec.results.variants import Variant, variants


@dataclass(frozen=True)
class Specialised:
    """A model of T tasks and R runs. Scores are in percent, D is the number of random draws."""

    variant: Variant
    tasks: tuple[str, ...]
    heads: tuple[int, ...]  # of each layer
    base: Floats  # [R, T]
    masked: Floats  # [R, T, T]: without the heads of the first task, on the second
    random: Floats  # [R, D, T, T]: the same for random sets with as many heads in every layer
    sets: Mask  # [R, T, L, H]
    one_shot: Mask | None  # [R, T, L, H], where heads were found step by step: the top of the first ranking
    pulls: tuple[Floats, ...]  # of each task [R, its examples]: how an example moves the task's dissociation
    examples: tuple[tuple[tuple[str, int], ...], ...]  # of each task: (corpus, place)

    @cached_property
    def dissociation(self) -> Dissociation:
        """Of every run: [R, ...]."""
        return Dissociation.of(self.masked, self.base)

    @cached_property
    def by_random(self) -> Floats:
        """[R]: the mean dissociation of random sets."""
        return np.asarray(Dissociation.of(self.random, self.base[:, None]).average.mean(1))

    @cached_property
    def by_task(self) -> tuple[Difference, ...]:
        """Each task's dissociation, as a difference from zero."""
        found = self.dissociation.by_task
        return tuple(above_zero(Runs(found[:, place], own)) for place, own in enumerate(self.pulls))

    @cached_property
    def average_runs(self) -> Runs:
        """The average dissociation of every run, and what each example of any task does to it."""
        places: dict[tuple[str, int], int] = {}
        for own in self.examples:
            for example in own:
                places.setdefault(example, len(places))
        pulls = np.zeros((len(self.base), len(places)))
        for own, found in zip(self.examples, self.pulls, strict=True):
            index = [places[example] for example in own]
            pulls[:, index] += found * (len(places) / (len(own) * len(self.tasks)))
        return Runs(self.dissociation.average, pulls)

    @cached_property
    def average(self) -> Difference:
        return above_zero(self.average_runs)

    @cached_property
    def beyond_random(self) -> Difference:
        """The average dissociation minus that of random sets."""
        own = self.average_runs
        return above_zero(Runs(own.scores - self.by_random, own.pulls))

    @cached_property
    def judged(self) -> Judged:
        return judge(self.by_task, self.average)

    def stored(self) -> dict[str, Any]:
        """For programs: all numbers, seed by seed."""
        return {
            "model": self.variant.label,
            "group": self.variant.group,
            "tasks": list(self.tasks),
            "seeds": list(self.variant.seeds),
            "base": self.base.tolist(),
            "masked": self.masked.tolist(),
            "random": self.random.mean(1).tolist(),
            "pairs": self.dissociation.pairs.tolist(),
            "by_task": [one.stored() for one in self.by_task],
            "average": self.average.stored(),
            "beyond_random": self.beyond_random.stored(),
            "verdict": self.judged.verdict,
            "shown": self.judged.shown,
        }


def read(job: AnalysisJob) -> tuple[list[Specialised], dict[str, str]]:
    """Models of two tasks at least that can be ranked and scored; labels of the others -> why they are left out."""
    made, others = [], {}
    for variant in variants(job.models):
        places = [job.measurement(run) for run in variant.runs]
        facts = [json.loads((place / FILE).read_bytes()) for place in places]
        counts = [_arrays(place / COUNTS) for place in places]
        left_out, kept = dict(facts[0]["left_out"]), []
        for number, task in enumerate(facts[0]["tasks"] if len(facts[0]["tasks"]) > 1 else []):
            if all(_scores(own, facts[0], task)[0] > 0 for own in counts):
                kept.append(number)
            else:
                left_out[task] = "it scores nothing even with all heads"
        if len(kept) < 2:
            reasons = "; ".join(f"{task}: {why}" for task, why in left_out.items())
            others[variant.label] = reasons or "it learns one task"
        else:
            made.append(_specialised(variant, facts, counts, kept))
    return made, others


def _arrays(path: Path) -> dict[str, Rows]:
    with np.load(path, allow_pickle=False) as arrays:
        return {name: arrays[name] for name in arrays.files}


def _scores(counts: Mapping[str, Rows], facts: Mapping[str, Any], task: str) -> Floats:
    """Main scores of one run on one task, the whole model's first: [1 + T]."""
    metric = rebuild_metric(facts["metrics"][task])
    return np.asarray(metric.score_rows(counts[f"counts/{task}"])[metric.main], np.float64)


def _specialised(
    variant: Variant, facts: Sequence[Mapping[str, Any]], counts: Sequence[Mapping[str, Rows]], kept: Sequence[int]
) -> Specialised:
    """`kept` are the tasks (their numbers) that count."""
    first, maskings = facts[0], [0, *(1 + number for number in kept)]
    tasks, heads = tuple(first["tasks"][number] for number in kept), tuple(first["heads"])
    table, pulls = [], []  # of each task
    for place, task in enumerate(tasks):
        metric = rebuild_metric(first["metrics"][task])
        table.append(np.stack([_scores(own, first, task)[maskings] for own in counts]))  # [R, 1 + T]
        without = np.stack([metric.without_each(own[f"counts/{task}"][maskings]) for own in counts])
        pulls.append(_pulls(table[-1], np.asarray(without, np.float64), place))
    scores = np.stack(table, axis=-1)  # [R, 1 + T, T]
    sets, one_shot = (
        np.stack([_masks(own[name], heads)[kept] for own in facts]) if name in first else None
        for name in ("sets", "one_shot_sets")
    )
    assert sets is not None, "a measurement of several tasks has their sets"
    random = np.array([own["random"] for own in facts])[:, :, kept][:, :, :, kept]
    examples = tuple(
        tuple((str(first["corpora"][task]), int(row)) for row in counts[0][f"examples/{task}"]) for task in tasks
    )
    return Specialised(
        variant, tasks, heads, scores[:, 0], scores[:, 1:], random, sets, one_shot, tuple(pulls), examples
    )


def _pulls(scores: Floats, without: Floats, place: int) -> Floats:
    """The jackknife's: a task's scores [R, 1 + T] and those without each example [R, 1 + T, N] -> [R, N].

    An example without which nothing would be left to compare with pulls at nothing.
    """
    whole, fewer = (_dissociation(np.moveaxis(table, 1, 0), place) for table in (scores, without))
    pulls = (without.shape[-1] - 1) * (whole[:, None] - fewer)
    return np.where(np.isfinite(pulls), pulls, 0.0)


def _dissociation(table: Floats, place: int) -> Floats:
    """Of one task: its scores [1 + T, ...], the whole model's first -> [...]."""
    left = 100 * table[1:] / np.where(table[0] > 0, table[0], np.nan)
    return np.asarray((left.sum(0) - left[place]) / (len(left) - 1) - left[place])


def _masks(places: Sequence[Sequence[Sequence[int]]], heads: Sequence[int]) -> Mask:
    """Lists of (layer, head), counted from 1 -> bool [T, L, H]."""
    masks = np.zeros((len(places), len(heads), max(heads)), np.bool_)
    for number, own in enumerate(places):
        for layer, head in own:
            masks[number, layer - 1, head - 1] = True
    return masks
