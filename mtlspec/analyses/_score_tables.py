"""The differences, tests, figures and sentences of the score matrix."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from mtlspec.results.comparisons import Comparison
from mtlspec.results.detectable import typical
from mtlspec.results.figures import heat_map
from mtlspec.results.findings import Figure
from mtlspec.results.lengths import Times, but_unequal, times
from mtlspec.results.score_table import Matrix, mark, score_cell, source_of, tone_of
from mtlspec.results.tables import Cell, Table, interval_text, signed
from mtlspec.results.variants import Variant


def _delta_cell(matrix: Matrix, variant: Variant, task: str) -> Cell:
    comparison = matrix.comparison(variant, task)
    if comparison is None:
        return Cell()
    source = f"{source_of(variant)} | minus {source_of(comparison.baseline)}"
    return Cell(signed(comparison.delta), comparison.delta, None, mark(comparison), tone_of(comparison), source)


def deltas_table(matrix: Matrix) -> Table:
    """The same shape, as differences to the baseline."""
    compared = {comparison.variant for comparison in matrix.comparisons}
    rows = tuple(
        (Cell(variant.label, variant.label), *(_delta_cell(matrix, variant, task) for task in matrix.tasks))
        for variant in matrix.variants
        if variant in compared
    )
    caption = (
        f"Difference to the single-task model of group {matrix.baseline}, in points.{matrix.controls}{matrix.star()}"
    )
    return Table("deltas", f"Difference to {matrix.baseline}", caption, ("model", *matrix.tasks), (("", rows),))


def comparisons_table(matrix: Matrix) -> Table:
    """One row a test, with everything needed to check it."""
    columns = [
        *("model", "task", "score", "compared with", "its score", "difference", "95 % interval", "effect"),
        *("p", "p (Holm)", "could be found", "seeds", "times the updates", "times the examples"),
    ]
    rows = tuple(_comparison_row(matrix, item) for item in matrix.comparisons)
    caption = (
        "A difference of two ways of training, with the variance of seeds and of test sentences: interval and two-sided"
        " p of a t test. Effect: Hedges' g, the difference in standard deviations of a run. Could be found: the"
        " smallest difference that such a test, uncorrected at 5 %, finds in four of five cases."
        if matrix.asked.unit == "runs"
        else f"Do these two sets of trained models differ? A test sentence is exchanged between them with all its seeds"
        f" at once ({matrix.asked.rounds} rounds, two-sided p). Another seed may turn a difference around: this tests"
        " models, not ways of training."
    )
    caption += matrix.controls + matrix.star() + _why_untested(matrix) + _given_start(matrix)
    caption += (
        " Times the updates, and the examples of the task: how long the model was trained beside the one that it is"
        " compared with, trainings that they started from included, had none stopped early."
    )
    return Table("comparisons", "Significance tests", caption, tuple(columns), (("", rows),))


def _comparison_row(matrix: Matrix, item: Comparison) -> tuple[Cell, ...]:
    found = item.found
    return (
        Cell(item.variant.label, item.variant.label),
        Cell(item.task, item.task),
        score_cell(matrix, item.variant, item.task),
        Cell(item.baseline.group, item.baseline.group),
        score_cell(matrix, item.baseline, item.task),
        _delta_cell(matrix, item.variant, item.task),
        Cell(interval_text(found.interval), data={"interval": found.interval}),
        Cell("–") if found.effect is None else Cell(signed(found.effect), found.effect),
        _p_cell(found.p),
        _p_cell(item.adjusted),
        Cell("–") if found.detectable is None else Cell(f"{found.detectable:.2f}", found.detectable),
        Cell(" and ".join(map(str, dict.fromkeys(found.seeds))), min(found.seeds)),
        *(Cell(f"{times:.2f}", times) for times in _times(matrix, item)),
    )


def unequal(matrix: Matrix, item: Comparison) -> str:
    """The end of a sentence about one comparison, if the two were not trained for as long."""
    return but_unequal(item.variant.group, item.baseline.group, [_times(matrix, item)])


def _times(matrix: Matrix, item: Comparison) -> Times:
    return times(item.variant, item.baseline, item.task, matrix.lengths)


def _why_untested(matrix: Matrix) -> str:
    why = dict.fromkeys(item.found.why for item in matrix.comparisons if item.found.p is None)
    return f" –: not tested ({'; '.join(why)})." if why and matrix.families else ""


def _given_start(matrix: Matrix) -> str:
    """Where both sides start from one model, luck of that model is part of no test."""
    if matrix.asked.unit != "runs" or not any(
        c.variant.shared_starts and c.found.p is not None for c in matrix.comparisons
    ):
        return ""
    return " Where all runs of both sides start from one trained model, a test speaks of this start and of no other."


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
    caption = f"Difference to {matrix.baseline} in points.{matrix.star()}"
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
        f"{matrix.star()}"
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
    texts = [["" if item is None else signed(item.delta) + mark(item) for item in line] for line in grid]
    values[[[item is None or not item.significant for item in line] for line in grid]] = np.nan
    heat_map(directory, name, values=values, texts=texts, rows=rows, columns=matrix.tasks, axes_titles=titles)


def summary(matrix: Matrix) -> tuple[str, ...]:
    """Plain sentences: what won, what was significant, what could not be compared."""
    unscored = (*_same(matrix), *_unscored(matrix))
    if not matrix.comparisons:
        alone = set(matrix.tasks) <= set(matrix.unscored) or bool(matrix.same_as_baseline)
        why = f"No differences: there is no single-task model of group {matrix.baseline} to compare with."
        return unscored if alone else (why, *unscored)
    sentences = []
    for group, baseline in dict.fromkeys((item.variant.group, item.baseline.group) for item in matrix.comparisons):
        own = [item for item in matrix.comparisons if (item.variant.group, item.baseline.group) == (group, baseline)]
        sentences.append(_group_sentence(matrix, group, baseline, own))
    sentences += _power_sentences(matrix)
    others = [variant for variant in matrix.variants if variant.group != matrix.baseline]
    scored = sum(task not in matrix.unscored for variant in others for task in variant.tasks)
    if missing := scored - len(matrix.comparisons) - len(matrix.same_as_baseline):
        sentences.append(f"{missing} scores have no single-task model to be compared with.")
    return (*sentences, *unscored)


def _group_sentence(matrix: Matrix, group: str, baseline: str, items: list[Comparison]) -> str:
    higher = sum(item.delta > 0 for item in items)
    above = sum(item.delta > 0 and item.significant for item in items)
    below = sum(item.delta < 0 and item.significant for item in items)
    average = sum(item.delta for item in items) / len(items)
    but = but_unequal(group, baseline, [_times(matrix, item) for item in items])
    said = f"{group} against {baseline}: {signed(average)} points on average; higher in {higher} of {len(items)}"
    if not any(item.found.p is not None for item in items):
        return f"{said} comparisons, none of which could be tested ({items[0].found.why}){but}."
    if matrix.asked.unit == "runs":
        return f"{said} comparisons, significantly above in {above}, significantly below in {below}{but}."
    return f"{said} comparisons; these trained models score significantly above in {above}, below in {below}{but}."


def _power_sentences(matrix: Matrix) -> list[str]:
    """What such a study could have found at all: from comparison to comparison, and in each family."""
    told = []
    for family in matrix.families:
        own = [item.found for item in matrix.comparisons if item.family == family]
        alone = [found.detectable for found in own if found.detectable is not None]
        first = [size for found in own if (size := found.detectable_at(family.first_level)) is not None]
        if not alone:
            continue
        fewest, most = min(min(found.seeds) for found in own), max(max(found.seeds) for found in own)
        seeds = f"{fewest}" if fewest == most else f"{fewest} to {most}"
        corrected = f", and {typical(first, 2)} after Holm's correction" if family.size > 1 else ""
        told.append(
            f"With {seeds} seeds, a difference of {typical(alone, 2)} is found in four of five cases at 5 %{corrected}"
            f" ({family.name}): smaller ones may have been missed."
        )
    return told


def _same(matrix: Matrix) -> tuple[str, ...]:
    names = ", ".join(dict.fromkeys(variant.label for variant, _ in matrix.same_as_baseline))
    told = f"Not compared: {names}. Nothing was selected, so these are the single-task models of group"
    return (f"{told} {matrix.baseline} themselves.",) if names else ()


def _unscored(matrix: Matrix) -> tuple[str, ...]:
    why = matrix.why_unscored
    return (f"{why[0].upper()}{why[1:]}.",) if why else ()
