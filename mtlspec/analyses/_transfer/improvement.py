"""Relative improvements over single-task learning: the span of all pairs, all tasks together, and oracles."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mtlspec.results.figures import CYCLE, GRID, INK, drawing
from mtlspec.results.findings import Figure, Findings
from mtlspec.results.tables import Cell, Table, signed
from mtlspec.results.transfer import Transfer


@dataclass(frozen=True)
class Gains:
    """Of one task, in percent of its score alone; None where there is no such model."""

    task: str
    pairs: Mapping[str, float]  # partner -> gain
    all: float | None
    oracle: float | None

    @property
    def worst(self) -> float:
        return min(self.pairs.values())

    @property
    def best(self) -> float:
        return max(self.pairs.values())


def gains(found: Transfer) -> list[Gains]:
    """Of every task that has pairs and a score alone."""
    made = []
    for task in found.tasks:
        improved = {partner: found.improvement(task, score) for partner, score in found.column(task).items()}
        pairs = {partner: gain for partner, gain in improved.items() if gain is not None}
        if pairs:
            whole, oracle = (found.improvement(task, part.get(task)) for part in (found.all, found.oracle))
            made.append(Gains(task, pairs, whole, oracle))
    return made


def find(transfers: Mapping[str, Transfer], out: Path) -> dict[str, Any]:
    """Write everything; facts for the stage's record."""
    made = {name: gains(found) for name, found in transfers.items()}
    figures = tuple(_draw(name, own, out / "figures") for name, own in made.items() if own)
    tables = tuple(_table(name, own) for name, own in made.items())
    summary = tuple(sentence for name, own in made.items() for sentence in _sentences(name, own))
    numbers = {name: [vars(one) for one in own] for name, own in made.items()}
    Findings("relative_improvement", "Relative improvement", summary, tables, figures, {"gains": numbers}).write(out)
    return {"tasks": max(map(len, made.values()))}


def _sentences(name: str, own: list[Gains]) -> list[str]:
    whole = [one for one in own if one.all is not None]
    oracles = [one for one in own if one.oracle is not None]
    some, every = (sum(bound > 0 for bound in bounds) for bounds in ([o.best for o in own], [o.worst for o in own]))
    told = [f"{name}: {some} of {len(own)} tasks gain with some other task, {every} with every other task."]
    if whole:
        above, best = (
            sum(one.all is not None and one.all > bound for one, bound in zip(whole, bounds, strict=True))
            for bounds in ([0.0] * len(whole), [one.best for one in whole])
        )
        told.append(
            f"{name}: all tasks together raise {above} of {len(whole)} tasks, {best} of them above their best pair."
        )
    if oracles:
        above = sum(one.oracle is not None and one.oracle > 0 for one in oracles)
        both = [one for one in oracles if one.all is not None]
        better = sum((one.oracle or 0.0) > (one.all or 0.0) for one in both)
        beside = f", and is above all tasks together for {better} of {len(both)}" if both else ""
        told.append(f"{name}: the oracle raises {above} of {len(oracles)} tasks{beside}.")
    return told


def _table(name: str, own: list[Gains]) -> Table:
    rows = tuple(
        (
            Cell(one.task, one.task),
            _cell(one.worst),
            _partner(one, one.worst),
            _cell(one.best),
            _partner(one, one.best),
            _cell(one.all),
            _cell(one.oracle),
        )
        for one in own
    )
    columns = ("task", "worst pair", "with", "best pair", "with ", "all", "oracle")
    caption = (
        "Change of the mean test score, in percent of the score of the task alone. Best and worst are chosen after the"
        " fact: among many partners some look good by luck. The table of transfer says which are sure."
    )
    return Table(f"gains_{name}", f"Relative improvement ({name})", caption, columns, (("", rows),))


def _cell(value: float | None) -> Cell:
    return Cell("–") if value is None else Cell(signed(value), value)


def _partner(one: Gains, gain: float) -> Cell:
    name = next(partner for partner, own in one.pairs.items() if own == gain)
    return Cell(name, name)


def _draw(name: str, own: list[Gains], directory: Path) -> Figure:
    places = range(len(own))
    with drawing(directory, f"improvement_{name}", max(4.6, 1.2 + 0.55 * len(own)), 3.2) as axes:
        axes.use_sticky_edges = False  # the longest bar would end on the frame
        axes.axhline(0, color=INK, linewidth=0.8)
        spans = [one.best - one.worst for one in own]
        lows = [one.worst for one in own]
        axes.bar(places, spans, bottom=lows, width=0.28, color=GRID, alpha=0.6, label="+ one task, worst to best")
        for attribute, marker, number in (("all", "^", 1), ("oracle", "s", 0)):
            known = [(at, value) for at, one in enumerate(own) if (value := getattr(one, attribute)) is not None]
            if known:
                x, y = zip(*known, strict=True)
                axes.scatter(x, y, marker=marker, s=34, color=CYCLE[number], label=attribute, zorder=3)
        axes.set_xticks(list(places), [one.task for one in own], rotation=40, ha="right")
        axes.set_ylabel("change, % of the task alone")
        axes.grid(axis="y", color=GRID, alpha=0.25, linewidth=0.6)
        axes.figure.legend(loc="outside lower center", ncols=3)
    caption = "Bars reach from the worst to the best pair of a task; triangles: all tasks together; squares: oracles."
    return Figure(f"improvement_{name}", f"Relative improvement over single tasks ({name})", caption)
