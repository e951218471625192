"""What each part of a model adds: average score, its spread over tasks, data used, and tasks that gain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from mtlspec.errors import StageError
from mtlspec.kinds import Sequence_
from mtlspec.spec.demands import Comparing
from mtlspec.spec.several_tasks import SeveralTasks

if TYPE_CHECKING:
    from mtlspec.results.averages import Averaged
    from mtlspec.results.inference import Difference, Family
    from mtlspec.results.jobs import AnalysisJob
    from mtlspec.results.lengths import Lengths
    from mtlspec.results.tables import Cell, Table


class Options(Comparing, SeveralTasks):
    """Rows are the models that learn all tasks, in the order of the spec. Their averages are compared with that of
    single-task models (is there negative transfer?) and with that of the first of them (is it mended?)."""

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
        from mtlspec.results.lengths import read_lengths
        from mtlspec.results.variants import variants

        found = variants(job.models)
        evaluations = read_evaluations(found, job.inputs)
        tasks = made.scored_tasks(found, evaluations)
        rows = made.joint_rows(found, evaluations, tasks, self.further_scores)
        if not rows:
            raise StageError("E564", "no model learns several tasks with scores", hint="name one that does in `models`")
        single = made.single_row(found, evaluations, tasks, self.baseline, self.further_scores)
        tested = _tests(rows[1:], rows[0], self.alpha)
        alone = _tests(rows, single, self.alpha)
        table = _table(rows, single, tested, alone, read_lengths(found, job.inputs))
        findings = Findings(
            type=self.type,
            title="Ablation",
            summary=_summary(rows, single, tested, alone),
            tables=(table,),
            figures=(),
            numbers=_numbers(rows, single),
        )
        findings.write(job.out)
        return {"rows": len(rows), "tasks": len(tasks)}


@dataclass(frozen=True)
class Tests:
    """Averages of models beside that of another, tested and corrected together."""

    family: Family
    found: Mapping[str, tuple[Difference, float | None]]  # label of a model -> its difference and corrected p value

    def cells(self, label: str) -> tuple[Cell, Cell]:
        """The difference and its interval; empty for a model that is not compared."""
        from mtlspec.results.tables import Cell, interval_text, signed, tone_of_change

        if label not in self.found:
            return Cell(), Cell()
        difference, p = self.found[label]
        sure = p is not None and p < self.family.alpha
        tone, mark = tone_of_change(difference.difference, sure=sure), "*" if sure else ""
        change = Cell(signed(difference.difference), difference.difference, mark=mark, tone=tone, data={"p_holm": p})
        return change, Cell(interval_text(difference.interval))

    def words(self, label: str) -> str:
        """`−6.00 (may be luck)`"""
        from mtlspec.results.tables import signed

        difference, p = self.found[label]
        luck = "could not be tested" if p is None else "more than luck" if p < self.family.alpha else "may be luck"
        return f"{signed(difference.difference)} ({luck})"


def _tests(rows: Sequence[Averaged], other: Averaged | None, alpha: float) -> Tests:
    from mtlspec.results.averages import compared
    from mtlspec.results.inference import corrected

    if other is None:
        return Tests(corrected("", [], alpha)[0], {})
    found = [compared(row, other) for row in rows]
    family, adjusted = corrected(f"averages with {other.label}", [one.p for one in found], alpha)
    told = zip((row.label for row in rows), zip(found, adjusted, strict=True), strict=True)
    return Tests(family, dict(told))


def _share_read(row: Averaged, single: Averaged, lengths: Lengths) -> float | None:
    """None where single-task models read nothing (`train.examples: 0`)."""
    from mtlspec.results.lengths import length_of

    read = (seen.examples for variant in single.variants for seen in length_of(variant, lengths).tasks.values())
    return row.share_read(single, lengths) if any(read) else None


def _table(rows: Sequence[Averaged], single: Averaged | None, tested: Tests, alone: Tests, lengths: Lengths) -> Table:
    from mtlspec.results.averages import number_cell
    from mtlspec.results.tables import Cell, Table

    lines = []
    for row in [*([single] if single else []), *rows]:
        beside: tuple[Cell, ...] = (Cell(), Cell())
        if single is not None and row is not single:
            share, good = _share_read(row, single, lengths), row.at_least(single)
            read = Cell("–") if share is None else Cell(f"{100 * share:.1f}", 100 * share)
            beside = (read, Cell(f"{good} of {len(row.scores)}", good))
        lines.append(
            (
                Cell(row.label, row.label, source=row.source),
                number_cell(row.averages(), row.source),
                *alone.cells(row.label),
                *tested.cells(row.label),
                number_cell(row.sigmas(), row.source),
                *beside,
            )
        )
    tasks = ", ".join(rows[0].scores)
    caption = (
        f"Average of the test scores of {tasks} in percent, mean ± sample standard deviation over seeds; its change "
        f"against single-task models and against {rows[0].label}, with 95 % intervals (t tests over seeds and test "
        f"examples{_star(alone.family, tested.family)}). "
        "Task sigma: sample standard deviation of a seed's scores across tasks. Data used: of the examples that "
        "single-task models read, those that were read here, of each task at most all. The last column: tasks whose "
        "mean is not below that of the single-task model."
    )
    first = f"against {rows[0].variants[0].group}"
    changes = ("against single", "interval", first, "interval")
    columns = ("model", "average", *changes, "task sigma", "data used (%)", "tasks ≥ single")
    return Table("ablation", "Ablation", caption, columns, (("", tuple(lines)),))


def _star(*families: Family) -> str:
    tested = [family for family in families if family.size]
    words = "; ".join(family.words for family in tested)
    return f"; *: p < {tested[0].alpha:g} after {words}" if tested else ""


def _summary(rows: Sequence[Averaged], single: Averaged | None, tested: Tests, alone: Tests) -> tuple[str, ...]:
    means = [sum(row.averages()) / len(row.averages()) for row in rows]
    best = max(range(len(rows)), key=means.__getitem__)
    first, top = rows[0].label, rows[best].label
    told = f"The best average has {top}: {means[best]:.2f}"
    if best:
        told += f", {tested.words(top)} against {first}"
    if single is None:
        return (f"{told}.",)
    average = sum(single.averages()) / len(single.averages())
    beside = f"Single-task models have {average:.2f} on average, {first} has {alone.words(first)} against them"
    if best:
        beside += f", {top} {alone.words(top)}"
    good = f"{top} is not below them on {rows[best].at_least(single)} of {len(rows[best].scores)} tasks."
    return f"{told}.", f"{beside}.", good


def _numbers(rows: Sequence[Averaged], single: Averaged | None) -> dict[str, Any]:
    every = [*([single] if single else []), *rows]
    return {
        "rows": [
            {"model": row.label, "scores": {task: list(values) for task, values in row.scores.items()}} for row in every
        ]
    }
