"""What each part of a model adds: average score, its spread over tasks, data used, and tasks that gain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from mtlspec.errors import StageError
from mtlspec.kinds import Sequence_
from mtlspec.spec.demands import Comparing

if TYPE_CHECKING:
    from mtlspec.results.averages import Averaged
    from mtlspec.results.inference import Difference, Family
    from mtlspec.results.jobs import AnalysisJob
    from mtlspec.results.lengths import Lengths
    from mtlspec.results.tables import Cell, Table


class Options(Comparing):
    """Rows are the models that learn all tasks, in the order of the spec. The first of them is what the averages of
    the others are compared with."""

    type: Literal["ablation_table"]
    further_scores: dict[str, Sequence_[str]] = Field(
        default_factory=dict,
        description=(
            "Task -> scores beside its main one that count in the spread over tasks. The paper of CA-MTL takes both "
            "accuracy and F1 of MRPC and QQP, and both correlations of STS-B."
        ),
    )
    alpha: Annotated[float, Field(gt=0, lt=1)] = Field(
        default=0.05, description="A difference of averages is marked if its p value after Holm's correction is below."
    )

    def run(self, job: AnalysisJob) -> Mapping[str, Any]:
        """Writes `tables/` and `analysis.json` below `out`; returns facts for the stage's record."""
        from mtlspec.results import averages as made
        from mtlspec.results.evaluations import read_evaluations
        from mtlspec.results.findings import Findings
        from mtlspec.results.inference import corrected
        from mtlspec.results.lengths import read_lengths
        from mtlspec.results.variants import variants

        found = variants(job.models)
        evaluations = read_evaluations(found, job.inputs)
        tasks = made.scored_tasks(found, evaluations)
        rows = made.joint_rows(found, evaluations, tasks, self.further_scores)
        if not rows:
            raise StageError("E564", "no model learns several tasks with scores", hint="name one that does in `models`")
        single = made.single_row(found, evaluations, tasks, self.baseline, self.further_scores)
        differences = [made.compared(row, rows[0]) for row in rows[1:]]
        name = f"averages with {rows[0].label}"
        family, adjusted = corrected(name, [one.p for one in differences], self.alpha)
        tested = list(zip(differences, adjusted, strict=True))
        table = _table(rows, single, tested, family, read_lengths(found, job.inputs))
        findings = Findings(
            type=self.type,
            title="Ablation",
            summary=_summary(rows, single, tested, self.alpha),
            tables=(table,),
            figures=(),
            numbers=_numbers(rows, single),
        )
        findings.write(job.out)
        return {"rows": len(rows), "tasks": len(tasks)}


Tested = Sequence[tuple["Difference", float | None]]


def _table(
    rows: Sequence[Averaged], single: Averaged | None, tested: Tested, family: Family, lengths: Lengths
) -> Table:
    from mtlspec.results.averages import number_cell
    from mtlspec.results.tables import Cell, Table

    changes = {row.label: _change(found, p, family.alpha) for row, (found, p) in zip(rows[1:], tested, strict=True)}
    lines = []
    for row in [*([single] if single else []), *rows]:
        beside: tuple[Cell, ...] = (Cell(), Cell())
        if single is not None and row is not single:
            share, good = row.share_read(single, lengths), row.at_least(single)
            beside = (Cell(f"{100 * share:.1f}", 100 * share), Cell(f"{good} of {len(row.scores)}", good))
        lines.append(
            (
                Cell(row.label, row.label, source=row.source),
                number_cell(row.averages(), row.source),
                *changes.get(row.label, (Cell(), Cell())),
                number_cell(row.sigmas(), row.source),
                *beside,
            )
        )
    tasks = ", ".join(rows[0].scores)
    caption = (
        f"Average of the test scores of {tasks} in percent, mean ± sample standard deviation over seeds; its change "
        f"against {rows[0].label} with a 95 % interval (t test over seeds and test examples{_star(family)}). "
        "Task sigma: sample standard deviation of a seed's scores across tasks. Data used: of the examples that "
        "single-task models read, those that were read here, of each task at most all. The last column: tasks whose "
        "mean is not below that of the single-task model."
    )
    columns = ("model", "average", "change", "interval", "task sigma", "data used (%)", "tasks ≥ single")
    return Table("ablation", "Ablation", caption, columns, (("", tuple(lines)),))


def _change(found: Difference, p: float | None, alpha: float) -> tuple[Cell, Cell]:
    from mtlspec.results.tables import Cell, interval_text, signed, tone_of_change

    sure = p is not None and p < alpha
    tone, mark = tone_of_change(found.difference, sure=sure), "*" if sure else ""
    change = Cell(signed(found.difference), found.difference, mark=mark, tone=tone, data={"p_holm": p})
    return change, Cell(interval_text(found.interval))


def _star(family: Family) -> str:
    return f"; *: p < {family.alpha:g} after {family.words}" if family.size else ""


def _summary(rows: Sequence[Averaged], single: Averaged | None, tested: Tested, alpha: float) -> tuple[str, ...]:
    from mtlspec.results.tables import signed

    means = [sum(row.averages()) / len(row.averages()) for row in rows]
    best = max(range(len(rows)), key=means.__getitem__)
    told = f"The best average has {rows[best].label}: {means[best]:.2f}"
    if best:
        found, p = tested[best - 1]
        luck = "could not be tested" if p is None else "is more than luck" if p < alpha else "may be luck"
        told += f", {signed(found.difference)} against {rows[0].label}, which {luck}"
    told += "."
    if single is None:
        return (told,)
    alone = sum(single.averages()) / len(single.averages())
    good = rows[best].at_least(single)
    beside = f"Single-task models have {alone:.2f}; {rows[best].label} is not below them on {good} of"
    return told, f"{beside} {len(rows[best].scores)} tasks."


def _numbers(rows: Sequence[Averaged], single: Averaged | None) -> dict[str, Any]:
    every = [*([single] if single else []), *rows]
    return {
        "rows": [
            {"model": row.label, "scores": {task: list(values) for task, values in row.scores.items()}} for row in every
        ]
    }
