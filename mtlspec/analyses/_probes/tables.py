"""Tables and figures of probes: every label under every model, the best heads, and the layers they lie in."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from mtlspec.analyses._probes.best import Best, Floats
from mtlspec.analyses._probes.changes import Changes, at
from mtlspec.analyses._probes.options import ProbeOptions
from mtlspec.analyses._probes.results import Compared, TaskResults
from mtlspec.results.figures import Line, curves, heat_map
from mtlspec.results.findings import Figure
from mtlspec.results.tables import Cell, Table, signed, tone_of_change

CURVES, ROWS = 8, 24  # labels in the figure of layers and in the map of changes; the tables have all


def labels_table(results: TaskResults, options: ProbeOptions, tested: Changes) -> Table:
    """Tables 7 to 11 of the paper: one row a label, one column a model, differences to single-task learning."""
    base = results.baseline
    rows = []
    for number in (None, *results.labels):
        counts = results.pretrained.counts
        count = int(counts[list(results.labels)].sum()) if number is None else int(counts[number])
        name = "mean of labels" if number is None else results.pretrained.names[number]
        cells = [Cell(name, name, data={"summary": True} if number is None else {}), Cell(f"{count:,}", count)]
        reference = None if base is None else at(base.score, number, results)
        if base is not None:
            cells.append(_cell(base.score, number, results, None, base.source, base))
        source = "measured: the encoder before training"
        cells.append(_cell(results.pretrained.score, number, results, reference, source))
        for other in results.others:
            cell = _cell(other.score, number, results, reference, other.source, other)
            change = None if base is None else cell.data.get("delta")
            cells.append(replace(cell, tone=tone_of_change(change, sure=tested.sure(other, number))))
        cells += [_cell(one.score, number, results, None, one.source) for one in results.controls]
        rows.append(tuple(cells))
    columns = ["label", "items"]
    columns += [] if base is None else [base.title]
    columns += ["pre-trained", *(other.title for other in results.others), *(one.title for one in results.controls)]
    caption = (
        f"Accuracy of the best head for each label, in percent, mean over seeds; {_protocol(options)}"
        + (f" In brackets: difference to {base.title}, {tested.words}." if base is not None else "")
        + f" Controls: {_explained(results)}."
    )
    return Table(
        f"labels_{results.task}", f"{results.task}: every label", caption, tuple(columns), (("", tuple(rows)),)
    )


def _explained(results: TaskResults) -> str:
    """The controls in words."""
    words = {
        "random encoder": "heads of an encoder that learnt nothing",
        "position alone": "the best fixed distance or place for each label, chosen like a head",
        "random attention": "what is expected if every word attends to any word",
    }
    return "; ".join(
        f"{one.title}: {words.get(one.title, 'the same heads, asked for labels that mean nothing')}"
        for one in results.controls
    )


def _protocol(options: ProbeOptions) -> str:
    if options.protocol == "released":
        return "head and score from the test set itself, as released."
    return f"the head is chosen on dev and scored on test; labels with at least {options.least} items in both."


def _cell(
    values: Floats,
    number: int | None,
    results: TaskResults,
    reference: float | None,
    source: str,
    column: Compared | None = None,
) -> Cell:
    value = at(values, number, results)
    if value is None:
        return Cell("–")
    data: dict[str, object] = {}
    if column is not None and number is not None:
        data["seeds"] = {str(seed): float(best.score[number]) for seed, best in column.seeds.items()}
        data["heads"] = {str(seed): head_name(best, number) for seed, best in column.seeds.items()}
        source = f"{source} | heads {', '.join(head_name(best, number) for best in column.seeds.values())}"
    if reference is None:
        return Cell(f"{value:.1f}", value, source=source, data=data)
    delta = value - reference
    data["delta"] = delta
    shown = signed(delta, 1)
    return Cell(f"{value:.1f} ({shown})", value, source=source, data=data)


def head_name(best: Best, number: int) -> str:
    """`5.3`: layer and head, counted from 1 as papers do."""
    return f"{best.layer[number] + 1}.{best.head[number] + 1}"


def heads_table(results: TaskResults) -> Table:
    """The best head of the pre-trained encoder for each label, beside the controls."""
    rows = []
    for number in results.labels:
        best = results.pretrained
        rows.append(
            (
                Cell(best.names[number], best.names[number]),
                Cell(f"{best.counts[number]:,}", int(best.counts[number])),
                Cell(head_name(best, number), float(best.layer[number] + 1) + float(best.head[number] + 1) / 100),
                Cell(f"{best.score[number]:.1f}", float(best.score[number])),
                *(Cell(f"{one.score[number]:.1f}", float(one.score[number])) for one in results.controls),
            )
        )
    columns = ("label", "items", "best head", "accuracy", *(one.title for one in results.controls))
    caption = (
        "The pre-trained encoder before any fine-tuning. Heads are named layer.head, counted from 1. Controls: "
        f"{_explained(results)}."
    )
    title = f"{results.task}: best pre-trained heads"
    return Table(f"heads_{results.task}", title, caption, columns, (("", tuple(rows)),))


def draw(results: TaskResults, tested: Changes, directory: Path) -> tuple[Figure, ...]:
    if not results.labels:
        return ()
    figures = [_draw_layers(results, directory)]
    if results.baseline is not None:
        figures.append(_draw_changes(results, results.baseline, tested, directory))
    return tuple(figures)


def _draw_layers(results: TaskResults, directory: Path) -> Figure:
    name = f"layers_{results.task}"
    layers = np.arange(1, results.layers.shape[1] + 1, dtype=np.float64)
    lines = [Line("mean of labels", layers, results.of(results.layers).mean(0))]
    lines += [Line(results.pretrained.names[i], layers, results.layers[i]) for i in results.labels[:CURVES]]
    flat = np.ones_like(layers)
    lines += [Line(f"control: {one.title}", layers, flat * results.of(one.score).mean()) for one in results.controls]
    curves(directory, name, lines, x_title="layer", y_title="best head's accuracy, %")
    more = "" if len(results.labels) <= CURVES else f" The {CURVES} most frequent of {len(results.labels)} labels."
    caption = f"Where the pre-trained encoder knows the labels of {results.task}, before any fine-tuning.{more}"
    caption += " Controls are means of labels."
    return Figure(name, f"{results.task}: layers of pre-trained heads", caption)


def _draw_changes(results: TaskResults, base: Compared, tested: Changes, directory: Path) -> Figure:
    name = f"changes_{results.task}"
    scores = [results.pretrained.score, *(other.score for other in results.others)]
    shown = (None, *results.labels[:ROWS])
    values = np.array([[_change(score, base, i, results) for score in scores] for i in shown])
    texts = [[signed(value, 1) for value in line] for line in values.tolist()]
    sure = [[False, *(tested.sure(other, i) for other in results.others)] for i in shown]
    heat_map(
        directory,
        name,
        values=np.where(sure, values, np.nan),
        texts=texts,
        rows=["mean of labels", *(results.pretrained.names[i] for i in results.labels[:ROWS])],
        columns=["pre-trained", *(other.title for other in results.others)],
    )
    more = (
        ""
        if len(results.labels) <= ROWS
        else f" The {ROWS} most frequent of {len(results.labels)} labels; the table has all."
    )
    caption = (
        f"Probing accuracy minus that of {base.title}, in points, the most frequent labels first; {tested.words}.{more}"
    )
    return Figure(name, f"{results.task}: change against {base.title}", caption)


def _change(score: Floats, base: Compared, number: int | None, results: TaskResults) -> float:
    return (at(score, number, results) or 0.0) - (at(base.score, number, results) or 0.0)


def summary(results: TaskResults, tested: Changes) -> tuple[str, ...]:
    """Plain sentences: what the pre-trained heads know, and what training makes of it."""
    if not results.labels:
        return (f"{results.task}: no label has enough items to be probed.",)
    pretrained, controls = results.mean(results.pretrained.score), results.control_means
    strongest = max(controls, key=lambda title: controls[title])
    labels = "1 label" if len(results.labels) == 1 else f"{len(results.labels)} labels"
    sentences = [
        f"{results.task}: the best pre-trained heads reach {pretrained:.1f} % on average over {labels}; controls: "
        + ", ".join(f"{title} {value:.1f} %" for title, value in controls.items())
        + "."
        + (f" They do not beat {strongest}." if pretrained <= controls[strongest] else "")
    ]
    base = results.baseline
    if base is not None:
        moved = signed(results.mean(base.score) - pretrained, 1)
        sentence = f"{results.task}: single-task training moves that by {moved} points"
        widest = [other for other in results.others if len(other.variant.tasks) > 2]
        for other in widest[:1]:
            below = int((results.of(other.score) < results.of(base.score)).sum())
            sentence += (
                f", {other.title} by {signed(results.mean(other.score) - pretrained, 1)};"
                f" {other.title} is below {base.title} for {below} of {labels},"
                f" and their means {tested.mean_words(other)}{results.but_unequal(other)}"
            )
        sentences.append(f"{sentence}.")
    return tuple(sentences)
