"""Is what pairs do to a task a guide to what all tasks together do to it? Tasks are the sample."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mtlspec.analyses._transfer.improvement import gains
from mtlspec.analyses._transfer.shared_luck import LEAST, Changed, association, rank_correlation
from mtlspec.results.figures import CYCLE, GRID, INK, drawing
from mtlspec.results.findings import Figure, Findings
from mtlspec.results.tables import Cell, Table, signed
from mtlspec.results.transfer import Score, Transfer


@dataclass(frozen=True)
class Prediction:
    """Gains in percent of the score alone: means over the pairs of each task, and all tasks together."""

    tasks: tuple[str, ...]
    pairs: tuple[float, ...]
    all: tuple[float, ...]
    same_direction: int
    rho: float | None  # Spearman's, each gain over other seeds alone; None with fewer than four tasks
    interval: tuple[float, float] | None  # 95 %, over samples of tasks
    p: float | None  # one-sided; None where scores have no seeds, as in published tables: rho is too high there


def predict(found: Transfer, draws: int, seed: int) -> Prediction:
    own = [one for one in gains(found) if one.all is not None]
    pairs = np.array([float(np.mean(list(one.pairs.values()))) for one in own])
    whole = np.array([one.all for one in own], np.float64)
    same = int(((pairs > 0) == (whole > 0)).sum())
    tasks = tuple(one.task for one in own)
    told = tasks, tuple(pairs.tolist()), tuple(whole.tolist()), same
    changed = _changed(found, tasks)
    if changed is None:
        rho = float(rank_correlation(pairs, whole)) if len(tasks) >= LEAST else float("nan")
        return Prediction(*told, None if np.isnan(rho) else rho, None, None)
    agreed = association(changed, draws, seed)
    return Prediction(*told, None, None, None) if agreed is None else Prediction(*told, *vars(agreed).values())


def _changed(found: Transfer, tasks: Sequence[str]) -> Changed | None:
    """None where not every score has the same seeds, at least two."""
    every = [[found.alone[task], found.all[task], *found.column(task).values()] for task in tasks]
    seeds = {len(score.runs) for scores in every for score in scores}
    if len(seeds) != 1 or min(seeds) < 2:
        return None
    (count,) = seeds
    luck = np.array([_scatter(scores) for scores in every])
    partners = np.array([len(scores) - 2 for scores in every], np.float64)
    return Changed(
        alone=np.array([scores[0].runs for scores in every], np.float64),
        first=np.array([np.mean([score.mean for score in scores[2:]]) for scores in every]),
        second=np.array([scores[1].mean for scores in every], np.float64),
        luck=luck,
        of_first=luck / np.sqrt(count * partners),
        of_second=luck / np.sqrt(count),
    )


def _scatter(scores: Sequence[Score]) -> float:
    """The standard deviation over seeds, pooled over settings."""
    return float(np.sqrt(np.mean([np.var(score.runs, ddof=1) for score in scores])))


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
    if own.rho is None:
        return "too few tasks, or too little difference, for a correlation"
    if own.interval is None or own.p is None:
        return f"rank correlation {signed(own.rho)}, part of which is the luck of the single models, which is in both"
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
        " with all tasks. For the correlation the two are taken over different seeds of the task alone, whose luck"
        " would else be in both: the mean over ways to part them. The interval is over samples of tasks with"
        " replacement; p is the larger of two: that luck alone gives as much, and that other orders of the tasks do."
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
