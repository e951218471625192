"""Which tasks have similar embeddings? Those of models that tell tasks by vectors, as a map and as cosines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from mtlspec.errors import StageError
from mtlspec.spec.families import Keep, Needed
from mtlspec.spec.several_tasks import SeveralTasks

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    import numpy.typing as npt

    from mtlspec.results.findings import Figure
    from mtlspec.results.jobs import AnalysisJob
    from mtlspec.results.tables import Table
    from mtlspec.results.variants import Variant

_FEWEST = 4  # tasks, for a map of neighbours
TENSORS = ("sharing.embedding", "sharing.vectors.weight")  # [tasks, D]: `ca_mtl`, `task_embedding`


class Options(SeveralTasks):
    """Of models with an embedding for each task (`sharing: ca_mtl`, `task_embedding`); others are passed over. Two
    principal axes of a model's embeddings are a map; where there are four tasks or more, a map that keeps neighbours
    together (t-SNE, from these axes on, without chance) stands beside it. Seeds turn and mirror maps, so only cosines
    can be averaged."""

    type: Literal["task_embedding_map"]
    needs: ClassVar[tuple[Needed, ...]] = ("train",)
    reads_of_models: ClassVar[Keep] = "gates"

    def run(self, job: AnalysisJob) -> Mapping[str, Any]:
        """Writes `tables/`, `figures/` and `analysis.json` below `out`; returns facts for the stage's record."""
        from mtlspec.results.findings import Findings
        from mtlspec.results.variants import variants

        found = [made for variant in variants(job.models) if (made := _embedded(variant, job)) is not None]
        if not found:
            hint = "name models of several tasks with `sharing: ca_mtl` or `task_embedding`"
            raise StageError("E568", "no model of two tasks or more has embeddings of them", hint=hint)
        findings = Findings(
            type=self.type,
            title="Task embeddings",
            summary=tuple(map(_sentence, found)),
            tables=tuple(_table(one) for one in found),
            figures=tuple(figure for one in found for figure in _maps(one, job.out / "figures")),
            numbers={one.variant.slug: {"tasks": list(one.tasks), "cosines": one.cosines.tolist()} for one in found},
        )
        findings.write(job.out)
        return {"models": len(found)}


@dataclass(frozen=True)
class Embedded:
    """Embeddings of every seed [tasks, D]."""

    variant: Variant
    tasks: tuple[str, ...]
    seeds: tuple[npt.NDArray[np.float64], ...]

    @property
    def cosines(self) -> npt.NDArray[np.float64]:
        """[seeds, tasks, tasks]"""
        import numpy as np

        return np.stack([cosines(own) for own in self.seeds])


def cosines(vectors: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """[n, D] -> [n, n], without the mean: what all tasks have in common tells none of them."""
    import numpy as np

    centred = vectors - vectors.mean(0)
    lengths = np.linalg.norm(centred, axis=1, keepdims=True)
    directions = np.divide(centred, lengths, out=np.zeros_like(centred), where=lengths > 0)
    return np.asarray(directions @ directions.T, np.float64)


def principal(vectors: npt.NDArray[np.float64]) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Places [n, 2] on the two principal axes, and the shares of variance [2] that these have.

    Each axis points to where its largest entry is positive, so that the map does not depend on the library.
    """
    import numpy as np

    centred = vectors - vectors.mean(0)
    left, values, _ = np.linalg.svd(centred, full_matrices=False)
    places = np.zeros((len(vectors), 2))
    axes = min(2, len(values))
    places[:, :axes] = left[:, :axes] * values[:axes]
    largest = np.abs(places).argmax(0)
    places *= np.where(places[largest, [0, 1]] < 0, -1.0, 1.0)
    shares = np.zeros(2)
    total = float((values**2).sum())
    if total > 0:
        shares[:axes] = values[:axes] ** 2 / total
    return places, shares


def _embedded(variant: Variant, job: AnalysisJob) -> Embedded | None:
    import json

    from mtlspec.model.strategy import strategy_weights

    if len(variant.learnt) < 2:
        return None
    found, tasks = [], ()
    for run in variant.runs:
        weights = strategy_weights(job.inputs[run.train])
        own = next((weights[name] for name in TENSORS if name in weights), None)
        if own is None:
            return None
        about = json.loads((job.inputs[run.train] / "model.json").read_bytes())
        tasks = tuple(task["name"] for task in about["tasks"])
        found.append(own.double().numpy())
    return Embedded(variant, tasks, tuple(found))


def _pairs(one: Embedded) -> list[tuple[float, str, str]]:
    """Mean cosine of every two tasks, the largest first."""
    mean, count = one.cosines.mean(0), len(one.tasks)
    pairs = [(float(mean[i, j]), one.tasks[i], one.tasks[j]) for i in range(count) for j in range(i + 1, count)]
    return sorted(pairs, key=lambda pair: -pair[0])


def _sentence(one: Embedded) -> str:
    pairs = _pairs(one)
    if len(pairs) == 1:
        return f"{one.variant.label}: of two tasks, cosines without the mean tell nothing."
    (high, *near), (low, *far) = pairs[0], pairs[-1]
    told = f"{one.variant.label}: {near[0]} and {near[1]} have the most similar embeddings (cosine {high:.2f})"
    return f"{told}, {far[0]} and {far[1]} the least ({low:.2f})."


def _table(one: Embedded) -> Table:
    from mtlspec.results.estimates import mean_and_std
    from mtlspec.results.tables import Cell, Table, score_text

    lines = []
    for i, task in enumerate(one.tasks):
        cells = []
        for j in range(len(one.tasks)):
            mean, std = mean_and_std(one.cosines[:, i, j].tolist())
            cells.append(Cell() if i == j else Cell(score_text(mean, std), mean, std))
        lines.append((Cell(task, task), *cells))
    caption = (
        "Cosines of task embeddings, the mean embedding subtracted; mean ± sample standard deviation over seeds. With "
        "few tasks they must be negative on average: of n tasks, −1 / (n − 1) if they are alike."
    )
    title = f"Task embeddings: {one.variant.label}"
    return Table(f"cosines_{one.variant.slug}", title, caption, ("task", *one.tasks), (("", tuple(lines)),))


def _maps(one: Embedded, directory: Path) -> Iterator[Figure]:
    from mtlspec.results.findings import Figure

    seed, title = one.variant.seeds[0], f"Task embeddings: {one.variant.label}"
    places, shares = principal(one.seeds[0])
    first, second = (f"{100 * share:.0f} %" for share in shares)
    name = f"map_{one.variant.slug}"
    _draw(directory, name, one.tasks, places, (f"first axis ({first} of the variance)", f"second axis ({second})"))
    yield Figure(name, title, f"Two principal axes of the embeddings of seed {seed}.")
    if len(one.tasks) >= _FEWEST:
        from mtlspec.analyses._neighbours import neighbour_map

        name = f"neighbours_{one.variant.slug}"
        _draw(directory, name, one.tasks, neighbour_map(one.seeds[0], places).round(3), ("", ""))
        caption = (
            f"t-SNE of the embeddings of seed {seed}, from their principal axes on: who is next to whom. Distances and "
            "directions mean nothing else."
        )
        yield Figure(name, f"{title} (t-SNE)", caption)


def _draw(
    directory: Path, name: str, tasks: Sequence[str], places: npt.NDArray[np.float64], titles: tuple[str, str]
) -> None:
    from mtlspec.results.figures import CYCLE, GRID, drawing

    with drawing(directory, name, 4.2, 3.6) as axes:
        axes.axhline(0.0, color=GRID, linewidth=0.6)
        axes.axvline(0.0, color=GRID, linewidth=0.6)
        for number, (task, (x, y)) in enumerate(zip(tasks, places.tolist(), strict=True)):
            axes.scatter([x], [y], color=CYCLE[number % len(CYCLE)], s=22)
            axes.annotate(task, (x, y), xytext=(4, 4), textcoords="offset points")
        axes.margins(0.2)
        axes.set_xlabel(titles[0])
        axes.set_ylabel(titles[1])
