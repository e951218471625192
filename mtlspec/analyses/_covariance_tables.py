"""Covariance similarities of tasks beside the changes of their scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mtlspec.analyses._covariance import FILE, Matrix, Similarity, read_factors, similarity
from mtlspec.results.estimates import mean_and_std
from mtlspec.results.evaluations import read_evaluations, seed_scores
from mtlspec.results.figures import CYCLE, GRID, drawing
from mtlspec.results.findings import Figure
from mtlspec.results.jobs import AnalysisJob
from mtlspec.results.tables import Cell, Table, score_text, signed
from mtlspec.results.variants import Variant, variants


@dataclass(frozen=True)
class Point:
    """A task in a model: how similar it is to the model's other tasks, on average, seed by seed."""

    model: str
    task: str
    similar: tuple[Similarity, ...]
    alone: tuple[Similarity, ...]  # the same among single-task models
    change: float | None  # of its score against the single-task model, in percent of that

    @property
    def mean(self) -> float:
        return _mean([one.relative for one in self.similar])

    @property
    def mean_alone(self) -> float | None:
        return _mean([one.relative for one in self.alone]) if self.alone else None

    def numbers(self) -> dict[str, Any]:
        sides = {"similar": [list(one) for one in self.similar], "alone": [list(one) for one in self.alone]}
        return {"model": self.model, "task": self.task, **sides, "change": self.change}


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def relative_change(now: float, before: float) -> float | None:
    """In percent of what was; a correlation may be below zero, and then a fall is a fall all the same."""
    return 100 * (now - before) / abs(before) if before else None


def points(job: AnalysisJob, baseline: str, kept: float) -> tuple[Point, ...]:
    found = variants(job.models)
    evaluations = read_evaluations(found, job.inputs)
    factors = {
        run.name: read_factors(str(job.measurement(run) / FILE), kept) for variant in found for run in variant.runs
    }
    singles = {variant.tasks[0]: variant for variant in found if variant.group == baseline and variant.is_single}
    made = []
    for variant in found:
        for task in variant.learnt if len(variant.learnt) > 1 else ():
            others = [factors[run.name] for run in variant.runs]
            single = singles.get(task)
            change = None
            if single is not None and (ours := seed_scores(variant, task, evaluations)):
                change = relative_change(_mean(ours), _mean(seed_scores(single, task, evaluations)))
            alone = _alone(task, variant.learnt, singles, factors)
            made.append(Point(variant.label, task, tuple(_average(task, own) for own in others), alone, change))
    return tuple(made)


def _alone(
    task: str, tasks: Sequence[str], singles: Mapping[str, Variant], factors: Mapping[str, Mapping[str, Matrix]]
) -> tuple[Similarity, ...]:
    """Of single-task models of all these tasks, for the seeds that all of them have; none if one is missing."""
    if any(other not in singles for other in tasks):
        return ()
    of_seed = {other: {run.seed: factors[run.name][other] for run in singles[other].runs} for other in tasks}
    seeds = [seed for seed in of_seed[task] if all(seed in own for own in of_seed.values())]
    return tuple(_average(task, {other: of_seed[other][seed] for other in tasks}) for seed in seeds)


def _average(task: str, factors: Mapping[str, Matrix]) -> Similarity:
    """Of a task to all others."""
    found = [similarity(factors[task], other) for name, other in factors.items() if name != task]
    return Similarity(*(_mean([one[side] for one in found]) for side in (0, 1)))


def summary(found: Sequence[Point], baseline: str) -> tuple[str, ...]:
    told = []
    for model in dict.fromkeys(point.model for point in found):
        own = [point for point in found if point.model == model]
        known = [(point.mean, alone) for point in own if (alone := point.mean_alone) is not None]
        changes = [point.change for point in own if point.change is not None]
        said = f"{model}: tasks have a similarity of {_mean([point.mean for point in own]):.3f} on average"
        if known:
            more = sum(here > alone for here, alone in known)
            said += f", more than among the models of {baseline} for {more} of {len(known)} tasks"
        if changes:
            said += f"; {sum(change > 0 for change in changes)} of {len(changes)} score higher than alone"
        told.append(f"{said}.")
    return tuple(told) or ("No model of several tasks was measured.",)


def _cell(found: Sequence[Similarity], side: int) -> Cell:
    if not found:
        return Cell("–")
    values = [one[side] for one in found]
    mean, std = mean_and_std(values)
    return Cell(score_text(mean, std, 3), mean, std, data={"seeds": values})


def table(found: Sequence[Point], baseline: str) -> Table:
    sections = []
    for model in dict.fromkeys(point.model for point in found):
        lines = []
        for point in (point for point in found if point.model == model):
            change = Cell("–") if point.change is None else Cell(signed(point.change), point.change)
            sides = (_cell(side, number) for number in (1, 0) for side in (point.similar, point.alone))
            lines.append((Cell(point.task, point.task), *sides, change))
        sections.append((model, tuple(lines)))
    caption = (
        "Mean similarity of a task's covariance, of what the first layer reads, to those of the other tasks, mean ± "
        f"sample standard deviation over seeds: in the model, and among the single-task models of {baseline}. "
        "Relative: 1 for the same input. CovSim: as the paper prints it (Eq. 7), which stays below 1 for the same "
        "input unless that has one direction only. Change: of the test score against the single-task model, in percent "
        "of that (of its size, where a correlation is below zero); it is not tested here."
    )
    columns = ("task", "relative", "relative, alone", "CovSim", "CovSim, alone", "change (%)")
    return Table("covsim", "Covariance similarity", caption, columns, tuple(sections))


def draw(found: Sequence[Point], directory: Path) -> tuple[Figure, ...]:
    """Changes of scores against similarities, one colour a model."""
    known = [(point, point.change) for point in found if point.change is not None]
    if not known:
        return ()
    models = list(dict.fromkeys(point.model for point, _ in known))
    with drawing(directory, "covsim", 4.6, 3.1 + 0.2 * len(models)) as axes:
        axes.axhline(0.0, color=GRID, linewidth=0.8)
        for number, model in enumerate(models):
            own = [(point, change) for point, change in known if point.model == model]
            x, y = [point.mean for point, _ in own], [change for _, change in own]
            axes.scatter(x, y, color=CYCLE[number % len(CYCLE)], label=model, s=18)
            for (point, change), at in zip(own, x, strict=True):
                axes.annotate(point.task, (at, change), xytext=(3, 3), textcoords="offset points", fontsize=8)
        axes.set_xlabel("similarity to other tasks (relative)")
        axes.set_ylabel("change of the score (%)")
        axes.figure.legend(loc="outside lower center", ncols=1)
    caption = "A point a task and model: its similarity to the model's other tasks, and what its score gained or lost."
    return (Figure("covsim", "Scores and covariance similarity", caption),)
