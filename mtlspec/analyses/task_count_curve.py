"""Do models gain or lose as they learn more tasks? The average of the tasks that the smallest has, by their number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from mtlspec.errors import StageError
from mtlspec.spec.several_tasks import SeveralTasks

if TYPE_CHECKING:
    from pathlib import Path

    from mtlspec.results.averages import Averaged
    from mtlspec.results.findings import Figure
    from mtlspec.results.jobs import AnalysisJob
    from mtlspec.results.tables import Table


class Options(SeveralTasks):
    """Takes the tasks of the smallest model of several tasks, the first where there are many, and all models that learn
    these and perhaps more: groups with `tasks: {type: listed, ...}`, or all tasks beside some of them."""

    type: Literal["task_count_curve"]

    def run(self, job: AnalysisJob) -> Mapping[str, Any]:
        """Writes `tables/`, `figures/` and `analysis.json` below `out`; returns facts for the stage's record."""
        from mtlspec.results import averages as made
        from mtlspec.results.evaluations import read_evaluations
        from mtlspec.results.findings import Findings
        from mtlspec.results.variants import variants

        found = [variant for variant in variants(job.models) if len(variant.learnt) > 1]
        evaluations = read_evaluations(found, job.inputs)
        smallest = min(found, key=lambda variant: len(variant.learnt), default=None)
        evaluated = evaluations[smallest.runs[0].evaluate] if smallest is not None else None
        scored = [task for task in smallest.learnt if evaluated.is_scored(task)] if smallest and evaluated else []
        if not scored:
            raise StageError("E566", "no model learns several tasks with scores", hint="name one that does in `models`")
        rows = made.joint_rows(found, evaluations, scored, {})
        findings = Findings(
            type=self.type,
            title="Number of tasks",
            summary=_summary(rows, scored),
            tables=(_table(rows, scored),),
            figures=_draw(rows, job.out / "figures"),
            numbers={"common": scored, "points": [_point(row) for row in rows]},
        )
        findings.write(job.out)
        return {"points": len(rows), "common": len(scored)}


def _lines(rows: Sequence[Averaged]) -> dict[str, list[Averaged]]:
    """Ways of training, group and point of a sweep, each with its models by number of tasks."""
    found: dict[str, list[Averaged]] = {}
    for row in sorted(rows, key=_count):
        (variant,) = row.variants
        found.setdefault(f"{variant.group}{variant.point}", []).append(row)
    return found


def _count(row: Averaged) -> int:
    return len(row.variants[0].learnt)


def _mean(row: Averaged) -> float:
    averages = row.averages()
    return sum(averages) / len(averages)


def _point(row: Averaged) -> dict[str, Any]:
    return {"model": row.label, "tasks": _count(row), "averages": list(row.averages())}


def _summary(rows: Sequence[Averaged], common: Sequence[str]) -> tuple[str, ...]:
    from mtlspec.results.tables import signed

    told = []
    for name, own in _lines(rows).items():
        first, last = own[0], own[-1]
        if _count(first) < _count(last):
            change = signed(_mean(last) - _mean(first))
            told.append(
                f"{name}: from {_count(first)} to {_count(last)} tasks, the average changes by {change} points."
            )
    if told:
        return tuple(told)
    return (f"No way of training has models of different numbers of tasks with {', '.join(common)}.",)


def _table(rows: Sequence[Averaged], common: Sequence[str]) -> Table:
    from mtlspec.results.averages import number_cell
    from mtlspec.results.tables import Cell, Table

    sections = tuple(
        (
            name,
            tuple(
                (
                    Cell(row.label, row.label, source=row.source),
                    Cell(str(_count(row)), _count(row)),
                    number_cell(row.averages(), row.source),
                )
                for row in own
            ),
        )
        for name, own in _lines(rows).items()
    )
    caption = (
        f"Average of the test scores of {', '.join(common)} in percent, mean ± sample standard deviation over seeds, "
        "of models that learn all of these. More tasks are more updates, too, unless `train.updates: total`."
    )
    return Table("task_count", "Number of tasks", caption, ("model", "tasks", "average"), sections)


def _draw(rows: Sequence[Averaged], directory: Path) -> tuple[Figure, ...]:
    import numpy as np

    from mtlspec.results.estimates import mean_and_std
    from mtlspec.results.figures import Line, curves
    from mtlspec.results.findings import Figure

    lines = []
    for name, own in _lines(rows).items():
        x = np.array([_count(row) for row in own], np.float64)
        known = [mean_and_std(row.averages()) for row in own]
        y, spread = (np.array(side, np.float64) for side in zip(*((m, s or 0.0) for m, s in known), strict=True))
        lines.append(Line(name, x, y, y - spread, y + spread))
    curves(directory, "task_count", lines, x_title="tasks", y_title="average score (%)")
    return (
        Figure(
            "task_count",
            "Number of tasks",
            "Average of the tasks of the smallest model; bands: one standard deviation.",
        ),
    )
