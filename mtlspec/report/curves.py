"""Learning curves: one pair of figures a task, one line a model (or a group of many), with the range of its seeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mtlspec.plan.rows import ModelRow
from mtlspec.results.figures import Line, curves
from mtlspec.results.findings import Figure
from mtlspec.results.history import Column, Epoch, read_epochs, read_history
from mtlspec.results.variants import Variant

_BINS = 40  # a loss curve of single updates is a cloud; means over a fortieth of the training show the trend

MOST_LINES = 8


@dataclass(frozen=True)
class Curves:
    """What was drawn, a figure for each task; none where no line would have two points."""

    dev: tuple[Figure, ...]
    loss: tuple[Figure, ...]


def draw_curves(
    variants: Sequence[Variant], metrics: Mapping[str, str], inputs: Mapping[str, Path], directory: Path
) -> Curves:
    """`metrics` is task -> main metric."""
    epochs = {run.train: read_epochs(inputs[run.train]) for variant in variants for run in variant.runs}
    losses = {run.train: read_losses(inputs[run.train]) for variant in variants for run in variant.runs}
    drawn_dev, drawn_loss = [], []
    for task, metric in metrics.items():
        members, grouped = lines_of(task, variants)
        dev = [_dev_line(name, [epochs[run.train] for run in runs], f"{task}/{metric}") for name, runs in members]
        drawn_by = [(name, [found for run in runs if (found := losses[run.train].get(task))]) for name, runs in members]
        loss = [_loss_line(name, found) for name, found in drawn_by if found]  # a short run may draw no batch of a task
        note = "Mean over seeds; the band spans the seeds."
        if grouped:
            note = "Mean over the models and seeds of a group; the band spans them."
        if _is_curve(dev):
            name = f"curve_{task}_dev"
            shown = [line for line in dev if len(line.x)]
            curves(directory, name, shown, x_title="epoch", y_title=f"dev {metric}, %")
            drawn_dev.append(Figure(name, f"{task}: dev {metric}", f"Dev score after every epoch. {note}"))
        if _is_curve(loss):
            name = f"curve_{task}_loss"
            shown = [line for line in loss if len(line.x)]
            positive = all(bool((line.y > 0).all()) for line in shown)
            curves(directory, name, shown, x_title="update", y_title="training loss", logarithmic=positive)
            caption = f"Loss of the task's batches, averaged over stretches of updates. {note}"
            drawn_loss.append(Figure(name, f"{task}: training loss", caption))
    return Curves(tuple(drawn_dev), tuple(drawn_loss))


def _is_curve(lines: Sequence[Line]) -> bool:
    """Dots are none: tables tell them better."""
    return any(len(line.x) > 1 for line in lines)


def lines_of(task: str, variants: Sequence[Variant]) -> tuple[list[tuple[str, list[ModelRow]]], bool]:
    """The lines of one task's figure: a model each, or a group each where models would be more than a reader can tell.

    Groups beyond the limit are left to the tables, those with the fewest models first.
    """
    own = [variant for variant in variants if task in variant.tasks]
    if len(own) <= MOST_LINES:
        return [(variant.label, list(variant.runs)) for variant in own], False
    groups: dict[str, list[Variant]] = {}
    for variant in own:
        groups.setdefault(variant.group, []).append(variant)
    largest = sorted(groups, key=lambda group: -len(groups[group]))[:MOST_LINES]
    lines = []
    for group, members in groups.items():
        if group in largest:
            name = group if len(members) == 1 else f"{group} ({len(members)} models)"
            lines.append((name, [run for variant in members for run in variant.runs]))
    return lines, True


def read_losses(train_artifact: Path) -> dict[str, tuple[Column, Column]]:
    """Task -> (update, loss), each [updates of that task]."""
    tasks, columns = read_history(train_artifact)
    names = np.asarray(tasks)
    return {task: (columns["update"][names == task], columns["loss"][names == task]) for task in sorted(set(tasks))}


def _dev_line(name: str, seeds: Sequence[Sequence[Epoch]], key: str) -> Line:
    """Seeds may stop early at different epochs; each epoch averages those that reached it."""
    values: dict[int, list[float]] = {}
    for epochs in seeds:
        for epoch in epochs:
            if key in epoch.scores:
                values.setdefault(epoch.number, []).append(epoch.scores[key])
    return _line(name, [(float(number), values[number]) for number in sorted(values)])


def _loss_line(name: str, seeds: Sequence[tuple[Column, Column]]) -> Line:
    last = max((float(updates.max()) for updates, _ in seeds if len(updates)), default=0.0)
    width = max(1.0, np.ceil((last + 1) / _BINS))
    values: dict[int, list[float]] = {}
    for updates, loss in seeds:
        bins = (updates // width).astype(np.int64)
        for index in np.unique(bins[np.isfinite(loss)]):
            values.setdefault(int(index), []).append(float(np.nanmean(loss[bins == index])))
    return _line(name, [((index + 0.5) * width, values[index]) for index in sorted(values)])


def _line(name: str, points: Sequence[tuple[float, Sequence[float]]]) -> Line:
    return Line(
        label=name,
        x=np.array([x for x, _ in points], np.float64),
        y=np.array([np.mean(values) for _, values in points], np.float64),
        low=np.array([min(values) for _, values in points], np.float64),
        high=np.array([max(values) for _, values in points], np.float64),
    )
