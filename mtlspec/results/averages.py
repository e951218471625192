"""Averages over tasks: of models that learn the same tasks, and of single-task models taken together."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from mtlspec.errors import StageError
from mtlspec.metrics.runs import Floats, Runs
from mtlspec.results.comparisons import rows_of
from mtlspec.results.estimates import mean_and_std
from mtlspec.results.evaluations import Evaluations, seed_scores
from mtlspec.results.inference import Difference, difference_between
from mtlspec.results.lengths import Length, Lengths, length_of
from mtlspec.results.score_table import source_of
from mtlspec.results.tables import Cell, score_text
from mtlspec.results.variants import Variant

Further = Mapping[str, Sequence[str]]
"""Task -> scores beside its main one that count where tasks are compared with each other."""


@dataclass(frozen=True)
class Averaged:
    """A way of training all tasks: test scores by task, one for each seed, all tasks with the same seeds."""

    label: str
    scores: Mapping[str, tuple[float, ...]]
    variants: tuple[Variant, ...]  # one model, or single-task models
    pulls: Mapping[str, Floats]  # task -> [seeds, its examples]: how an example moves the score of a run
    further: Mapping[str, tuple[float, ...]] = field(default_factory=dict)  # scores that count in `sigmas` as well

    @property
    def source(self) -> str:
        return " · ".join(source_of(variant) for variant in self.variants)

    def averages(self, without: Collection[str] = ()) -> tuple[float, ...]:
        """Of every seed the mean over tasks, perhaps without some."""
        kept = [values for task, values in self.scores.items() if task not in without]
        return tuple(sum(values) / len(values) for values in zip(*kept, strict=True))

    def runs(self) -> Runs:
        """The averages with what every test example does to them.

        Tasks of as many examples may read the same ones, so what the first of each does is added up; where they do not,
        their sum scatters as much as it would one by one.
        """
        sizes = {task: pulls.shape[-1] for task, pulls in self.pulls.items()}
        every = sum(dict.fromkeys(sizes.values()))
        parts = []
        for size in dict.fromkeys(sizes.values()):
            own = [self.pulls[task] for task in sizes if sizes[task] == size]
            parts.append(np.sum(own, axis=0) * (every / (size * len(sizes))))
        return Runs(np.array(self.averages()), np.concatenate(parts, axis=-1))

    def sigmas(self) -> tuple[float, ...]:
        """Of every seed the sample standard deviation across tasks; 0 of a single score."""
        every = [*self.scores.values(), *self.further.values()]
        return tuple(mean_and_std(values)[1] or 0.0 for values in zip(*every, strict=True))

    def mean(self, task: str) -> float:
        values = self.scores[task]
        return sum(values) / len(values)

    def at_least(self, other: Averaged) -> int:
        """On how many tasks its mean is not below that of another."""
        return sum(self.mean(task) >= other.mean(task) for task in self.scores)

    def share_read(self, whole: Averaged, lengths: Lengths) -> float:
        """Of the examples that another way read, of every task at most all of them: from 0 to 1."""
        ours, theirs = _read(self, lengths), _read(whole, lengths)
        return sum(min(ours[task], theirs[task]) for task in self.scores) / sum(theirs[task] for task in self.scores)


def _read(row: Averaged, lengths: Lengths) -> dict[str, float]:
    """Task -> the examples that were read of it."""
    every: list[Length] = [length_of(variant, lengths) for variant in row.variants]
    return {task: max(one.tasks[task].examples for one in every if task in one.tasks) for task in row.scores}


def scored_tasks(found: Sequence[Variant], evaluations: Evaluations) -> tuple[str, ...]:
    """The tasks of the largest model whose test split gives a score."""
    largest = max(found, key=lambda variant: len(variant.learnt))
    evaluation = evaluations[largest.runs[0].evaluate]
    return tuple(task for task in largest.learnt if evaluation.is_scored(task))


def joint_rows(
    found: Sequence[Variant], evaluations: Evaluations, tasks: Sequence[str], further: Further
) -> tuple[Averaged, ...]:
    """The models that learn all of these tasks, which are more than one."""
    fitting = [variant for variant in found if len(variant.learnt) > 1 and set(tasks) <= set(variant.learnt)]
    return tuple(_row(variant.label, [variant], evaluations, tasks, further) for variant in fitting)


def single_row(
    found: Sequence[Variant], evaluations: Evaluations, tasks: Sequence[str], baseline: str, further: Further
) -> Averaged | None:
    """The single-task models of a group taken together; None if one is missing, or if there are several of a task."""
    own = [variant for variant in found if variant.group == baseline and variant.is_single]
    of_task = {task: [variant for variant in own if variant.tasks == (task,)] for task in tasks}
    if any(len(variants) != 1 for variants in of_task.values()):
        return None
    return _row(f"{baseline}: each task alone", [of_task[task][0] for task in tasks], evaluations, tasks, further)


def _row(
    label: str, variants: Sequence[Variant], evaluations: Evaluations, tasks: Sequence[str], further: Further
) -> Averaged:
    of_task = {task: next(variant for variant in variants if task in variant.learnt) for task in tasks}
    scores = {task: seed_scores(variant, task, evaluations) for task, variant in of_task.items()}
    more = {
        f"{task} {name}": _further(of_task[task], task, name, evaluations)
        for task, names in further.items()
        for name in names
        if task in of_task
    }
    fewest = min(map(len, scores.values()))
    cut = {task: values[:fewest] for task, values in scores.items()}
    pulls = {task: _pulls(variant, task, evaluations)[:fewest] for task, variant in of_task.items()}
    return Averaged(label, cut, tuple(variants), pulls, {name: values[:fewest] for name, values in more.items()})


def _pulls(variant: Variant, task: str, evaluations: Evaluations) -> Floats:
    metric = evaluations[variant.runs[0].evaluate].metric(task)
    pulls = Runs.of(metric, rows_of(variant, task, variant.seeds, evaluations)).pulls
    assert pulls is not None
    return pulls


def _further(variant: Variant, task: str, name: str, evaluations: Evaluations) -> tuple[float, ...]:
    known = evaluations[variant.runs[0].evaluate].scores[task]["test"]
    if name not in known:
        raise StageError("E563", f"task '{task}' has no score '{name}'", hint=f"known: {', '.join(sorted(known))}")
    return seed_scores(variant, task, evaluations, name)


def compared(row: Averaged, other: Averaged) -> Difference:
    """The averages of two ways of training: the default test, which knows seeds and test examples."""
    return difference_between(row.runs(), other.runs(), power=False)


def number_cell(values: Sequence[float], source: str, digits: int = 2) -> Cell:
    mean, std = mean_and_std(values)
    return Cell(score_text(mean, std, digits), mean, std, source=source, data={"seeds": list(values)})
