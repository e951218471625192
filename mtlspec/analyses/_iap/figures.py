"""Figures of masked models: who is specialised, in which layers, and which way of training makes it more so."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from mtlspec.analyses._iap.specialised import Specialised
from mtlspec.model.head_sets import heads_per_layer
from mtlspec.results.figures import CYCLE, GRID, Line, curves, drawing, heat_map
from mtlspec.results.findings import Figure


def draw(models: Sequence[Specialised], directory: Path) -> tuple[Figure, ...]:
    drawn = [_draw_averages(models, directory), *_draw_layers(models, directory)]
    return (*drawn, *_draw_groups(models, directory))


def _group(one: Specialised) -> str:
    return f"{one.variant.group}{one.variant.point}"


def _draw_averages(models: Sequence[Specialised], directory: Path) -> Figure:
    """The paper's Figure 2."""
    groups = list(dict.fromkeys(map(_group, models)))
    sets = list(dict.fromkeys(one.tasks for one in models))
    values = np.full((len(groups), len(sets) + 1), np.nan)
    for one in models:
        values[groups.index(_group(one)), sets.index(one.tasks)] = one.average.difference
    values[:, -1] = np.nanmean(values[:, :-1], axis=1)
    columns = ["\n".join(tasks) if len(tasks) < 4 else f"{len(tasks)} tasks" for tasks in sets]
    texts = [["" if np.isnan(value) else f"{value:.1f}".replace("-", "−") for value in row] for row in values]
    if len(sets) == 1:
        values, texts, columns = values[:, :1], [row[:1] for row in texts], columns[:1]
    else:
        columns.append("mean")
    heat_map(directory, "average_dissociation", values=values, texts=texts, rows=groups, columns=columns)
    caption = (
        "Average dissociation of every model group (rows) and task set (columns), mean over seeds. The larger, the "
        "more each task depends on heads that the others can do without."
    )
    return Figure("average_dissociation", "Average dissociation", caption)


def _draw_layers(models: Sequence[Specialised], directory: Path) -> list[Figure]:
    """The paper's Figure 4: of each group the model of most tasks."""
    figures = []
    for group in dict.fromkeys(map(_group, models)):
        one = max((one for one in models if _group(one) == group), key=lambda one: len(one.tasks))
        by_layer = heads_per_layer(one.sets).mean(0)  # [T, L]
        layers = np.arange(1, len(one.heads) + 1, dtype=np.float64)
        lines = [Line(task, layers, own) for task, own in zip(one.tasks, by_layer, strict=True)]
        lines.append(Line("mean over tasks", layers, by_layer.mean(0)))
        name = f"heads_per_layer_{one.variant.slug}"
        curves(directory, name, lines, x_title="layer", y_title="important heads")
        caption = (
            f"How many of the {int(one.sets[0, 0].sum())} heads that are masked for a task lie in each layer of "
            f"{one.variant.label}, mean over seeds. Where the lines part, a layer serves some tasks more than others."
        )
        figures.append(Figure(name, f"{one.variant.label}: important heads by layer", caption))
    return figures


def _draw_groups(models: Sequence[Specialised], directory: Path) -> list[Figure]:
    """The paper's Figure 8: groups that learn the same tasks, for the task set that most of them learn."""
    by_tasks: dict[tuple[str, ...], list[Specialised]] = {}
    for one in models:
        by_tasks.setdefault(one.tasks, []).append(one)
    tasks, alike = max(by_tasks.items(), key=lambda item: (len(item[1]), len(item[0])))
    if len(alike) < 2:
        return []
    names = [_group(one) for one in alike]
    with drawing(directory, "groups", 2.4 + 0.08 * max(map(len, names)) + 1.6, 1.2 + 0.34 * len(alike)) as axes:
        for place, one in enumerate(alike):
            mean, interval, colour = one.average.difference, one.average.interval, CYCLE[place % len(CYCLE)]
            axes.barh(place, mean, height=0.6, color=colour, alpha=0.55)
            if interval is not None:
                axes.plot(interval, [place, place], color=colour, linewidth=2)
            runs = one.dissociation.average
            axes.plot(runs, [place] * len(runs), "o", color=colour, markersize=3)
        axes.axvline(0, color=GRID, linewidth=0.8)
        axes.set_yticks(range(len(alike)), names)
        axes.invert_yaxis()
        axes.set_xlabel("average dissociation, points")
    caption = (
        f"Average dissociation of all groups that learn {', '.join(tasks)}: bars are means over seeds, dots are seeds, "
        "lines are 95 % intervals (seeds and examples)."
    )
    return [Figure("groups", "Groups beside each other", caption)]
