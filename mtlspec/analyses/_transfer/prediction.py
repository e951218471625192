"""Is what pairs do to a task a guide to what all tasks together do to it? Tasks are the sample."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mtlspec.analyses._agreement import Map, spearman
from mtlspec.analyses._transfer.improvement import gains
from mtlspec.results.contrast import share_reaching
from mtlspec.results.figures import CYCLE, GRID, INK, drawing
from mtlspec.results.findings import Figure, Findings
from mtlspec.results.tables import Cell, Table, signed
from mtlspec.results.transfer import Transfer

LEAST = 4  # tasks: fewer have no correlation worth a name


@dataclass(frozen=True)
class Prediction:
    """Gains in percent of the score alone: means over the pairs of each task, and all tasks together."""

    tasks: tuple[str, ...]
    pairs: tuple[float, ...]
    all: tuple[float, ...]
    same_direction: int
    rho: float | None  # Spearman's; None with fewer than four tasks, or where one side does not vary
    interval: tuple[float, float] | None  # 95 %, over samples of tasks
    p: float | None  # two-sided: how often random orders of the tasks agree or disagree as much


def predict(found: Transfer, draws: int, seed: int) -> Prediction:
    own = [one for one in gains(found) if one.all is not None]
    pairs = np.array([float(np.mean(list(one.pairs.values()))) for one in own])
    whole = np.array([one.all for one in own], np.float64)
    same = int(((pairs > 0) == (whole > 0)).sum())
    tasks = tuple(one.task for one in own)
    rho, interval, p = correlation(pairs, whole, draws, seed)
    return Prediction(tasks, tuple(pairs.tolist()), tuple(whole.tolist()), same, rho, interval, p)


def correlation(x: Map, y: Map, draws: int, seed: int) -> tuple[float | None, tuple[float, float] | None, float | None]:
    """Spearman's, of points [N]; its interval over samples of points, and p over random orders of one side."""
    observed = spearman(x, y) if len(x) >= LEAST else math.nan
    if math.isnan(observed):
        return None, None, None
    generator = np.random.Philox(key=seed)
    chosen = (generator.random_raw(draws * len(x)) % len(x)).astype(np.intp).reshape(draws, len(x))
    drawn = [spearman(x[rows], y[rows]) for rows in chosen]
    known = np.array([value for value in drawn if not math.isnan(value)])  # a sample may hold one point many times
    low, high = np.quantile(known, [0.025, 0.975])
    orders = np.argsort(generator.random_raw(draws * len(x)).reshape(draws, len(x)), axis=1, kind="stable")
    null = np.abs(np.array([spearman(x[order], y) for order in orders]))
    return observed, (float(low), float(high)), share_reaching(abs(observed), null)


def find(transfers: Mapping[str, Transfer], out: Path, draws: int, seed: int) -> dict[str, Any]:
    """Write everything; facts for the stage's record."""
    made = {name: predict(found, draws, seed) for name, found in transfers.items()}
    figures = tuple(_draw(name, own, out / "figures") for name, own in made.items() if own.tasks)
    tables = (_table(made),)
    summary = tuple(_sentence(name, own) for name, own in made.items())
    numbers = {"predictions": {name: asdict(own) for name, own in made.items()}}
    Findings("pair_predicts_all", "Do pairs predict all tasks together?", summary, tables, figures, numbers).write(out)
    return {"correlations": {name: own.rho for name, own in made.items()}}


def _sentence(name: str, own: Prediction) -> str:
    if not own.tasks:
        return f"{name}: there is no model of all tasks to predict."
    same = f"{own.same_direction} of {len(own.tasks)} tasks"
    return f"{name}: the mean over pairs goes the way of all tasks together for {same}; {_words(own)}."


def _words(own: Prediction) -> str:
    if own.rho is None or own.interval is None or own.p is None:
        return "too few tasks, or too little difference, for a correlation"
    low, high = own.interval
    sure = "more than chance" if own.p < 0.05 else "chance could do as much"
    every = "all samples of so few tasks agree"  # which is no interval: other tasks might not
    interval = f"95 % of samples of tasks {signed(low)} to {signed(high)}" if low < high else every
    return f"rank correlation {signed(own.rho)} ({interval}; p = {own.p:.3f}: {sure})"


def _table(made: Mapping[str, Prediction]) -> Table:
    sections = tuple(
        (f"{name}: {_words(own)}", tuple(_rows(own.tasks, own.pairs, own.all))) for name, own in made.items()
    )
    caption = (
        "Change of the mean test score in percent of the score of the task alone: mean over the pairs of a task, and"
        " with all tasks. The interval is over samples of tasks with replacement, p over random orders of the tasks."
    )
    return Table("predictions", "Pairs and all tasks together", caption, ("task", "mean of pairs", "all"), sections)


def _rows(tasks: Sequence[str], pairs: Sequence[float], whole: Sequence[float]) -> list[tuple[Cell, Cell, Cell]]:
    return [
        (Cell(task, task), Cell(signed(a), a), Cell(signed(b), b))
        for task, a, b in zip(tasks, pairs, whole, strict=True)
    ]


def _draw(name: str, own: Prediction, directory: Path) -> Figure:
    with drawing(directory, f"prediction_{name}", 4.6, 3.4) as axes:
        axes.axhline(0, color=INK, linewidth=0.8)
        axes.axvline(0, color=INK, linewidth=0.8)
        axes.scatter(own.pairs, own.all, s=26, color=CYCLE[0])
        for task, x, y in zip(own.tasks, own.pairs, own.all, strict=True):
            axes.annotate(task, (x, y), xytext=(4, 3), textcoords="offset points", fontsize=8)
        axes.set_xlabel("mean of pairs, % of the task alone")
        axes.set_ylabel("all tasks, % of the task alone")
        axes.grid(color=GRID, alpha=0.25, linewidth=0.6)
    caption = "One point a task. Upper right and lower left: pairs go the way that all tasks together go."
    return Figure(f"prediction_{name}", f"Pairs and all tasks together ({name})", caption)
