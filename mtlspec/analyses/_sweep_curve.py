"""Points of a sweep as curves, beside the levels of models that are not swept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mtlspec.errors import StageError
from mtlspec.results import figures
from mtlspec.results.averages import Averaged, compared, joint_rows, number_cell, scored_tasks
from mtlspec.results.estimates import mean_and_std
from mtlspec.results.evaluations import Evaluations
from mtlspec.results.findings import Figure
from mtlspec.results.inference import Difference, Family, corrected
from mtlspec.results.tables import Cell, Row, Table, interval_text, signed, tone_of_change
from mtlspec.results.variants import Variant


@dataclass(frozen=True)
class Point:
    curve: str
    value: float  # of the swept setting
    row: Averaged
    beside: Difference | None = None  # its average minus that of the first level
    adjusted: float | None = None  # p after Holm's correction

    @property
    def change(self) -> float:
        return self.beside.difference if self.beside is not None else 0.0


@dataclass(frozen=True)
class Found:
    over: str
    points: tuple[Point, ...]  # curve by curve, in the order of values
    levels: tuple[Averaged, ...]
    family: Family

    @property
    def curves(self) -> dict[str, list[Point]]:
        names = dict.fromkeys(point.curve for point in self.points)
        return {name: [point for point in self.points if point.curve == name] for name in names}

    def sure(self, point: Point) -> bool:
        return point.adjusted is not None and point.adjusted < self.family.alpha


def find(models: Sequence[Variant], evaluations: Evaluations, over: str, alpha: float) -> Found:
    rows = joint_rows(models, evaluations, scored_tasks(models, evaluations), {})
    levels = tuple(row for row in rows if over not in dict(row.variants[0].sweep))
    raw = sorted((_point(row, over) for row in rows if row not in levels), key=lambda point: point.value)
    if not raw:
        hint = f"name a group with `sweep: {{{over}: [...]}}` that learns all tasks"
        raise StageError("E954", f"no model of several tasks is swept over {over}", hint=hint)
    names = list(dict.fromkeys(_curve(row, over) for row in rows if row not in levels))
    raw.sort(key=lambda point: names.index(point.curve))
    differences = [compared(point.row, levels[0]) for point in raw] if levels else []
    name = f"averages with {levels[0].label}" if levels else "no level to compare with"
    family, adjusted = corrected(name, [one.p for one in differences], alpha)
    tested = (
        [
            Point(point.curve, point.value, point.row, difference, p)
            for point, difference, p in zip(raw, differences, adjusted, strict=True)
        ]
        if levels
        else raw
    )
    return Found(over, tuple(tested), levels, family)


def _point(row: Averaged, over: str) -> Point:
    value = dict(row.variants[0].sweep)[over]
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise StageError("E955", f"{over} is swept over '{value}', which is no number", hint="name groups with numbers")
    return Point(_curve(row, over), float(value), row)


def _curve(row: Averaged, over: str) -> str:
    """The group, with the other values of its sweep."""
    (variant,) = row.variants
    others = ", ".join(f"{key.rsplit('.', 1)[-1]} {value}" for key, value in variant.sweep if key != over)
    return f"{variant.group} [{others}]" if others else variant.group


def summary(found: Found) -> tuple[str, ...]:
    told = []
    for name, points in found.curves.items():
        best, lowest = (pick(points, key=lambda point: _mean(point.row)) for pick in (max, min))
        told.append(
            f"{name}: the average is highest with {found.over} {best.value:g} ({_mean(best.row):.2f}) and lowest with "
            f"{lowest.value:g} ({_mean(lowest.row):.2f})."
            if len(points) > 1
            else f"{name} has one value of {found.over}, {best.value:g}: {_mean(best.row):.2f}."
        )
    if not found.levels:
        return (*told, "No model here is without the sweep, so that nothing is tested.")
    level = found.levels[0]
    beside = f"{level.label}, which is not swept, has {_mean(level):.2f}"
    if not found.family.size:
        return (*told, f"{beside}; no difference from it was tested, for want of seeds.")
    above, below = (
        sum(
            found.sure(point) and point.beside is not None and point.beside.difference * sign > 0
            for point in found.points
        )
        for sign in (1, -1)
    )
    tests = f"{above} of {len(found.points)} values are significantly above it and {below} below"
    return (*told, f"{beside}; {tests} ({found.family.words}).")


def _mean(row: Averaged) -> float:
    averages = row.averages()
    return sum(averages) / len(averages)


def table(found: Found) -> Table:
    sections = [(name, tuple(_line(found, point) for point in points)) for name, points in found.curves.items()]
    if found.levels:
        nothing = (Cell(), Cell()) if found.family.size else ()
        levels = tuple((*_scores(row.label, row), *nothing) for row in found.levels)
        sections.append(("not swept", levels))
    caption = "Test scores in percent, mean ± sample standard deviation over seeds, and their average over tasks"
    columns: tuple[str, ...] = (found.over, *found.points[0].row.scores, "average")
    if found.family.size:
        columns = (*columns, "change", "interval")
        caption += (
            f"; its change against {found.levels[0].label} with a 95 % interval (t test over seeds; *: p < "
            f"{found.family.alpha:g} after {found.family.words})"
        )
    return Table("sweep", f"Scores by {found.over}", f"{caption}.", columns, tuple(sections))


def _line(found: Found, point: Point) -> Row:
    cells = _scores(f"{point.value:g}", point.row)
    if not found.family.size or point.beside is None:
        return cells
    sure, interval = found.sure(point), Cell(interval_text(point.beside.interval))
    tone, mark = tone_of_change(point.change, sure=sure), "*" if sure else ""
    return (
        *cells,
        Cell(signed(point.change), point.change, mark=mark, tone=tone, data={"p_holm": point.adjusted}),
        interval,
    )


def _scores(name: str, row: Averaged) -> Row:
    scores = (number_cell(values, row.source) for values in row.scores.values())
    return (Cell(name, name, source=row.source), *scores, number_cell(row.averages(), row.source))


def draw(found: Found, directory: Path) -> tuple[Figure, ...]:
    lines = []
    for name, points in found.curves.items():
        known = [mean_and_std(point.row.averages()) for point in points]
        y, spread = (np.array(side, np.float64) for side in zip(*((m, s or 0.0) for m, s in known), strict=True))
        lines.append(figures.Line(name, np.array([point.value for point in points]), y, y - spread, y + spread))
    values = [point.value for point in found.points]
    ends = np.array([min(values), max(values)])
    lines += [figures.Line(row.label, ends, np.full(2, _mean(row))) for row in found.levels]
    figures.curves(directory, "sweep", lines, x_title=found.over, y_title="average score (%)")
    level = " Level lines are models that are not swept, mean over seeds." if found.levels else ""
    caption = f"The average over tasks by {found.over}; bands: one standard deviation over seeds.{level}"
    return (Figure("sweep", f"Scores by {found.over}", caption),)


def numbers(found: Found) -> dict[str, Any]:
    return {
        "over": found.over,
        "curves": {
            name: [
                {"value": point.value, "averages": list(point.row.averages()), "p_holm": point.adjusted}
                for point in points
            ]
            for name, points in found.curves.items()
        },
        "levels": {row.label: list(row.averages()) for row in found.levels},
    }
