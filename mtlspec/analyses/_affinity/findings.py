"""What affinities say, and how well they tell what pairs of tasks did."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from mtlspec.analyses._affinity.measure import FILE
from mtlspec.analyses._agreement import Map, spearman
from mtlspec.errors import StageError
from mtlspec.results.contrast import share_reaching
from mtlspec.results.figures import heat_map
from mtlspec.results.findings import Figure, Findings
from mtlspec.results.jobs import AnalysisJob
from mtlspec.results.tables import Cell, Table, signed
from mtlspec.results.transfer import Transfer

if TYPE_CHECKING:
    from mtlspec.analyses.task_affinity import Options

Measure = Literal["cosine", "look_ahead"]
MEASURES: Mapping[Measure, str] = {"cosine": "cosine of gradients", "look_ahead": "look-ahead"}
_SCALE: Mapping[Measure, float] = {"cosine": 1.0, "look_ahead": 100.0}  # the second is a share of a loss: percent


@dataclass(frozen=True)
class Judged:
    """An estimate against a table of transfer. Correlations are of ranks; p: tasks exchange their names."""

    measure: Measure
    transfer: str
    rho: float | None  # over all ordered pairs of tasks
    p: float | None
    within: float | None  # mean over tasks, of the order of their partners
    best: int  # tasks whose best partner was named
    tasks: int


def find(options: Options, job: AnalysisJob) -> dict[str, Any]:
    """Write everything; facts for the stage's record."""
    tasks, found = gathered(job)
    transfers = options.transfers(job)
    judged = [
        judge(name, found[name], tasks, label, transfer, options.draws)
        for label, transfer in transfers.items()
        for name in MEASURES
    ]
    tables = (_judged_table(judged), *(_matrix_table(name, tasks, found[name]) for name in MEASURES))
    figures = tuple(_draw(name, tasks, found[name], job) for name in MEASURES)
    numbers = {
        "tasks": list(tasks),
        "affinities": {name: found[name].tolist() for name in MEASURES},
        "judged": [asdict(one) for one in judged],
    }
    summary = tuple(_sentence(one) for one in judged)
    Findings(options.type, "Task affinity", summary, tables, figures, numbers).write(job.out)
    return {"tasks": len(tasks), "correlations": {f"{one.transfer}/{one.measure}": one.rho for one in judged}}


def gathered(job: AnalysisJob) -> tuple[tuple[str, ...], dict[Measure, Map]]:
    """Means over all measured models of the most tasks: [T, T], what a row does to a column."""
    told = [json.loads((job.measurement(row) / FILE).read_bytes()) for row in job.models]
    most = max((len(one["tasks"]) for one in told), default=0)
    if most < 2:
        message = "no model of this analysis learns several tasks, so none has an affinity to another"
        raise StageError("E777", message, hint="name a group with `tasks: all` under `models`")
    tasks = next(tuple(one["tasks"]) for one in told if len(one["tasks"]) == most)
    same = [one for one in told if tuple(one["tasks"]) == tasks]
    return tasks, {name: np.mean([np.array(one[name], np.float64) for one in same], axis=0) for name in MEASURES}


def judge(measure: Measure, estimate: Map, tasks: Sequence[str], label: str, transfer: Transfer, draws: int) -> Judged:
    """Pairs that share a task are not independent of each other: names are exchanged, not pairs."""
    gains = np.full(estimate.shape, np.nan)
    for j, task in enumerate(tasks):
        for partner, score in transfer.column(task).items():
            gain = transfer.improvement(task, score)
            if partner in tasks and gain is not None:
                gains[tasks.index(partner), j] = gain
    known = ~np.isnan(gains)
    rho = _rank(estimate[known], gains[known])
    orders = np.argsort(
        np.random.Philox(key=1).random_raw(draws * len(tasks)).reshape(draws, len(tasks)), axis=1, kind="stable"
    )
    drawn = [_rank(estimate[np.ix_(order, order)][known], gains[known]) for order in orders]
    null = np.abs(np.array([value for value in drawn if value is not None]))
    columns = [j for j in range(len(tasks)) if known[:, j].sum() > 1]
    within = [_rank(estimate[known[:, j], j], gains[known[:, j], j]) for j in columns]
    defined = [value for value in within if value is not None]
    best = sum(int(np.argmax(estimate[known[:, j], j])) == int(np.argmax(gains[known[:, j], j])) for j in columns)
    return Judged(
        measure,
        label,
        rho,
        share_reaching(abs(rho), null) if rho is not None and len(null) else None,
        float(np.mean(defined)) if defined else None,
        best,
        len(columns),
    )


def _rank(x: Map, y: Map) -> float | None:
    found = spearman(x, y) if x.size > 2 else math.nan
    return None if math.isnan(found) else found


def _sentence(one: Judged) -> str:
    if one.rho is None or one.p is None:
        return f"{MEASURES[one.measure]} against {one.transfer}: too few pairs to compare with."
    sure = "more than chance" if one.p < 0.05 else "chance could do as much"
    return (
        f"{MEASURES[one.measure]} against {one.transfer}: rank correlation {signed(one.rho)} with the gains of pairs"
        f" (p = {one.p:.3f}: {sure}); it names the best partner of {one.best} of {one.tasks} tasks."
    )


def _judged_table(judged: Sequence[Judged]) -> Table:
    rows = tuple(
        (
            Cell(MEASURES[one.measure], one.measure),
            Cell(one.transfer, one.transfer),
            _number(one.rho),
            Cell("–") if one.p is None else Cell(f"{one.p:.3f}", one.p),
            _number(one.within),
            Cell(f"{one.best} of {one.tasks}", one.best),
        )
        for one in judged
    )
    caption = (
        "Spearman's correlation of affinities with the relative gains of the pairs that were trained: over all ordered"
        " pairs of tasks (p: tasks exchange their names), and the mean over tasks of that with the order of a task's"
        " partners. Best partner: tasks for which the largest affinity and the largest gain are of the same partner."
    )
    columns = ("estimate", "table", "rank correlation", "p", "within tasks", "best partner")
    return Table("judged", "Affinities against pairs", caption, columns, (("", rows),))


def _number(value: float | None) -> Cell:
    return Cell("–") if value is None else Cell(signed(value), value)


def _matrix_table(name: Measure, tasks: Sequence[str], found: Map) -> Table:
    scaled = found * _SCALE[name]
    rows = tuple(
        (Cell(task, task), *(Cell(signed(value), value) for value in line))
        for task, line in zip(tasks, scaled.tolist(), strict=True)
    )
    return Table(name, f"Affinity: {MEASURES[name]}", _caption(name), ("task", *tasks), (("", rows),))


def _caption(name: Measure) -> str:
    if name == "cosine":
        return "Cosine of the gradients of two tasks' losses at what they share; mean over looks and seeds."
    return (
        "By how many percent the loss of the task of the column falls after a step along the gradient of that of the"
        " row; mean over looks and seeds."
    )


def _draw(name: Measure, tasks: Sequence[str], found: Map, job: AnalysisJob) -> Figure:
    scaled = found * _SCALE[name]
    texts = [[signed(value) for value in line] for line in scaled.tolist()]
    shown = np.where(np.eye(len(tasks), dtype=bool), np.nan, scaled)
    titles = ("task whose gradient it is", "task that is looked at")
    heat_map(job.out / "figures", name, values=shown, texts=texts, rows=tasks, columns=tasks, axes_titles=titles)
    return Figure(name, f"Affinity: {MEASURES[name]}", _caption(name))
