"""Scores of a new task by the embedding that it begins with, and whether that makes a difference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from mtlspec.data.streams import philox
from mtlspec.metrics.significance import holm
from mtlspec.results.averages import number_cell
from mtlspec.results.estimates import mean_and_std
from mtlspec.results.evaluations import Evaluations
from mtlspec.results.figures import Line, curves
from mtlspec.results.findings import Figure
from mtlspec.results.tables import Cell, Row, Table
from mtlspec.results.variants import Variant

EMBEDDING, EXAMPLES = "sharing.embedding", "train.examples"
DRAWN = ("random", "xavier")
LEVEL = 0.05
Floats = npt.NDArray[np.float64]


def embedding_of(variant: Variant) -> str | None:
    """The embedding that the only task of a model begins with, if that is swept over."""
    found = dict(variant.sweep).get(EMBEDDING)
    return str(found) if found is not None and variant.is_single else None


@dataclass(frozen=True)
class Size:
    """Scores of every embedding at one number of examples [embeddings, seeds], on test and on dev."""

    examples: int | None  # None: as the group says
    test: Floats
    dev: Floats
    p: float | None  # of the test that all embeddings are alike; None where there are no two, or one seed
    adjusted: float | None = None  # p after Holm's correction over all tests of the analysis

    @property
    def means(self) -> Floats:
        """[embeddings]"""
        found: Floats = self.test.mean(1)
        return found

    def chosen(self) -> Floats:
        """The test score of the embedding with the best dev score, of every seed [seeds]."""
        return np.array([self.test[row, seed] for seed, row in enumerate(self.dev.argmax(0).tolist())])

    @property
    def title(self) -> str:
        return "as the group says" if self.examples is None else str(self.examples)

    @property
    def significant(self) -> bool:
        return self.adjusted is not None and self.adjusted < LEVEL

    def numbers(self) -> dict[str, Any]:
        scores = {"test": self.test.tolist(), "dev": self.dev.tolist()}
        return {"examples": self.examples, **scores, "p": self.p, "p_holm": self.adjusted}


@dataclass(frozen=True)
class Transfer:
    """A group that learns one new task."""

    group: str
    task: str
    metric: str
    embeddings: tuple[str, ...]
    sizes: tuple[Size, ...]
    source: str

    @property
    def known(self) -> list[int]:
        """The rows of embeddings that other tasks have learnt."""
        return [row for row, name in enumerate(self.embeddings) if name not in DRAWN]

    def numbers(self) -> dict[str, Any]:
        sizes = [size.numbers() for size in self.sizes]
        return {"group": self.group, "task": self.task, "embeddings": list(self.embeddings), "sizes": sizes}


def transfers(models: Sequence[Variant], evaluations: Evaluations, rounds: int, seed: int) -> list[Transfer]:
    """Every group and task, with the embeddings that all its sizes have, on the seeds that all have."""
    gathered: dict[tuple[str, str], dict[int | None, dict[str, Variant]]] = {}
    for variant in models:
        (task,), embedding = variant.tasks, embedding_of(variant)
        scored = all(evaluations[run.evaluate].is_scored(task) for run in variant.runs)
        if embedding is not None and scored:
            sizes = gathered.setdefault((variant.group, task), {})
            sizes.setdefault(dict(variant.sweep).get(EXAMPLES), {})[embedding] = variant
    found = []
    for (group, task), by_size in gathered.items():
        order = sorted(by_size, key=lambda size: (size is None, size or 0))
        names = [name for name in by_size[order[0]] if all(name in by_size[size] for size in order)]
        each = {size: [by_size[size][name] for name in names] for size in order}
        made = tuple(_size(task, size, own, evaluations, rounds, seed) for size, own in each.items())
        first = by_size[order[0]][names[0]].runs[0]
        source = " · ".join(run.train for run in by_size[order[0]][names[0]].runs)
        found.append(Transfer(group, task, evaluations[first.evaluate].main(task), tuple(names), made, source))
    return _corrected(found)


def _corrected(found: Sequence[Transfer]) -> list[Transfer]:
    """With the p values that may be compared with the level: the sentence names whatever size stands out."""
    adjusted = iter(holm([size.p for one in found for size in one.sizes if size.p is not None]).tolist())

    def corrected(size: Size) -> Size:
        return size if size.p is None else replace(size, adjusted=next(adjusted))

    return [replace(one, sizes=tuple(map(corrected, one.sizes))) for one in found]


def _size(
    task: str, size: int | None, models: Sequence[Variant], evaluations: Evaluations, rounds: int, seed: int
) -> Size:
    seeds = [one for one in models[0].seeds if all(one in model.seeds for model in models)]
    runs = [[run for run in model.runs if run.seed in seeds] for model in models]
    test, dev = (
        np.array([[evaluations[run.evaluate].score(task, split) for run in own] for own in runs], np.float64)
        for split in ("test", "dev")
    )
    return Size(size, test, dev, exchanged(test, rounds, seed))


def exchanged(scores: Floats, rounds: int, seed: int) -> float | None:
    """p of the hypothesis that rows of scores [embeddings, seeds] are alike: scores of one seed may change places.

    The statistic is the variance of the rows' means. What is drawn counts as found once more, so that p is never 0.
    """
    rows, columns = scores.shape
    if rows < 2 or columns < 2:
        return None
    stream = philox(seed, "embeddings")
    observed = float(scores.mean(1).var())
    keys = stream.random((rounds, rows, columns))
    drawn = np.take_along_axis(np.broadcast_to(scores, keys.shape), keys.argsort(1), axis=1).mean(2).var(1)
    return float((1 + (drawn >= observed - 1e-12).sum()) / (1 + rounds))


def sentence(one: Transfer) -> str:
    """Where it matters, and by how much."""
    sure = [size for size in one.sizes if size.significant]
    told = f"{one.group}: {one.task}"
    if not sure:
        widest = max(one.sizes, key=lambda size: float(np.ptp(size.means)))
        spread = f"at most {np.ptp(widest.means):.1f} points between means, with {widest.title} examples"
        return f"{told}: no number of examples shows that the embedding matters ({spread})."
    size = sure[0]
    best, worst = (
        f"{one.embeddings[row]} ({size.means[row]:.1f})" for row in (int(size.means.argmax()), int(size.means.argmin()))
    )
    where = ", ".join(each.title for each in sure)
    return (
        f"{told}: the embedding matters with {where} examples (p < {LEVEL} after correction): with {size.title} "
        f"it is best to begin with {best}, worst with {worst}."
    )


def scores_table(found: Sequence[Transfer]) -> Table:
    """Rows are embeddings, columns numbers of examples."""
    sizes = list(dict.fromkeys(size.title for one in found for size in one.sizes))
    sections = []
    for one in found:
        by_title = {size.title: _columns(one, size) for size in one.sizes}
        names = next(iter(by_title.values()))
        rows = tuple((Cell(name, name), *(_cell(by_title.get(title), name, one) for title in sizes)) for name in names)
        sections.append((f"{one.group}: {one.task} ({one.metric})", rows))
    caption = (
        "Test scores in percent, mean ± sample standard deviation over seeds, by the embedding that a new task begins "
        "with and by training examples. Chosen on dev: each seed's embedding with the best dev score. With 0 examples "
        "the decoder is as random as it starts, so that scores are those of chance, whatever the embedding."
    )
    return Table("embedding_transfer", "Transfer by embedding", caption, ("begins with", *sizes), tuple(sections))


def _columns(one: Transfer, size: Size) -> dict[str, Floats]:
    """What the rows of the table have at one size: [seeds] each."""
    found: dict[str, Floats] = dict(zip(one.embeddings, size.test, strict=True))
    if len(one.known) > 1:
        found["mean of known tasks"] = size.test[one.known].mean(0)
    return {**found, "chosen on dev": size.chosen()}


def _cell(columns: Mapping[str, Floats] | None, name: str, one: Transfer) -> Cell:
    return Cell("–") if columns is None else number_cell(columns[name].tolist(), one.source)


def tests_table(found: Sequence[Transfer], rounds: int) -> Table:
    """Whether embeddings differ, size by size."""
    sections = []
    for one in found:
        rows: list[Row] = []
        for size in one.sizes:
            best, worst = int(size.means.argmax()), int(size.means.argmin())
            within = mean_and_std([mean_and_std(own.tolist())[1] or 0.0 for own in size.test])[0]
            ps = (Cell("–") if p is None else Cell(f"{p:.3f}", p) for p in (size.p, size.adjusted))
            spread = float(np.ptp(size.means))
            names = (Cell(one.embeddings[place], one.embeddings[place]) for place in (best, worst))
            numbers = (Cell(f"{spread:.2f}", spread), Cell(f"{within:.2f}", within))
            rows.append((Cell(size.title, size.title), *names, *numbers, *ps))
        sections.append((f"{one.group}: {one.task}", tuple(rows)))
    caption = (
        "The best and the worst embedding by their means over seeds, the points between them, and for comparison how "
        f"much seeds differ (mean standard deviation). p: all embeddings are alike; {rounds} exchanges of the scores "
        "of a seed among embeddings, then after Holm's correction over the rows. Test examples count as given."
    )
    columns = ("examples", "best", "worst", "between", "seeds", "p", "p (Holm)")
    return Table("embedding_tests", "Does the embedding matter?", caption, columns, tuple(sections))


def draw(one: Transfer, directory: Path) -> Figure:
    """A line for each embedding; numbers of examples are too far apart to be drawn to scale."""
    name = f"embedding_transfer_{one.group}_{one.task}"
    places = np.arange(1, len(one.sizes) + 1, dtype=np.float64)
    lines = [
        Line(embedding, places, np.array([size.means[row] for size in one.sizes]))
        for row, embedding in enumerate(one.embeddings)
    ]
    told = ", ".join(size.title for size in one.sizes)
    curves(directory, name, lines, x_title=f"examples: {told}", y_title=one.metric)
    caption = "Mean test scores over seeds, by the embedding that the task begins with."
    return Figure(name, f"{one.group}: {one.task} by embedding", caption)
