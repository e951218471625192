"""Tasks as predictions on new text ask them: for every example, and with probabilities where the decoder has them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from mtlspec.errors import SpecError
from mtlspec.model.task import Task
from mtlspec.model.tasks.classification import Classification
from mtlspec.model.tasks.tagging import Tagging

if TYPE_CHECKING:
    from torch import Tensor

    from mtlspec.data.batching import Batch
    from mtlspec.data.prepared import PreparedSplit
    from mtlspec.model.encoder.states import States
    from mtlspec.model.multitask import MultiTaskModel

_LEAST = 1e-4  # rarer labels are left out of a distribution
_DIGITS = 6


class Answer(NamedTuple):
    """A prediction; `probabilities` are label -> probability, of a tagger one such mapping a word."""

    prediction: Any
    probabilities: Any = None


class Asked(Task):
    """A task that predicts every example, whether it carries the task's annotation or not, and gives answers."""

    def __init__(self, task: Task, probabilities: bool) -> None:
        self.task = task
        self.name, self.layer, self.corpus = task.name, task.layer, task.corpus
        self.first_only = task.first_only
        self._probabilities = probabilities and has_probabilities(task)

    def rows(self, split: PreparedSplit) -> Tensor:
        import torch

        return torch.arange(len(split))

    def decode(self, states: States, batch: Batch) -> list[Answer]:
        found = self.task.decode(states, batch)
        if not self._probabilities:
            return list(map(Answer, found))
        return list(map(Answer, found, _distributions(self.task, states, batch)))

    def encode(self, split: PreparedSplit) -> Any:
        return self.task.encode(split)

    def loss(self, states: States, batch: Batch, gold: Any) -> Tensor:
        return self.task.loss(states, batch, gold)

    def gold_values(self, split: PreparedSplit) -> Sequence[Any]:
        return self.task.gold_values(split)

    def write_predictions(self, split: PreparedSplit, predictions: Sequence[Any], path: Path) -> None:
        self.task.write_predictions(split, [answer.prediction for answer in predictions], path)

    def extension_for(self, split: PreparedSplit) -> str:
        return self.task.extension_for(split)

    def describe(self) -> dict[str, Any]:
        return self.task.describe()


def asked(model: MultiTaskModel, probabilities: bool) -> MultiTaskModel:
    """The same model, whose tasks answer so."""
    asking = copy(model)
    asking.tasks = tuple(Asked(task, probabilities) for task in model.tasks)
    return asking


def has_probabilities(task: Task) -> bool:
    """Whether a task's decoder gives its labels probabilities; parsers and rankers of spans score whole structures."""
    return isinstance(task, Tagging | Classification)


def require_probabilities(tasks: Sequence[Task], named: bool) -> None:
    """An error if a task that was named has none, or if no task has any."""
    lacking = [task for task in tasks if not has_probabilities(task)]
    if lacking and (named or len(lacking) == len(tasks)):
        kind = lacking[0].describe()["options"]["type"]
        message = f"the decoder of task '{lacking[0].name}' ('{kind}') gives no probabilities"
        raise SpecError("E546", message, None, "taggers and classifiers do")


def _distributions(task: Task, states: States, batch: Batch) -> list[Any]:
    if isinstance(task, Classification):
        return [_shown(row, task.labels) for row in task.module(states, batch).softmax(1).tolist()]
    assert isinstance(task, Tagging)
    found = task.tagger.probabilities(states.words, batch.word_mask).tolist()
    lengths = batch.word_mask.sum(1).tolist()
    return [[_shown(word, task.tags) for word in row[:size]] for row, size in zip(found, lengths, strict=True)]


def _shown(row: Sequence[float], labels: Sequence[str]) -> Mapping[str, float]:
    """The likely labels, the likeliest first."""
    likely = sorted(((p, label) for p, label in zip(row, labels, strict=True) if p >= _LEAST), key=lambda x: -x[0])
    return {label: round(p, _DIGITS) for p, label in likely}
