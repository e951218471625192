"""How fast samplers, or other ways of training, raise the average dev score: curves over updates, and a line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import Field

from mtlspec.errors import StageError
from mtlspec.spec.families import Needed
from mtlspec.spec.watched import Watched

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    import numpy.typing as npt

    from mtlspec.analyses._looks import Looked
    from mtlspec.results.findings import Figure
    from mtlspec.results.inference import Difference
    from mtlspec.results.jobs import AnalysisJob
    from mtlspec.results.tables import Cell, Row, Table


class Options(Watched):
    """Of models of several tasks with `train.evaluate_every`; the mean over the main dev scores of their tasks. Compare
    models that take as many updates: the learning rate falls towards the end of each."""

    type: Literal["sampling_curves"]
    needs: ClassVar[tuple[Needed, ...]] = ("train",)
    line: Annotated[float, Field(ge=0, le=100)] | None = Field(
        default=None,
        description="An average dev score in percent: when does a model first have it? Default: the highest whole "
        "number that the mean curve of every model reaches.",
    )
    baseline: str | None = Field(
        default=None, description="The group that the others are compared with. Default: the first of the analysis."
    )

    def run(self, job: AnalysisJob) -> Mapping[str, Any]:
        """Writes `tables/`, `figures/` and `analysis.json` below `out`; returns facts for the stage's record."""
        import math

        from mtlspec.analyses._looks import looked_at
        from mtlspec.results.findings import Findings
        from mtlspec.results.variants import variants

        looked = looked_at(variants(job.models), job.inputs)
        curves = [one for one in map(_curve, looked) if one is not None]
        if not curves:
            raise StageError("E947", "no model has a dev score of all its tasks", hint="see `epochs.json`")
        line = self.line if self.line is not None else math.floor(min(float(one.mean.max()) for one in curves))
        first = next((one for one in curves if one.looked.variant.group == self.baseline), curves[0])
        findings = Findings(
            type=self.type,
            title="Dev scores over training",
            summary=(*_fastest(curves, line), *_compared(curves, first)),
            tables=(_table(curves, first, line),),
            figures=(_draw(curves, job.out / "figures"),),
            numbers={"line": line, "models": [one.numbers(line) for one in curves]},
        )
        findings.write(job.out)
        return {"models": len(curves), "line": line}


@dataclass(frozen=True)
class Curve:
    """Average dev scores of every seed over the updates [seeds, looks]."""

    looked: Looked
    values: npt.NDArray[np.float64]

    @property
    def name(self) -> str:
        return f"{self.looked.variant.group}{self.looked.variant.point}"

    @property
    def mean(self) -> npt.NDArray[np.float64]:
        """[looks]"""
        found: npt.NDArray[np.float64] = self.values.mean(0)
        return found

    def reached(self, line: float) -> list[float]:
        """The first updates with a score of at least `line`, of the seeds that have one."""
        updates = self.looked.updates
        return [float(updates[(own >= line).argmax()]) for own in self.values if (own >= line).any()]

    def averages(self) -> list[float]:
        """Of every seed the mean over training, by updates: high for a model that learns early."""
        import numpy as np

        updates = self.looked.updates
        lengths = np.diff(updates, prepend=0.0)
        return [float(own @ lengths / updates[-1]) for own in self.values]

    def numbers(self, line: float) -> dict[str, Any]:
        return {
            "model": self.looked.variant.slug,
            "updates": self.looked.updates.tolist(),
            "averages": self.values.tolist(),
            "over_training": self.averages(),
            "reached": self.reached(line),
        }


def _curve(looked: Looked) -> Curve | None:
    import numpy as np

    values = looked.values(lambda look: look.mean)
    return None if np.isnan(values).any() or not looked.updates[-1] else Curve(looked, values)


def _fastest(curves: Sequence[Curve], line: float) -> tuple[str, ...]:
    """Who reaches the line first, of those whose seeds all do."""
    means = {one.name: sum(found) / len(found) for one in curves if (found := one.reached(line))}
    whole = {one.name for one in curves if len(one.reached(line)) == len(one.values)}
    order = sorted((name for name in means if name in whole), key=lambda name: means[name])
    if not order:
        return (f"No model has an average of {line:g} with every seed.",)
    told = f"An average dev score of {line:g} is first reached by {order[0]}, after {means[order[0]]:.0f} updates"
    others = "".join(f", {name} {means[name]:.0f}" for name in order[1:])
    return (f"{told}{others.replace(',', ';', 1)}.",)


def _compared(curves: Sequence[Curve], first: Curve) -> tuple[str, ...]:
    from mtlspec.results.tables import signed

    told = []
    for one in curves:
        if one is first:
            continue
        found = _difference(one, first)
        sure = "" if found.p is None else f" (p = {found.p:.3f})"
        told.append(
            f"Over all of training the average of {one.name} differs by {signed(found.difference)} points from "
            f"{first.name}{sure}."
        )
    return tuple(told)


def _difference(one: Curve, first: Curve) -> Difference:
    from mtlspec.results.inference import compare_scores

    return compare_scores(one.averages(), first.averages(), power=False)


def _table(curves: Sequence[Curve], first: Curve, line: float) -> Table:
    from mtlspec.results.averages import number_cell
    from mtlspec.results.tables import Cell, Table

    lines: list[Row] = []
    for one in curves:
        variant = one.looked.variant
        source = " · ".join(run.train for run in variant.runs)
        found = one.reached(line)
        at = Cell("–") if not found else number_cell(found, source, 0)
        often = f"{len(found)} of {len(one.values)}"
        best = int(one.mean.argmax())
        lines.append(
            (
                Cell(one.name, one.name, source=source),
                at,
                Cell(often, len(found)),
                number_cell(one.averages(), source),
                *_tested(one, first),
                number_cell(one.values[:, best].tolist(), source),
                Cell(f"{one.looked.updates[best]:.0f}", float(one.looked.updates[best])),
                number_cell(one.values[:, -1].tolist(), source),
            )
        )
    caption = (
        f"Average dev scores over tasks in percent, mean ± sample standard deviation over seeds: the first update with "
        f"at least {line:g}, of the seeds that reach it; the mean over all of training, and its difference to "
        f"{first.name} (t test over seeds, not corrected); the best mean and its update; the end."
    )
    columns = ("model", f"first at {line:g}", "seeds", "over training", "difference", "p", "best", "at update", "end")
    return Table("sampling_curves", "Dev scores over training", caption, columns, (("", tuple(lines)),))


def _tested(one: Curve, first: Curve) -> tuple[Cell, Cell]:
    from mtlspec.results.tables import Cell, signed

    if one is first:
        return Cell(), Cell()
    found = _difference(one, first)
    p = Cell("–") if found.p is None else Cell(f"{found.p:.3f}", found.p)
    return Cell(signed(found.difference), found.difference), p


def _draw(curves: Sequence[Curve], directory: Path) -> Figure:
    from mtlspec.results.figures import curves as draw
    from mtlspec.results.findings import Figure

    lines = [one.looked.line(one.name, one.values) for one in curves]
    draw(directory, "sampling_curves", lines, x_title="update", y_title="average dev score (%)")
    caption = "Mean over seeds of the average dev score of all tasks; bands: one standard deviation of a run."
    return Figure("sampling_curves", "Dev scores over training", caption)
