"""The graph of benefit: one-sided, mutual and opposed relations of pairs of tasks, drawn on a circle."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from mtlspec.results.figures import GRID, INK, drawing
from mtlspec.results.findings import Figure, Findings
from mtlspec.results.tables import Cell, Table
from mtlspec.results.transfer import Transfer

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Kind = Literal["helps", "harms", "help each other", "harm each other", "helps but is harmed"]
_HELP, _HARM, _OPPOSED = "#2f6fde", "#c8372d", "#8a5fb0"  # blue above and red below, as in tables
_STYLES: Mapping[Kind, tuple[str, str, str]] = {  # colour, dashes, arrow
    "helps": (_HELP, "solid", "-|>"),
    "harms": (_HARM, "solid", "-|>"),
    "help each other": (_HELP, "dashed", "<|-|>"),
    "harm each other": (_HARM, "dashed", "<|-|>"),
    "helps but is harmed": (_OPPOSED, "dotted", "-|>"),
}


@dataclass(frozen=True)
class Edge:
    """What `source` does to `target`; of mutual relations the one that the spec names first is the source."""

    source: str
    target: str
    kind: Kind


def edges(found: Transfer) -> list[Edge]:
    """Of all pairs, as the arrows say; pairs without arrows have none."""
    made = []
    for a, b in combinations(found.tasks, 2):
        forth, back = (_arrow(found, *pair) for pair in ((a, b), (b, a)))
        if forth and back:
            if forth == back:
                made.append(Edge(a, b, "help each other" if forth == "up" else "harm each other"))
            else:
                helper, helped = (a, b) if forth == "up" else (b, a)
                made.append(Edge(helper, helped, "helps but is harmed"))
        elif forth or back:
            source, target, arrow = (a, b, forth) if forth else (b, a, back)
            made.append(Edge(source, target, "helps" if arrow == "up" else "harms"))
    return made


def _arrow(found: Transfer, source: str, target: str) -> str:
    score = found.pairs.get(source, {}).get(target)
    return "" if score is None else score.arrow


def find(transfers: Mapping[str, Transfer], out: Path) -> dict[str, Any]:
    """Write everything; facts for the stage's record."""
    made = {name: edges(found) for name, found in transfers.items()}
    figures = tuple(_draw(name, transfers[name], own, out / "figures") for name, own in made.items())
    tables = tuple(_table(name, own) for name, own in made.items())
    summary = tuple(_sentence(name, transfers[name], own) for name, own in made.items())
    numbers = {"edges": {name: [asdict(edge) for edge in own] for name, own in made.items()}}
    Findings("benefit_graph", "Benefit and harm", summary, tables, figures, numbers).write(out)
    return {"edges": {name: len(own) for name, own in made.items()}}


def _sentence(name: str, found: Transfer, own: list[Edge]) -> str:
    counts = Counter(edge.kind for edge in own)
    pairs = math.comb(len(found.tasks), 2)
    told = ", ".join(f"{kind}: {counts[kind]}" for kind in _STYLES if counts[kind]) or "no relation is sure"
    return f"{name}: of {pairs} pairs of tasks {pairs - len(own)} are neutral; {told}."


def _table(name: str, own: list[Edge]) -> Table:
    sections = tuple(
        (
            kind,
            tuple(
                (Cell(edge.source, edge.source), Cell(edge.target, edge.target)) for edge in own if edge.kind == kind
            ),
        )
        for kind in _STYLES
        if any(edge.kind == kind for edge in own)
    )
    caption = (
        "Pairs of tasks whose scores have arrows in the table of transfer: one task changes the other, both change each"
        " other alike, or one helps and is harmed. Pairs that are not named are neutral, or nobody can tell."
    )
    return Table(f"edges_{name}", f"Who helps and who harms whom ({name})", caption, ("task", "other task"), sections)


def _draw(name: str, found: Transfer, own: list[Edge], directory: Path) -> Figure:
    """Tasks stand on a circle in the order of the spec; bent edges keep the lines of neighbours apart."""
    size = max(3.6, 0.42 * len(found.tasks) + 1.4)
    with drawing(directory, f"graph_{name}", size, size + 0.6) as axes:
        axes.set_aspect("equal")
        axes.axis("off")
        axes.set_xlim(-1.3, 1.3)
        axes.set_ylim(-1.3, 1.3)
        turns = [math.pi / 2 - 2 * math.pi * number / len(found.tasks) for number in range(len(found.tasks))]
        places = {task: (math.cos(turn), math.sin(turn)) for task, turn in zip(found.tasks, turns, strict=True)}
        for edge in own:
            _draw_edge(axes, places[edge.source], places[edge.target], edge.kind)
        for task, (x, y) in places.items():
            axes.plot([x], [y], marker="o", markersize=7, color=INK, zorder=3)
            axes.text(1.14 * x, 1.12 * y, task, ha=_beside(x), va="center", zorder=4)
        shown = [kind for kind in _STYLES if any(edge.kind == kind for edge in own)]
        for kind in shown:
            color, dashes, _ = _STYLES[kind]
            axes.plot([], [], color=color, linestyle=dashes, label=kind)
        if shown:
            axes.figure.legend(loc="outside lower center", ncols=2)
        else:
            axes.text(0, 0, "no relation is sure", ha="center", va="center", color=GRID)
    caption = (
        "Blue: helps; red: harms; solid: one way; dashed: both ways; dotted: the task at the tail helps the one at the"
        " head and is harmed by it. No line: neutral."
    )
    return Figure(f"graph_{name}", f"Benefit and harm in pairs ({name})", caption)


def _draw_edge(axes: Axes, start: tuple[float, float], end: tuple[float, float], kind: Kind) -> None:
    from matplotlib.patches import FancyArrowPatch

    color, dashes, head = _STYLES[kind]
    patch = FancyArrowPatch(
        start,
        end,
        arrowstyle=head,
        connectionstyle="arc3,rad=0.12",
        linestyle=dashes,
        color=color,
        linewidth=1.1,
        mutation_scale=9,
        shrinkA=6,
        shrinkB=6,
        alpha=0.85,
    )
    axes.add_patch(patch)


def _beside(x: float) -> Literal["left", "right", "center"]:
    return "center" if abs(x) < 0.15 else ("left" if x > 0 else "right")
