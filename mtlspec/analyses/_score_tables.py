"""The differences, tests, figures and sentences of the score matrix."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from mtlspec.results.comparisons import Comparison
from mtlspec.results.figures import heat_map
from mtlspec.results.findings import Figure
from mtlspec.results.score_table import Matrix, score_cell, source_of, tone_of
from mtlspec.results.tables import Cell, Table, signed
from mtlspec.results.variants import Variant


def _delta_cell(matrix: Matrix, variant: Variant, task: str) -> Cell:
    comparison = matrix.comparison(variant, task)
    if comparison is None:
        return Cell()
    source = f"{source_of(variant)} | minus {source_of(comparison.baseline)}"
    return Cell(signed(comparison.delta), comparison.delta, None, matrix.mark(comparison), tone_of(comparison), source)


def deltas_table(matrix: Matrix) -> Table:
    """The same shape, as differences to the baseline."""
    compared = {comparison.variant for comparison in matrix.comparisons}
    rows = tuple(
        (Cell(variant.label, variant.label), *(_delta_cell(matrix, variant, task) for task in matrix.tasks))
        for variant in matrix.variants
        if variant in compared
    )
    caption = (
        f"Difference to the single-task model of group {matrix.baseline}, in points;"
        f" * significant at {matrix.alpha:g} after Holm's correction."
    )
    return Table("deltas", f"Difference to {matrix.baseline}", caption, ("model", *matrix.tasks), (("", rows),))


def comparisons_table(matrix: Matrix) -> Table:
    """One row a test, with everything needed to check it."""
    rows = []
    for item in matrix.comparisons:
        ours = score_cell(matrix, item.variant, item.task)
        theirs = score_cell(matrix, item.baseline, item.task)
        rows.append(
            (
                Cell(item.variant.label, item.variant.label),
                Cell(item.task, item.task),
                ours,
                theirs,
                _delta_cell(matrix, item.variant, item.task),
                _p_cell(item.p),
                _p_cell(item.adjusted),
                Cell(str(len(item.seeds)), len(item.seeds)),
            )
        )
    columns = ("model", "task", "score", matrix.baseline, "difference", "p", "p (Holm)", "seeds")
    caption = (
        f"Paired approximate randomisation over test sentences ({matrix.rounds} rounds): a sentence is exchanged"
        " between the two models with all its seeds at once. Two-sided p values; Holm's correction over all rows."
    )
    return Table("comparisons", "Significance tests", caption, columns, (("", tuple(rows)),))


def _p_cell(p: float | None) -> Cell:
    if p is None:
        return Cell("–")
    return Cell("< 0.001" if p < 0.001 else f"{p:.3f}", p)


def draw(matrix: Matrix, directory: Path) -> tuple[Figure, ...]:
    """A heat map of all differences, and one of partners for every group that has pairs of three or more tasks."""
    if not matrix.comparisons:
        return ()
    figures = [_draw_deltas(matrix, directory)]
    for group in matrix.groups:
        pairs = [variant for variant in matrix.variants if variant.group == group and len(variant.tasks) == 2]
        if len({task for variant in pairs for task in variant.tasks}) > 2 and not any(pair.sweep for pair in pairs):
            figures.append(_draw_pairs(matrix, group, pairs, directory))
    return tuple(figures)


def _draw_deltas(matrix: Matrix, directory: Path) -> Figure:
    rows = tuple(dict.fromkeys(comparison.variant for comparison in matrix.comparisons))
    grid = [[matrix.comparison(variant, task) for task in matrix.tasks] for variant in rows]
    _heat_map(matrix, directory, "deltas", grid=grid, rows=[variant.label for variant in rows], titles=("", ""))
    caption = f"Difference to {matrix.baseline} in points: blue is better than single-task learning, red is worse."
    return Figure("deltas", f"Every model against {matrix.baseline}", caption)


def _draw_pairs(matrix: Matrix, group: str, pairs: list[Variant], directory: Path) -> Figure:
    by_tasks = {frozenset(variant.tasks): variant for variant in pairs}
    grid = []
    for task in matrix.tasks:
        partners = [by_tasks.get(frozenset((task, partner))) for partner in matrix.tasks]
        grid.append([None if variant is None else matrix.comparison(variant, task) for variant in partners])
    titles = ("scored task", "trained together with")
    _heat_map(matrix, directory, f"pairs_{group}", grid=grid, rows=list(matrix.tasks), titles=titles)
    caption = (
        f"How each task (row) changes when it is trained with each partner (column), in points"
        f" against {matrix.baseline}. Two blue cells across the diagonal are a pair in which both tasks gain."
    )
    return Figure(f"pairs_{group}", f"Which tasks help each other ({group})", caption)


def _heat_map(
    matrix: Matrix,
    directory: Path,
    name: str,
    *,
    grid: list[list[Comparison | None]],
    rows: list[str],
    titles: tuple[str, str],
) -> None:
    values = np.array([[np.nan if item is None else item.delta for item in line] for line in grid], dtype=np.float64)
    texts = [["" if item is None else signed(item.delta) + matrix.mark(item) for item in line] for line in grid]
    heat_map(directory, name, values=values, texts=texts, rows=rows, columns=matrix.tasks, axes_titles=titles)


def summary(matrix: Matrix) -> tuple[str, ...]:
    """Plain sentences: what won, what was significant, what could not be compared."""
    unscored = _unscored(matrix)
    if not matrix.comparisons:
        alone = set(matrix.tasks) <= set(matrix.unscored)
        why = f"No differences: there is no single-task model of group {matrix.baseline} to compare with."
        return unscored if alone else (why, *unscored)
    sentences = []
    for group in matrix.groups:
        items = [item for item in matrix.comparisons if item.variant.group == group]
        if not items:
            continue
        better = sum(item.delta > 0 for item in items)
        gains = sum(item.delta > 0 and matrix.significant(item) for item in items)
        losses = sum(item.delta < 0 and matrix.significant(item) for item in items)
        average = sum(item.delta for item in items) / len(items)
        sentences.append(
            f"{group} against {matrix.baseline}: {signed(average)} points on average; better in {better}"
            f" of {len(items)} comparisons, significantly better in {gains}, significantly worse in {losses}."
        )
    others = [variant for variant in matrix.variants if variant.group != matrix.baseline]
    scored = sum(task not in matrix.unscored for variant in others for task in variant.tasks)
    if missing := scored - len(matrix.comparisons):
        sentences.append(f"{missing} scores have no single-task model to be compared with.")
    return (*sentences, *unscored)


def _unscored(matrix: Matrix) -> tuple[str, ...]:
    if not matrix.unscored:
        return ()
    return (f"Test has no labels of {', '.join(matrix.unscored)}: predictions are written, nothing is scored.",)
