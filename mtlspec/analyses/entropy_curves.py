"""Dev scores of tasks over training beside how unsure the model is of them: who is forgotten, and does it show?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import Field

from mtlspec.errors import StageError
from mtlspec.kinds import Sequence_
from mtlspec.spec.families import Needed
from mtlspec.spec.watched import Watched

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    import numpy.typing as npt

    from mtlspec.analyses._looks import Looked
    from mtlspec.results.findings import Figure
    from mtlspec.results.jobs import AnalysisJob
    from mtlspec.results.tables import Row, Table


class Options(Watched):
    """Of models of several tasks with `train.evaluate_every: {updates: 50, entropy: true}`. What a task loses between
    its best score and the end of training is what it forgets, or what it learns by heart."""

    type: Literal["entropy_curves"]
    needs: ClassVar[tuple[Needed, ...]] = ("train", "evaluate")
    asks_entropy: ClassVar[bool] = True
    tasks: Sequence_[str] = Field(
        default=(), description="The tasks to show, such as a small and a large one. Default: all that have entropies."
    )

    def run(self, job: AnalysisJob) -> Mapping[str, Any]:
        """Writes `tables/`, `figures/` and `analysis.json` below `out`; returns facts for the stage's record."""
        from mtlspec.analyses._looks import looked_at
        from mtlspec.results.evaluations import read_evaluations
        from mtlspec.results.findings import Findings
        from mtlspec.results.variants import variants

        looked = looked_at(variants(job.models), job.inputs, entropy=True)
        evaluations = read_evaluations([one.variant for one in looked], job.inputs)
        found = []
        for one in looked:
            mains = {task: evaluations[one.variant.runs[0].evaluate].main(task) for task in one.variant.learnt}
            found.append(Unsure(one, tuple(_courses(one, mains, self.tasks))))
        if not any(one.courses for one in found):
            hint = f"tasks with entropies: {', '.join(looked[0].seeds[0][0].entropy)}"
            raise StageError("E948", "none of the tasks that are asked for has dev scores and entropies", hint=hint)
        findings = Findings(
            type=self.type,
            title="Dev scores and entropies over training",
            summary=tuple(map(_sentence, found)),
            tables=(_table(found),),
            figures=tuple(_draw(one, job.out / "figures") for one in found),
            numbers={one.looked.variant.slug: one.numbers() for one in found},
        )
        findings.write(job.out)
        return {"models": len(found)}


@dataclass(frozen=True)
class Course:
    """One task of a model over the updates: dev scores and entropies in percent, [seeds, looks] each."""

    task: str
    metric: str
    scores: npt.NDArray[np.float64]
    entropies: npt.NDArray[np.float64]

    def losses(self) -> list[float]:
        """Of every seed what is lost between its best score and the end."""
        return [float(own.max() - own[-1]) for own in self.scores]


@dataclass(frozen=True)
class Unsure:
    """A model and the tasks of it that are shown."""

    looked: Looked
    courses: tuple[Course, ...]

    def numbers(self) -> dict[str, Any]:
        tasks = {
            one.task: {"scores": one.scores.tolist(), "entropies": one.entropies.tolist(), "lost": one.losses()}
            for one in self.courses
        }
        return {"updates": self.looked.updates.tolist(), "tasks": tasks}


def _courses(one: Looked, mains: Mapping[str, str], wanted: Sequence[str]) -> list[Course]:
    """Of the tasks that have both, in the order of the model."""
    import numpy as np

    found = []
    for task, metric in mains.items():
        scores = one.values(lambda look, task=task, metric=metric: look.scores.get(task, {}).get(metric))  # type: ignore[misc]
        entropies = 100 * one.values(lambda look, task=task: look.entropy.get(task))  # type: ignore[misc]
        if (not wanted or task in wanted) and np.isfinite([scores, entropies]).all():
            found.append(Course(task, metric, scores, entropies))
    return found


def _sentence(one: Unsure) -> str:
    lost = {course.task: sum(course.losses()) / len(course.losses()) for course in one.courses}
    if not lost:
        return f"{one.looked.variant.label}: none of the tasks has dev scores and entropies."
    most, least = max(lost, key=lambda task: lost[task]), min(lost, key=lambda task: lost[task])
    ends = {course.task: float(course.entropies[:, -1].mean()) for course in one.courses}
    unsure = max(ends, key=lambda task: ends[task])
    told = f"{one.looked.variant.label}: between its best score and the end {most} loses {lost[most]:.1f} points"
    others = f", {least} {lost[least]:.1f}" if least != most else ""
    sure = f"{unsure} ({ends[unsure]:.0f} % of the largest entropy)"
    return f"{told}{others}; in the end the model is least sure of {sure}."


def _table(found: Sequence[Unsure]) -> Table:
    from mtlspec.results.averages import number_cell
    from mtlspec.results.tables import Cell, Table

    sections = []
    for one in found:
        lines: list[Row] = []
        source = " · ".join(run.train for run in one.looked.variant.runs)
        for course in one.courses:
            best = [float(own.max()) for own in course.scores]
            at = [float(one.looked.updates[own.argmax()]) for own in course.scores]
            ends = [float(own[-1]) for own in course.scores]
            first, last = (course.entropies[:, place].tolist() for place in (0, -1))
            lines.append(
                (
                    Cell(f"{course.task} ({course.metric})", course.task, source=source),
                    number_cell(best, source),
                    number_cell(at, source, 0),
                    number_cell(ends, source),
                    number_cell(course.losses(), source),
                    number_cell(first, source, 1),
                    number_cell(last, source, 1),
                )
            )
        sections.append((one.looked.variant.label, tuple(lines)))
    caption = (
        "Dev scores in percent, mean ± sample standard deviation over seeds: the best one on the way, when that was, "
        "the one at the end, and what was lost between them. Entropy of the dev predictions in percent of the largest "
        "possible one, at the first look and at the end. The best of many looks is better than it would be again."
    )
    columns = ("task", "best", "at update", "end", "lost", "entropy at first", "entropy at the end")
    return Table("entropy_curves", "Dev scores and entropies over training", caption, columns, tuple(sections))


def _draw(one: Unsure, directory: Path) -> Figure:
    from mtlspec.results.figures import CYCLE, GRID, drawing
    from mtlspec.results.findings import Figure

    name = f"entropy_{one.looked.variant.slug}"
    rows = -(-len(one.courses) // 2)
    with drawing(directory, name, 4.6, 2.9 + 0.4 * rows) as axes:
        for number, course in enumerate(one.courses):
            colour, updates = CYCLE[number % len(CYCLE)], one.looked.updates
            axes.plot(updates, course.scores.mean(0), color=colour, linewidth=1.6, label=f"{course.task}: score")
            dashed = course.entropies.mean(0)
            axes.plot(updates, dashed, color=colour, linewidth=1.2, linestyle="dashed", label=f"{course.task}: entropy")
        axes.set_xlabel("update")
        axes.set_ylabel("percent")
        axes.grid(color=GRID, alpha=0.25, linewidth=0.6)
        axes.figure.legend(loc="outside lower center", ncols=2)
    caption = "Dev scores, and the entropy of dev predictions in percent of the largest possible one; means over seeds."
    return Figure(name, f"Scores and entropies: {one.looked.variant.label}", caption)
