"""What batches were made of while models trained: examples of each task over the updates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import Field

from mtlspec.errors import StageError
from mtlspec.spec.families import AnalysisOptions, Keep, Needed

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    import numpy.typing as npt

    from mtlspec.results.findings import Figure
    from mtlspec.results.jobs import AnalysisJob
    from mtlspec.results.tables import Table
    from mtlspec.results.variants import Variant


class Options(AnalysisOptions):
    """Of models of several tasks; the mean over their seeds. It shows which tasks a sampler takes first, and which it
    leaves when they are learnt."""

    type: Literal["sampling_composition"]
    needs: ClassVar[tuple[Needed, ...]] = ("train",)
    reads_of_models: ClassVar[Keep] = "scores"
    parts: Annotated[int, Field(ge=3)] = Field(
        default=40, description="Into how many parts of equal length training is divided."
    )

    def run(self, job: AnalysisJob) -> Mapping[str, Any]:
        """Writes `tables/`, `figures/` and `analysis.json` below `out`; returns facts for the stage's record."""
        from mtlspec.results.findings import Findings
        from mtlspec.results.variants import variants

        found = [_composition(variant, job, self.parts) for variant in variants(job.models) if len(variant.learnt) > 1]
        if not found:
            raise StageError("E567", "no model learns several tasks", hint="name one that does in `models`")
        findings = Findings(
            type=self.type,
            title="What batches were made of",
            summary=tuple(map(_sentence, found)),
            tables=(_table(found),),
            figures=tuple(_draw(one, job.out / "figures") for one in found),
            numbers={one.variant.slug: one.numbers() for one in found},
        )
        findings.write(job.out)
        return {"models": len(found)}


@dataclass(frozen=True)
class Composition:
    """Shares of examples [parts, tasks], the mean over seeds, and the update that each part ends with [parts]."""

    variant: Variant
    tasks: tuple[str, ...]
    shares: npt.NDArray[np.float64]
    ends: npt.NDArray[np.float64]
    whole: npt.NDArray[np.float64]  # [tasks] over all of training

    def peak(self, task: int) -> int:
        """The part in which a task has its largest share; the first of several."""
        return int(self.shares[:, task].argmax())

    def numbers(self) -> dict[str, Any]:
        return {"tasks": list(self.tasks), "ends": self.ends.tolist(), "shares": self.shares.tolist()}


def _composition(variant: Variant, job: AnalysisJob, parts: int) -> Composition:
    import numpy as np

    from mtlspec.results.history import read_history

    tasks = tuple(variant.learnt)
    counted, lasts = [], []
    for run in variant.runs:
        names, columns = read_history(job.inputs[run.train])
        last = int(columns["update"].max())
        cut = min(parts, last)
        counts = np.zeros((cut, len(tasks)))
        part = np.minimum(((columns["update"] - 1) * cut / last).astype(np.int64), cut - 1)
        for at, name, examples in zip(part.tolist(), names, columns["examples"], strict=True):
            counts[at, tasks.index(name)] += examples
        counted.append(counts)
        lasts.append(last)
    fewest = min(map(len, counted))
    shares = np.mean([counts[:fewest] / counts[:fewest].sum(1, keepdims=True) for counts in counted], axis=0)
    whole = np.mean([counts.sum(0) / counts.sum() for counts in counted], axis=0)
    ends = np.arange(1, fewest + 1) * float(np.mean(lasts)) / fewest
    return Composition(variant, tasks, shares, ends, whole)


def _sentence(one: Composition) -> str:
    order = sorted(range(len(one.tasks)), key=one.peak)
    first, rest = one.shares[0], one.shares[-1]
    most = int(one.whole.argmax())
    told = f"{one.variant.label}: most examples are of {one.tasks[most]} ({100 * one.whole[most]:.0f} %)"
    peaks = ", ".join(one.tasks[task] for task in order)
    grown = int((rest - first).argmax())
    change = f"{100 * first[grown]:.0f} to {100 * rest[grown]:.0f} %"
    return f"{told}; shares are largest in the order {peaks}; that of {one.tasks[grown]} grows most, from {change}."


def _table(found: Sequence[Composition]) -> Table:
    from mtlspec.results.tables import Cell, Table

    sections = []
    for one in found:
        lines = []
        for number, task in enumerate(one.tasks):
            own, peak = one.shares[:, number], one.peak(number)
            values = (one.whole[number], own[0], own[-1], own[peak])
            cells = (Cell(f"{100 * value:.1f}", 100 * float(value)) for value in values)
            lines.append((Cell(task, task), *cells, Cell(f"{one.ends[peak]:.0f}", float(one.ends[peak]))))
        sections.append((one.variant.label, tuple(lines)))
    caption = (
        "Share of a task in the examples that a model was trained on, in percent, mean over seeds: in all, in the "
        "first and in the last part of training, at most, and up to which update that was. Parts are of equal length."
    )
    columns = ("task", "all", "first part", "last part", "largest", "until update")
    return Table("composition", "What batches were made of", caption, columns, tuple(sections))


def _draw(one: Composition, directory: Path) -> Figure:
    from mtlspec.results.figures import CYCLE, drawing
    from mtlspec.results.findings import Figure

    name = f"composition_{one.variant.slug}"
    colours = [CYCLE[number % len(CYCLE)] for number in range(len(one.tasks))]
    with drawing(directory, name, 4.6, 2.9 + 0.2 * -(-len(one.tasks) // 3)) as axes:
        axes.stackplot(one.ends, 100 * one.shares.T, labels=list(one.tasks), colors=colours, alpha=0.85)
        axes.set_xlabel("update")
        axes.set_ylabel("examples (%)")
        axes.set_ylim(0, 100)
        axes.margins(x=0)
        axes.figure.legend(loc="outside lower center", ncols=3)
    caption = "Share of each task in the examples of every part of training, mean over seeds."
    return Figure(name, f"What batches were made of: {one.variant.label}", caption)
