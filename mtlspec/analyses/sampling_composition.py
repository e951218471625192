"""What batches were made of while models trained, and whether tasks that look hard came first (CA-MTL, Figure 8)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import Field

from mtlspec.errors import StageError
from mtlspec.spec.families import Keep, Needed
from mtlspec.spec.several_tasks import SeveralTasks

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from mtlspec.analyses._difficulty import Difficulty
    from mtlspec.results.jobs import AnalysisJob
    from mtlspec.results.variants import Variant


class Options(SeveralTasks):
    """Of models of several tasks; the mean over their seeds. It shows which tasks a sampler takes first, and which it
    leaves when they are learnt. Beside it, an estimate of how hard tasks with classes are by their training data alone
    (Collins et al., 2018), which its authors trust with classes of difficulty, not with ranks."""

    type: Literal["sampling_composition"]
    needs: ClassVar[tuple[Needed, ...]] = ("prepare", "train")
    reads_of_models: ClassVar[Keep] = "scores"
    parts: Annotated[int, Field(ge=3)] = Field(
        default=40, description="Into how many parts of equal length training is divided."
    )
    alpha: Annotated[float, Field(gt=0, lt=1)] = Field(
        default=0.05, description="Peaks and difficulty agree if the p value after Holm's correction is below this."
    )

    def run(self, job: AnalysisJob) -> Mapping[str, Any]:
        """Writes `tables/`, `figures/` and `analysis.json` below `out`; returns facts for the stage's record."""
        from mtlspec.analyses import _composition_views as views
        from mtlspec.results.findings import Findings
        from mtlspec.results.variants import variants

        several = [variant for variant in variants(job.models) if len(variant.learnt) > 1]
        found = [made for variant in several if (made := _composition(variant, job, self.parts)) is not None]
        if not found:
            raise StageError("E567", "no model was trained on several tasks", hint="name one that was in `models`")
        hard = _difficulties(found, job)
        agreed = views.agreements(found, hard, self.alpha)
        findings = Findings(
            type=self.type,
            title="What batches were made of",
            summary=tuple(views.sentence(one, agreed) for one in found),
            tables=(views.composition_table(found, hard), *views.difficulty_tables(found, hard, agreed)),
            figures=views.draw(found, hard, job.out / "figures"),
            numbers={
                "models": {one.variant.slug: one.numbers() for one in found},
                "difficulty": {task: one.estimate for task, one in hard.items()},
            },
        )
        findings.write(job.out)
        return {"models": len(found), "estimates": len(hard)}


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

    def first_peak(self, task: int) -> int | None:
        """The first part whose share is above that of the parts beside it, and not below the task's mean; None of a
        task that no batch had."""
        import numpy as np

        own = self.shares[:, task]
        if not own.any():
            return None
        around = np.pad(own, 1, constant_values=-1.0)
        peaks = (own >= around[:-2]) & (own >= around[2:]) & (own >= own.mean() - 1e-12)
        return int(peaks.argmax())

    def numbers(self) -> dict[str, Any]:
        firsts = [self.first_peak(task) for task in range(len(self.tasks))]
        peaks = [None if part is None else float(self.ends[part]) for part in firsts]
        shares, ends = self.shares.tolist(), self.ends.tolist()
        return {"tasks": list(self.tasks), "ends": ends, "shares": shares, "first_peaks": peaks}


def _composition(variant: Variant, job: AnalysisJob, parts: int) -> Composition | None:
    """None of a model that was not trained (`train.examples: 0`)."""
    import numpy as np

    from mtlspec.results.history import read_history

    tasks = tuple(variant.learnt)
    counted, lasts = [], []
    for run in variant.runs:
        names, columns = read_history(job.inputs[run.train])
        if not len(names):
            return None
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


def _difficulties(found: Sequence[Composition], job: AnalysisJob) -> dict[str, Difficulty]:
    """Task -> the estimate of its difficulty, where its data have classes."""
    from mtlspec.analyses._difficulty import of_layer
    from mtlspec.data.corpora import Corpora
    from mtlspec.model.multitask import ABOUT

    corpora = Corpora.load(job.inputs)
    layers: dict[str, tuple[str | None, str]] = {}
    for one in found:
        for task in json.loads((job.inputs[one.variant.runs[0].train] / ABOUT).read_bytes())["tasks"]:
            layers[task["name"]] = (task["options"].get("data"), task["options"]["layer"])
    read = {place: of_layer(corpora.named(place[0]), place[1]) for place in dict.fromkeys(layers.values())}
    estimates = {task: read[place] for task, place in layers.items()}
    return {task: estimate for task, estimate in estimates.items() if estimate is not None}
