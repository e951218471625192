"""Sets of heads that tasks chose while their models were trained: tables, figures and sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from mtlspec.analyses._head_figures import Panel, colour_words, draw_panels, run_colours
from mtlspec.model.head_sets import Mask, chance_overlaps, heads_per_layer, overlaps
from mtlspec.model.strategy import load_strategy
from mtlspec.results.estimates import mean_and_std
from mtlspec.results.findings import Figure
from mtlspec.results.jobs import AnalysisJob
from mtlspec.results.tables import Cell, Row, Table, score_text
from mtlspec.results.variants import Variant, variants


@dataclass(frozen=True)
class Chosen:
    """What the tasks of a model chose in its runs."""

    variant: Variant
    tasks: tuple[str, ...]
    seeds: tuple[int, ...]  # of the runs that have sets
    before: tuple[int, ...]  # of the runs whose weights are from before the switch, where all heads are everybody's
    sets: Mask  # [R, T, L, H]
    counts: npt.NDArray[np.int64]  # heads of each layer

    @property
    def between_tasks(self) -> list[tuple[float, float]]:
        """Of every run, the mean over pairs of tasks of their overlap and of what chance gives; in percent."""
        return [_pairs(sets, self.counts) for sets in self.sets]

    def between_seeds(self, task: int) -> tuple[float, float]:
        """The same over pairs of runs, of one task."""
        return _pairs(self.sets[:, task], self.counts)


def _pairs(sets: Mask, counts: npt.NDArray[np.int64]) -> tuple[float, float]:
    """Mean overlap of different sets of [n, L, H], and its chance; NaN for one set, or empty ones."""
    if len(sets) < 2 or not sets.any((1, 2)).all():
        return float("nan"), float("nan")
    different = ~np.eye(len(sets), dtype=np.bool_)
    return float(overlaps(sets)[different].mean()), float(chance_overlaps(sets, counts)[different].mean())


def read(job: AnalysisJob) -> list[Chosen]:
    """Of all models whose tasks choose heads; others are passed over."""
    found, every = [], variants(job.models)
    for done, variant in enumerate(every):
        job.progress(done, len(every), variant.label)
        models = [load_strategy(job.inputs[run.train]) for run in variant.runs]
        told = [model.sharing.task_heads() for model in models]
        sets = [heads.numpy() for heads in told if heads is not None]
        if not sets or len(sets) < len(told):
            continue
        counts = np.array(models[0].encoder.heads.counts)
        late = [not all(own.sum() == counts.sum() for own in run) for run in sets]
        names = [task.name for task in models[0].tasks]
        tasks = tuple(sorted(names, key=[*variant.learnt, *names].index))  # as its label has them
        order = [names.index(task) for task in tasks]
        seeds = tuple(seed for seed, switched in zip(variant.seeds, late, strict=True) if switched)
        before = tuple(seed for seed in variant.seeds if seed not in seeds)
        found.append(Chosen(variant, tasks, seeds, before, np.stack(sets)[np.array(late)][:, order], counts))
    return found


def layer_table(found: Sequence[Chosen]) -> Table:
    layers = max((len(one.counts) for one in found), default=0)
    sections = [(one.variant.label, tuple(_layer_rows(one, layers))) for one in found]
    caption = (
        "How many heads of each layer every task chose at the switch (or kept, with `prune_least`), mean and standard "
        "deviation over seeds; then, in percent, how many of them another seed chose for the same task, with what "
        "random sets with as many heads in every layer would have in common."
    )
    columns = ("task", "heads", *(f"layer {layer + 1}" for layer in range(layers)), "seeds agree, %", "by chance, %")
    return Table("layers", "Heads by layer", caption, columns, tuple(sections))


def _layer_rows(one: Chosen, layers: int) -> list[Row]:
    rows = []
    for task, name in enumerate(one.tasks):
        if not len(one.sets):
            rows.append((Cell(name, name), Cell("all"), *[Cell("–")] * (layers + 2)))
            continue
        by_layer = heads_per_layer(one.sets[:, task])  # [R, L]
        cells = [_mean(list(by_layer[:, layer])) for layer in range(by_layer.shape[1])]
        cells += [Cell("–")] * (layers - len(cells))
        total = int(by_layer[0].sum())
        rows.append((Cell(name, name), Cell(str(total), total), *cells, *map(_percent, one.between_seeds(task))))
    return rows


def overlap_table(found: Sequence[Chosen]) -> Table:
    names = tuple(dict.fromkeys(task for one in found for task in one.tasks))
    sections = []
    for one in found:
        sections.append((one.variant.label, tuple(_overlap_row(one, task, names) for task in one.tasks)))
    caption = (
        "Percent of the heads of a row's task that a column's task chose, too, mean over seeds; in brackets what "
        "random sets with as many heads in every layer would have in common."
    )
    return Table("overlaps", "Heads in common", caption, ("task", *names), tuple(sections))


def _overlap_row(one: Chosen, task: str, names: Sequence[str]) -> Row:
    cells = [Cell(task, task)]
    row = one.tasks.index(task)
    for name in names:
        if name == task or name not in one.tasks or not one.sets.any((2, 3)).all() or not len(one.sets):
            cells.append(Cell("–"))
            continue
        column = one.tasks.index(name)
        shared = overlaps(one.sets)[:, row, column]
        chance = float(chance_overlaps(one.sets, one.counts)[:, row, column].mean())
        mean, std = mean_and_std(list(shared))
        cells.append(Cell(f"{mean:.0f} ({chance:.0f})", mean, std, data={"chance": chance}))
    return tuple(cells)


def draw(found: Sequence[Chosen], directory: Path) -> tuple[Figure, ...]:
    """A map of every model and task; no figure where nothing was chosen."""
    panels = [
        Panel(f"{one.variant.label}\n{task}", run_colours(one.sets[:, number].astype(np.float64)))
        for one in found
        if len(one.sets)
        for number, task in enumerate(one.tasks)
    ]
    if not panels:
        return ()
    draw_panels(directory, "task_heads", panels, limits=(0.0, 1.0))
    runs = max(len(one.sets) for one in found)
    caption = f"A cell is a head, dark where the task chose it. {colour_words(runs)}"
    return (Figure("task_heads", "Heads that tasks chose", caption),)


def summary(found: Sequence[Chosen]) -> tuple[str, ...]:
    sentences = []
    for one in found:
        pairs = [pair for pair in one.between_tasks if not np.isnan(pair[0])]
        if pairs:
            shared, chance = np.mean(pairs, axis=0)
            common = f"two tasks have {shared:.0f} % of their heads in common, {chance:.0f} % by chance"
            sentences.append(f"{one.variant.label}: {common}.")
    late = [one for one in found if one.before]
    if late:
        number, total = sum(len(one.before) for one in late), sum(len(one.before) + len(one.seeds) for one in found)
        names = ", ".join(one.variant.label for one in late)
        sentences.append(
            f"{number} of {total} models ({names}) kept weights from before the switch, where every task trained all "
            "heads; `train.keep: last` keeps those of the end."
        )
    return tuple(sentences) or ("There are no two sets of heads to compare.",)


def numbers(found: Sequence[Chosen]) -> Mapping[str, Any]:
    """Every set, layers and heads counted from 1: model -> seed -> task -> [layer, head] ..."""
    return {
        one.variant.slug: {
            str(seed): {task: (np.argwhere(own) + 1).tolist() for task, own in zip(one.tasks, sets, strict=True)}
            for seed, sets in zip(one.seeds, one.sets, strict=True)
        }
        for one in found
    }


def _mean(values: Sequence[float]) -> Cell:
    mean, std = mean_and_std([float(value) for value in values])
    return Cell(score_text(mean, std, 1), mean, std)


def _percent(value: float) -> Cell:
    return Cell("–") if np.isnan(value) else Cell(f"{value:.0f}", value)
