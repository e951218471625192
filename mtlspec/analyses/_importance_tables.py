"""The atlas of heads over all models: whether seeds and methods agree, which heads lead, and maps."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from mtlspec.analyses._agreement import Map, pairwise, spearman
from mtlspec.analyses._findings import Figure
from mtlspec.analyses._head_figures import COLUMNS, Panel, draw_panels
from mtlspec.analyses._importance import FILE, write_heads
from mtlspec.analyses._tables import Cell, Table, Tone
from mtlspec.analyses._variants import Variant, variants

TOP = 5
_TONES: dict[str, Tone] = {"stable": "up", "seed noise": "down", "methods disagree": "down"}


@dataclass(frozen=True)
class Measurement:
    """A model's heads: (task, method) -> values of its runs [R, L, H], NaN where a layer has no such head."""

    variant: Variant
    tables: tuple[pa.Table, ...]  # as measured, one a run
    values: Mapping[tuple[str, str], Map]

    def methods(self, task: str) -> list[str]:
        return [method for own, method in self.values if own == task]


@dataclass(frozen=True)
class Stability:
    """Rank correlations of one model and task; NaN where there is nothing to compare."""

    variant: Variant
    task: str
    by_method: Mapping[str, float]  # between seeds
    between_methods: float
    verdict: str


def read(models: Sequence[Mapping[str, Any]], inputs: Mapping[str, Path]) -> list[Measurement]:
    tables = {str(row["train"]): pq.read_table(inputs[row["measure"]] / FILE) for row in models}
    found = []
    for variant in variants(models):
        own = tuple(tables[run.train] for run in variant.runs)
        maps = [_maps(table) for table in own]
        values = {key: np.stack([one[key] for one in maps]) for key in maps[0]}
        found.append(Measurement(variant, own, values))
    return found


def _maps(table: pa.Table) -> dict[tuple[str, str], Map]:
    columns = {name: table.column(name).to_pylist() for name in table.column_names}
    shape = (max(columns["layer"]), max(columns["head"]))
    maps: dict[tuple[str, str], Map] = {}
    for task, method, layer, head, value in zip(*(columns[name] for name in table.column_names), strict=True):
        maps.setdefault((task, method), np.full(shape, np.nan))[layer - 1, head - 1] = value
    return maps


def write_atlas(atlas: Sequence[Measurement], out: Path) -> None:
    """All measurements in one table, with the columns `model`, `group` and `seed` in front."""
    parts = []
    for one in atlas:
        for run, table in zip(one.variant.runs, one.tables, strict=True):
            about = {"model": one.variant.slug, "group": one.variant.group, "seed": run.seed}
            for place, (name, value) in enumerate(about.items()):
                table = table.add_column(place, name, pa.array([value] * table.num_rows))  # noqa: PLW2901
            parts.append(table)
    write_heads(pa.concat_tables(parts), out)


def stability(atlas: Sequence[Measurement], threshold: float) -> list[Stability]:
    found = []
    for one in atlas:
        for task in one.variant.tasks:
            methods = one.methods(task)
            by_method = {method: pairwise(spearman, _heads(one.values[task, method])) for method in methods}
            pairs = [
                spearman(a, b)
                for first, second in combinations(methods, 2)
                for a, b in zip(_heads(one.values[task, first]), _heads(one.values[task, second]), strict=True)
            ]
            between = _mean(pairs)
            verdict = _verdict(_mean(list(by_method.values())), between, threshold)
            found.append(Stability(one.variant, task, by_method, between, verdict))
    return found


def _heads(runs: Map) -> Map:
    """[R, L, H] -> [R, heads], without places that are no heads."""
    flat = runs.reshape(len(runs), -1)
    return np.asarray(flat[:, ~np.isnan(flat[0])])


def _mean(values: Sequence[float]) -> float:
    """Of those that are defined."""
    defined = [value for value in values if math.isfinite(value)]
    return float(np.mean(defined)) if defined else math.nan


def _verdict(seeds: float, methods: float, threshold: float) -> str:
    """Noise between seeds is told first: methods cannot agree on what is not there."""
    if seeds < threshold:
        return "seed noise"
    if methods < threshold:
        return "methods disagree"
    return "one seed" if math.isnan(seeds) else "stable"


def verdict_counts(found: Sequence[Stability]) -> dict[str, int]:
    return dict(sorted(Counter(one.verdict for one in found).items()))


def stability_table(found: Sequence[Stability], threshold: float) -> Table:
    methods = list(dict.fromkeys(method for one in found for method in one.by_method))
    sections = []
    for task in dict.fromkeys(one.task for one in found):
        rows = []
        for one in (one for one in found if one.task == task):
            cells = [_number(one.by_method.get(method, math.nan)) for method in methods]
            verdict = Cell(one.verdict, one.verdict, tone=_TONES.get(one.verdict, ""))
            rows.append((Cell(one.variant.label, one.variant.label), *cells, _number(one.between_methods), verdict))
        sections.append((task, tuple(rows)))
    caption = (
        "Rank correlation (Spearman) of the importance of heads: between the seeds of a model, by each method, and "
        f"between methods within a seed. Stable: both are at least {threshold:g} on average. Seed noise: training "
        "again makes other heads important, so no single head should be interpreted. Methods disagree: what counts as "
        "important depends on how it is measured."
    )
    columns = ("model", *(f"seeds, {method}" for method in methods), "methods", "verdict")
    return Table("stability", "Can importance be trusted?", caption, columns, tuple(sections))


def top_table(atlas: Sequence[Measurement]) -> Table:
    tasks = list(dict.fromkeys(task for one in atlas for task in one.variant.tasks))
    sections = []
    for task in tasks:
        rows = []
        for one in (one for one in atlas if task in one.variant.tasks):
            for method in one.methods(task):
                mean = one.values[task, method].mean(0)
                order = np.argsort(-np.where(np.isnan(mean), -np.inf, mean), axis=None, kind="stable")[:TOP]
                cells = [_head(mean, int(place)) for place in order]
                cells += [Cell("–")] * (TOP - len(cells))
                rows.append((Cell(one.variant.label, one.variant.label), Cell(method, method), *cells))
        sections.append((task, tuple(rows)))
    caption = (
        "The heads that matter most, named layer.head and counted from 1, with their importance averaged over seeds. "
        "Values compare within a line only: methods have scales of their own. All heads are in heads.parquet."
    )
    columns = ("model", "method", *(f"{place + 1}." for place in range(TOP)))
    return Table("top_heads", "The most important heads", caption, columns, tuple(sections))


def _head(mean: Map, place: int) -> Cell:
    layer, head = divmod(place, mean.shape[1])
    value = float(mean[layer, head])
    name = f"{layer + 1}.{head + 1}"
    return Cell(f"{name} ({value:.2g})".replace("-", "−"), name, data={"importance": value})


def draw(atlas: Sequence[Measurement], directory: Path) -> tuple[Figure, ...]:
    """A figure for every task: all its models by all methods."""
    figures = []
    for task in dict.fromkeys(task for one in atlas for task in one.variant.tasks):
        panels = [
            Panel(f"{one.variant.label}\n{method}", np.clip(one.values[task, method].mean(0), 0, None))
            for one in atlas
            if task in one.variant.tasks
            for method in one.methods(task)
        ]
        name = f"importance_{task}"
        rows = [one.methods(task) for one in atlas if task in one.variant.tasks]
        together = len({len(methods) for methods in rows}) == 1  # then every model has a row of its own
        draw_panels(directory, name, panels, limits=None, columns=len(rows[0]) if together else COLUMNS)
        caption = (
            f"Importance of every head for {task}, mean over seeds; each map from white (none, or less) to black (its "
            "largest value). Maps of one model that look alike are methods that agree; equal spots across models are "
            "heads that the task needs however it is trained."
        )
        figures.append(Figure(name, f"{task}: importance of heads", caption))
    return tuple(figures)


def summary(found: Sequence[Stability], threshold: float) -> tuple[str, ...]:
    counts = verdict_counts(found)
    total = len(found)
    words = {
        "stable": "seeds and methods agree on which heads matter",
        "seed noise": "which heads matter changes with the seed",
        "methods disagree": "seeds agree, but methods do not",
        "one seed": "there is one seed only, so noise cannot be told from signal",
    }
    ordered = [name for name in words if name in counts]
    return tuple(
        f"In {counts[name]} of {total} models and tasks {words[name]} (rank correlation {_side(name)} {threshold:g})."
        if name != "one seed"
        else f"In {counts[name]} of {total} models and tasks {words[name]}."
        for name in ordered
    )


def _side(verdict: str) -> str:
    return "at least" if verdict == "stable" else "below"


def _number(value: float) -> Cell:
    return Cell(f"{value:.2f}".replace("-", "−"), value) if math.isfinite(value) else Cell("–")
