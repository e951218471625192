"""Tables and figures of task similarity."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from mtlspec.analyses._similarity.against import Dissociated, Relation
from mtlspec.analyses._similarity.relation import Pair
from mtlspec.analyses._similarity.tasks import Compared, Measure, Similarity
from mtlspec.results.estimates import mean_and_std
from mtlspec.results.figures import CYCLE, GRID, INK, drawing
from mtlspec.results.findings import Figure
from mtlspec.results.tables import Cell, Row, Table, score_text, tone_of_change

WORDS: dict[Measure, str] = {
    "cnm": "brain data (CNM)",
    "dse": "sentence vectors (DSE)",
    "ahp": "transfer (AHP)",
    "cra": "geometry of vectors (CRA)",
}
_NOTHING = Cell("–")


def number(value: float, digits: int = 2) -> str:
    return "–" if math.isnan(value) else f"{value:.{digits}f}".replace("-", "−")


def relation_table(relations: Sequence[Relation]) -> Table:
    """The numbers of the paper's Figures 3 and 5 to 7."""
    sections = []
    for name in dict.fromkeys(one.dissociated for one in relations):
        own = [one for one in relations if one.dissociated == name]
        sections.append((f"dissociation of {name}", tuple(map(_relation_row, own))))
    family = relations[0].family
    assert family is not None
    caption = (
        "Similarity of two tasks against how far they dissociate, a point for each pair of tasks, means over seeds. r: "
        "Pearson's correlation; slope: points of dissociation for a similarity larger by one. p (points): as if pairs "
        "were independent, as the paper has it. Pairs that share a task are not, so the other p asks how often r is as "
        "far from zero if tasks exchange their names; of three tasks it cannot be below 1/6, of four below 1/24. "
        f"*: below {family.alpha:g} after {family.words}."
    )
    columns = ("similarity by", "pairs", "r", "slope", "p (points)", "p (tasks exchanged)", "p (Holm)")
    return Table("relations", "Similarity against dissociation", caption, columns, tuple(sections))


def _relation_row(one: Relation) -> Row:
    r, sure = one.line.r, one.significant
    correlation = Cell(
        number(r), None if math.isnan(r) else r, mark="*" if sure else "", tone=tone_of_change(r, sure=sure)
    )
    slope = _NOTHING if math.isnan(r) else Cell(number(one.line.slope), one.line.slope)
    ps = [_NOTHING if p is None else Cell(f"{p:.3f}", p) for p in (one.line.p, one.exchanged, one.adjusted)]
    return (Cell(WORDS[one.measure], one.measure), Cell(str(len(one.pairs)), len(one.pairs)), correlation, slope, *ps)


def similarity_table(compared: Compared, dissociated: Sequence[Dissociated]) -> Table:
    pairs = list(dict.fromkeys(pair for one in compared.similarities for pair in one.pairs))
    rows = [
        (
            Cell(" + ".join(pair), " + ".join(pair)),
            *(_values(one.pairs.get(pair), 3) for one in compared.similarities),
            *(_values(one.pairs.get(pair), 2) for one in dissociated),
        )
        for pair in pairs
    ]
    sections = [("pairs of tasks", tuple(rows))]
    if len(compared.seeds) > 1:
        same = [
            (
                Cell(f"{task}, seeds", task),
                *(_between(one, task) for one in compared.similarities),
                *(_NOTHING for _ in dissociated),
            )
            for task in compared.tasks
        ]
        sections.append(("one task, models of two seeds", tuple(same)))
    caption = (
        "How alike tasks are, mean ± standard deviation over seeds. Sentence vectors: mean cosine of the vectors that "
        f"two single-task models make of the same {compared.sentences} sentences of {compared.corpus}. Geometry: rank "
        "correlation of which sentences are alike to either model. Transfer: mean of both directions of the affinity "
        "of a source to a target, by contests on test examples. Brain data: cosine of how well either model's vectors "
        "predict each voxel. Models of one task and two seeds show how alike tasks could be at most. Dissociation: "
        "mean of both tasks', in points."
    )
    columns = (
        "tasks",
        *(WORDS[one.measure] for one in compared.similarities),
        *(f"dissociation, {one.name}" for one in dissociated),
    )
    return Table("similarities", "Similarity of tasks", caption, columns, tuple(sections))


def _values(values: np.ndarray[tuple[int], np.dtype[np.float64]] | None, digits: int) -> Cell:
    if values is None:
        return _NOTHING
    mean, std = mean_and_std(values.tolist())
    return Cell(score_text(mean, std, digits).replace("-", "−"), mean, std)


def _between(one: Similarity, task: str) -> Cell:
    value = one.between_seeds.get(task)
    return _NOTHING if value is None else Cell(number(value, 3), value)


def draw(relations: Sequence[Relation], directory: Path) -> tuple[Figure, ...]:
    return tuple(_draw(one, directory) for one in relations)


def _draw(one: Relation, directory: Path) -> Figure:
    """A point a pair, with its name, and the regression line."""
    name = f"{one.measure}_{re.sub(r'[^a-z0-9]+', '_', one.dissociated.lower()).strip('_')}"
    with drawing(directory, name, 4.8, 3.6) as axes:
        axes.axhline(0, color=GRID, linewidth=0.8)
        axes.scatter(one.x, one.y, s=26, color=CYCLE[0], alpha=0.85, zorder=3)
        for pair, x, y in zip(one.pairs, one.x, one.y, strict=True):
            axes.annotate(_short(pair), (x, y), xytext=(4, 3), textcoords="offset points", fontsize=7, color=INK)
        if not math.isnan(one.line.r):
            ends = np.array([one.x.min(), one.x.max()])
            axes.plot(ends, one.line.intercept + one.line.slope * ends, color=CYCLE[1], linewidth=1.6)
        axes.margins(0.12)
        axes.grid(color=GRID, alpha=0.25, linewidth=0.6)
        axes.set_xlabel(f"similarity by {WORDS[one.measure]}")
        axes.set_ylabel("dissociation, points")
    tested = "" if one.exchanged is None else f", p = {one.exchanged:.3f} if tasks exchange their names"
    caption = (
        f"Each point is a pair of tasks: how alike they are, and how far they dissociate in {one.dissociated}, means "
        f"over seeds. The line is the regression; r = {number(one.line.r)}{tested}."
    )
    return Figure(name, f"{one.dissociated}: dissociation against {WORDS[one.measure]}", caption)


def _short(pair: Pair) -> str:
    return "–".join(pair)
