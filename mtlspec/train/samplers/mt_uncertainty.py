"""Of some candidates of every task, those that the model is least sure of are trained on (CA-MTL, Algorithm 1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from mtlspec.errors import StageError
from mtlspec.model.task import SILENT
from mtlspec.spec.families import SamplerOptions
from mtlspec.train.sampling import Part, Sampler, TaskSizes

if TYPE_CHECKING:
    from torch import Tensor

    from mtlspec.train.view import View

Normalise = Literal["released", "paper"]


class Options(SamplerOptions):
    """A batch is the `batch.sentences` best of all tasks' candidates, which are encoded together, without gradient, in
    evaluation mode; `batch.tokens` limits how many at once. A task whose type does not say how unsure it is
    (regression) gets the share of a batch that it would have if tasks were drawn at random, and any examples, unless
    it has a proxy."""

    type: Literal["mt_uncertainty"]
    candidates: Annotated[int, Field(gt=0)] | None = Field(
        default=None, description="Candidates of each task for a batch; by default `batch.sentences`, as in the paper."
    )
    normalise: Normalise = Field(
        default="released",
        description=(
            "`released`: an example's entropy, as a share of the largest possible, times that of its task on average "
            "compared with the most unsure task, so that whole tasks are preferred. `paper`: all are divided by the "
            "same number (Eq. 4), which leaves their order as it is."
        ),
    )

    proxy: dict[str, str] = Field(
        default_factory=dict,
        description=(
            "Task that does not say how unsure it is -> the task whose candidates lend theirs what they are chosen by, "
            "one by one, as the released code does for STS-B. Where a model lacks either, nothing is lent."
        ),
    )

    def build(self, sizes: TaskSizes, sentences: int, epochs: int, seed: int) -> Sampler:
        del epochs, seed
        return MtUncertainty(sizes, sentences, self.candidates or sentences, self.normalise, self.proxy)


class MtUncertainty(Sampler):
    """Nothing is drawn by chance: the feeds shuffle candidates, and the model chooses."""

    def __init__(
        self, sizes: TaskSizes, sentences: int, candidates: int, normalise: Normalise, proxy: Mapping[str, str]
    ) -> None:
        super().__init__(sizes)
        number = {name: task for task, name in enumerate(sizes.names)}
        self._lenders = {number[one]: number[by] for one, by in proxy.items() if one in number and by in number}
        self._sentences, self._candidates, self._normalise = sentences, candidates, normalise
        self._silent: frozenset[int] | None = None  # tasks that do not say how unsure they are; found out once
        # What silent tasks have left of their shares, in parts of an example; no two batches differ in the sum.
        self._owed = [task * sentences % len(sizes) for task in range(len(sizes))]

    def draw(self, view: View) -> tuple[Part, ...]:
        tasks = range(len(self.sizes))
        if self._silent is None:
            self._silent = frozenset(task for task in tasks if not _says(view, task))
        told = [task for task in tasks if task not in self._silent]
        lent = {task: by for task, by in self._lenders.items() if task in self._silent and by in told}
        given = [self._share(view, task) for task in tasks if task in self._silent and task not in lent]
        wanted = self._sentences - sum(len(part.rows) for part in given)
        asked = [self._offered(view, task) for task in told]
        weights = weigh(view.all_scores(asked), self._normalise) if asked else []
        for task, by in lent.items():
            own, theirs = self._offered(view, task), weights[told.index(by)]
            asked.append(own._replace(rows=own.rows[: len(theirs)]))
            weights.append(theirs[: len(own.rows)])
        parts = given + (_best(asked, weights, wanted) if asked else [])
        return tuple(sorted((part for part in parts if len(part.rows)), key=lambda part: part.task))

    def _offered(self, view: View, task: int) -> Part:
        """The next candidates of a task."""
        return _once(Part(task, view.take(task, min(self._candidates, self.sizes.examples[task]))))

    def _share(self, view: View, task: int) -> Part:
        """The next examples of a task that gets its share of every batch."""
        count, self._owed[task] = divmod(self._owed[task] + self._sentences, len(self.sizes))
        return _once(Part(task, view.take(task, min(count, self.sizes.examples[task]))))

    def state(self) -> dict[str, Any]:
        return {"owed": self._owed}

    def load_state(self, saved: dict[str, Any]) -> None:
        self._owed = list(saved["owed"])


def _best(candidates: Sequence[Part], weights: Sequence[Tensor], wanted: int) -> list[Part]:
    """The `wanted` best of all candidates; of equal ones those of earlier tasks, and earlier ones of a task."""
    import torch

    best = torch.cat(list(weights)).argsort(descending=True, stable=True)[:wanted]
    owners = torch.repeat_interleave(torch.tensor([len(part.rows) for part in candidates]))
    rows = torch.cat([part.rows for part in candidates])
    return [Part(part.task, rows[best[owners[best] == number]]) for number, part in enumerate(candidates)]


def weigh(unsure: Sequence[Tensor], normalise: Normalise) -> list[Tensor]:
    """What candidates are chosen by: of every task its normalised entropies [n] -> weights [n]."""
    means = [float(scores.mean()) for scores in unsure]
    highest = max(means) or 1.0  # a model that is sure of everything has no preference
    factors = means if normalise == "released" else [1.0] * len(means)
    return [scores * (factor / highest) for scores, factor in zip(unsure, factors, strict=True)]


def _once(part: Part) -> Part:
    """Every example once: where one pass over a task's data ends and the next begins, one could come twice."""
    import torch

    return part._replace(rows=torch.unique(part.rows))


def _says(view: View, task: int) -> bool:
    """Whether a task says how unsure it is; no stream of examples moves."""
    try:
        view.scores(task, view.feeds[task].rows[:1])
    except StageError as error:
        if error.code != SILENT:
            raise
        return False
    return True
