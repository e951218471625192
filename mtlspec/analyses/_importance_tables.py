"""The atlas of heads over all models: whether seeds and methods agree, which heads lead, and maps."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from mtlspec.analyses._agreement import Map, pairwise, spearman
from mtlspec.analyses._head_figures import COLUMNS, Panel, draw_panels
from mtlspec.analyses._importance import FILE, UNDEFINED, write_heads
from mtlspec.results.findings import Figure
from mtlspec.results.jobs import AnalysisJob
from mtlspec.results.tables import Cell, Table, Tone
from mtlspec.results.variants import Variant, variants

TOP = 5
DISTINCT = 4  # values that a map needs: with fewer, ranks tell hardly more than which heads are switched off
_ONE = "; whether seeds agree cannot be judged from one"
_WORDS = {  # verdict -> its sentence
    "stable": "seeds and methods agree on which heads matter (rank correlation at least {0:g})",
    "seeds agree": "seeds agree on which heads matter (rank correlation at least {0:g}); methods cannot be compared",
    "seed noise": "which heads matter changes with the seed (rank correlation below {0:g})",
    "methods disagree": "seeds agree, but methods do not (rank correlation below {0:g})",
    "one seed, methods agree": f"methods agree on which heads matter (rank correlation at least {{0:g}}){_ONE}",
    "one seed, methods disagree": f"methods disagree on which heads matter (rank correlation below {{0:g}}){_ONE}",
    "one seed": "there is one seed only and methods cannot be compared, so nothing can be said about agreement",
    "all equal": "all heads of a run have the same value, so there is no order that seeds could agree on",
}
_TONES: dict[str, Tone] = {
    "stable": "up",
    "seed noise": "down",
    "methods disagree": "down",
    "one seed, methods disagree": "down",
}


@dataclass(frozen=True)
class HeadMaps:
    """A model's heads: (task, method) -> values of its runs [R, L, H], NaN where a layer has no such head."""

    variant: Variant
    tables: tuple[pa.Table, ...]  # as measured, one a run
    values: Mapping[tuple[str, str], Map]
    undefined: Mapping[str, str]  # task -> why no drop of its dev score can be told

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


def read(job: AnalysisJob) -> list[HeadMaps]:
    """Models that no method applies to (the gates of a model without gates) have no values."""
    found = []
    for variant in variants(job.models):
        own = tuple(pq.read_table(job.measurement(run) / FILE) for run in variant.runs)
        maps = [_maps(table) for table in own]
        values = {key: np.stack([one[key] for one in maps]) for key in maps[0]}
        undefined = json.loads((job.measurement(variant.runs[0]) / UNDEFINED).read_bytes())
        found.append(HeadMaps(variant, own, values, undefined))
    return found


def _maps(table: pa.Table) -> dict[tuple[str, str], Map]:
    columns = {name: table.column(name).to_pylist() for name in table.column_names}
    shape = (max(columns["layer"], default=0), max(columns["head"], default=0))
    maps: dict[tuple[str, str], Map] = {}
    for task, method, layer, head, value in zip(*(columns[name] for name in table.column_names), strict=True):
        maps.setdefault((task, method), np.full(shape, np.nan))[layer - 1, head - 1] = value
    return maps


def write_atlas(atlas: Sequence[HeadMaps], out: Path) -> None:
    """All measurements in one table, with the columns `model`, `group` and `seed` in front."""
    parts = []
    for one in atlas:
        for run, table in zip(one.variant.runs, one.tables, strict=True):
            about = {"model": one.variant.slug, "group": one.variant.group, "seed": run.seed}
            for place, (name, value) in enumerate(about.items()):
                table = table.add_column(place, name, pa.repeat(value, table.num_rows))  # noqa: PLW2901
            parts.append(table)
    write_heads(pa.concat_tables(parts), out)


def stability(atlas: Sequence[HeadMaps], threshold: float) -> list[Stability]:
    found = []
    for one in atlas:
        for task in one.variant.tasks:
            methods = one.methods(task)
            if not methods:
                continue
            by_method = {method: pairwise(spearman, _heads(one.values[task, method])) for method in methods}
            pairs = [
                _between(a, b)
                for first, second in combinations(methods, 2)
                for a, b in zip(_heads(one.values[task, first]), _heads(one.values[task, second]), strict=True)
            ]
            between = _mean(pairs)
            seeds = _mean(list(by_method.values()))
            verdict = _verdict(len(one.variant.runs), seeds, between, threshold)
            found.append(Stability(one.variant, task, by_method, between, verdict))
    return found


def _between(first: Map, second: Map) -> float:
    """Of two methods; NaN if one of them has too few distinct values for an order of heads."""
    return spearman(first, second) if min(len(np.unique(first)), len(np.unique(second))) >= DISTINCT else math.nan


def _heads(runs: Map) -> Map:
    """[R, L, H] -> [R, heads], without places that are no heads."""
    flat = runs.reshape(len(runs), -1)
    return np.asarray(flat[:, ~np.isnan(flat[0])])


def _mean(values: Sequence[float]) -> float:
    """Of those that are defined."""
    defined = [value for value in values if math.isfinite(value)]
    return float(np.mean(defined)) if defined else math.nan


def _verdict(runs: int, seeds: float, methods: float, threshold: float) -> str:
    """Noise between seeds is told first: methods cannot agree on what is not there."""
    if runs == 1:
        agree = "" if math.isnan(methods) else ", methods agree" if methods >= threshold else ", methods disagree"
        return f"one seed{agree}"
    if math.isnan(seeds):
        return "all equal"
    if seeds < threshold:
        return "seed noise"
    if math.isnan(methods):
        return "seeds agree"
    return "stable" if methods >= threshold else "methods disagree"


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
        "important depends on how it is measured. A dash: there is one seed or one method, all heads of a run have the "
        "same value, the dev score by which heads are judged is not defined, or a method has fewer than "
        f"{DISTINCT} distinct values to compare with another's."
    )
    columns = ("model", *(f"seeds, {method}" for method in methods), "methods", "verdict")
    return Table("stability", "Can importance be trusted?", caption, columns, tuple(sections))


def top_table(atlas: Sequence[HeadMaps]) -> Table:
    tasks = list(dict.fromkeys(task for one in atlas for task in one.variant.tasks))
    sections = []
    for task in tasks:
        rows = []
        for one in (one for one in atlas if task in one.variant.tasks):
            for method in one.methods(task):
                mean = one.values[task, method].mean(0)
                order = np.argsort(-np.where(np.isnan(mean), -np.inf, mean), axis=None, kind="stable")[:TOP]
                cells = [_head(mean, int(place)) for place in order if mean.flat[place] > 0]
                cells += [Cell("–")] * (TOP - len(cells))
                rows.append((Cell(one.variant.label, one.variant.label), Cell(method, method), *cells))
        if rows:
            sections.append((task, tuple(rows)))
    caption = (
        "The heads that matter most, named layer.head and counted from 1, with their importance averaged over seeds. "
        "Heads of no importance (0 or less) are not listed. Values compare within a line only: methods have scales of "
        "their own. All heads are in heads.parquet."
    )
    columns = ("model", "method", *(f"{place + 1}." for place in range(TOP)))
    return Table("top_heads", "The most important heads", caption, columns, tuple(sections))


def _head(mean: Map, place: int) -> Cell:
    layer, head = divmod(place, mean.shape[1])
    value = float(mean[layer, head])
    name = f"{layer + 1}.{head + 1}"
    return Cell(f"{name} ({value:.2g})".replace("-", "−"), name, data={"importance": value})


def draw(atlas: Sequence[HeadMaps], directory: Path) -> tuple[Figure, ...]:
    """A figure for every task: all its models by all methods."""
    figures = []
    for task in dict.fromkeys(task for one in atlas for task in one.variant.tasks):
        panels = [
            Panel(f"{one.variant.label}\n{method}", np.clip(one.values[task, method].mean(0), 0, None))
            for one in atlas
            if task in one.variant.tasks
            for method in one.methods(task)
        ]
        if not panels:
            continue
        name = f"importance_{task}"
        rows = [methods for one in atlas if (methods := one.methods(task))]
        together = len({len(methods) for methods in rows}) == 1  # then every model has a row of its own
        draw_panels(directory, name, panels, limits=None, columns=len(rows[0]) if together else COLUMNS)
        caption = (
            f"Importance of every head for {task}, mean over seeds; each map from white (none, or less) to black (its "
            "largest value). Maps of one model that look alike are methods that agree; equal spots across models are "
            "heads that the task needs however it is trained."
        )
        figures.append(Figure(name, f"{task}: importance of heads", caption))
    return tuple(figures)


def summary(
    atlas: Sequence[HeadMaps], found: Sequence[Stability], threshold: float, *, gates_only: bool = False
) -> tuple[str, ...]:
    counts = verdict_counts(found)
    sentences = [
        f"In {counts[name]} of {len(found)} models and tasks {words.format(threshold)}."
        if len(found) > 1
        else f"{found[0].variant.label}, {found[0].task}: {words.format(threshold)}."
        for name, words in _WORDS.items()
        if name in counts
    ]
    lacking = [one.variant.label for one in atlas if not one.values]
    if lacking and gates_only:
        whose = "no model" if len(lacking) == len(atlas) else f"none of {', '.join(lacking)}"
        sentences.append(f"Gates are the only method of this analysis, and {whose} has gates.")
        return tuple(sentences)
    undefined = {task: why for one in atlas for task, why in one.undefined.items()}
    sentences += [
        f"What heads are worth to {task} in points is not defined: dev has {why}." for task, why in undefined.items()
    ]
    told = {*undefined, *(task for one in atlas for task, method in one.values if method != "gate")}
    silent = [task for task in dict.fromkeys(task for one in atlas for task in one.variant.tasks) if task not in told]
    if silent and not gates_only:
        sentences.append(
            f"Nothing is measured of {', '.join(silent)}: the sentences of the sample have no such labels."
        )
    return tuple(sentences)


def _number(value: float) -> Cell:
    return Cell(f"{value:.2f}".replace("-", "−"), value) if math.isfinite(value) else Cell("–")
