"""What frozen layers cost or bring: scores of every task, with and without the task that decides the average."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from mtlspec.errors import StageError
from mtlspec.spec.demands import Comparing
from mtlspec.spec.several_tasks import SeveralTasks

if TYPE_CHECKING:
    from mtlspec.results.averages import Averaged
    from mtlspec.results.jobs import AnalysisJob
    from mtlspec.results.tables import Table


class Options(Comparing, SeveralTasks):
    """Rows are the models that learn all tasks, such as those of a sweep over `train.freeze`. An average can rest on
    one task that gains much; the table shows it without the one that it rests on most."""

    type: Literal["freezing_table"]

    def run(self, job: AnalysisJob) -> Mapping[str, Any]:
        """Writes `tables/` and `analysis.json` below `out`; returns facts for the stage's record."""
        from mtlspec.results import averages as made
        from mtlspec.results.evaluations import read_evaluations
        from mtlspec.results.findings import Findings
        from mtlspec.results.variants import variants

        found = variants(job.models)
        evaluations = read_evaluations(found, job.inputs)
        tasks = made.scored_tasks(found, evaluations)
        rows = made.joint_rows(found, evaluations, tasks, {})
        if not rows:
            raise StageError("E565", "no model learns several tasks with scores", hint="name one that does in `models`")
        single = made.single_row(found, evaluations, tasks, self.baseline, {})
        task = dominating(rows)
        findings = Findings(
            type=self.type,
            title="Frozen layers",
            summary=_summary(rows, task),
            tables=(_table(rows, single, task),),
            figures=(),
            numbers={"dominating": task, "gains": {name: gain(rows, name) for name in tasks}},
        )
        findings.write(job.out)
        return {"rows": len(rows), "dominating": task}


def gain(rows: Sequence[Averaged], task: str) -> float:
    """What a task adds to the difference between the best average and the worst one, in points of the average."""
    means = [sum(row.averages()) for row in rows]
    best, worst = (rows[means.index(extreme(means))] for extreme in (max, min))
    return (best.mean(task) - worst.mean(task)) / len(best.scores)


def dominating(rows: Sequence[Averaged]) -> str:
    """The task on which the difference between the best average and the worst one rests most."""
    return max(rows[0].scores, key=lambda task: gain(rows, task))


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _summary(rows: Sequence[Averaged], task: str) -> tuple[str, ...]:
    if len(rows) == 1:
        return (f"There is one model of all tasks, {rows[0].label}: nothing is compared.",)
    whole = [_mean(row.averages()) for row in rows]
    rest = [_mean(row.averages((task,))) for row in rows]
    best, worst = whole.index(max(whole)), whole.index(min(whole))
    told = (
        f"The best average has {rows[best].label} ({whole[best]:.2f}), the lowest {rows[worst].label} "
        f"({whole[worst]:.2f}): {whole[best] - whole[worst]:.2f} points, to which {task} adds {gain(rows, task):.2f}."
    )
    again = rest.index(max(rest))
    if again == best:
        return told, f"Without {task} it is still {rows[best].label}: {rest[best]:.2f} against {rest[worst]:.2f}."
    other = f"{rows[again].label}: {rest[again]:.2f} against {rest[best]:.2f} of {rows[best].label}"
    return told, f"Without {task} it is {other}."


def _table(rows: Sequence[Averaged], single: Averaged | None, task: str) -> Table:
    from mtlspec.results.averages import number_cell
    from mtlspec.results.tables import Cell, Table

    lines = []
    for row in [*([single] if single else []), *rows]:
        good = Cell() if single is None or row is single else Cell(str(row.at_least(single)), row.at_least(single))
        lines.append(
            (
                Cell(row.label, row.label, source=row.source),
                *(number_cell(values, row.source) for values in row.scores.values()),
                number_cell(row.averages(), row.source),
                number_cell(row.averages((task,)), row.source),
                good,
            )
        )
    caption = (
        "Test scores in percent, mean ± sample standard deviation over seeds, and their averages over tasks: all of "
        f"them, and without {task}, on which the difference between the best and the lowest average rests most. "
        "The last column: tasks with a mean not below that of the single-task model. Differences are not tested here."
    )
    columns = ("model", *rows[0].scores, "average", f"without {task}", "tasks ≥ single")
    return Table("freezing", "Frozen layers", caption, columns, (("", tuple(lines)),))
