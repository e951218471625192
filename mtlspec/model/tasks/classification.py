"""Classification: one label for a sentence, a text, or a pair of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field

from mtlspec.errors import StageError, did_you_mean
from mtlspec.model.tasks._pooled import PooledOptions, PooledTask
from mtlspec.spec.families import LabelProblem, LayerKind

if TYPE_CHECKING:
    from torch import Tensor

    from mtlspec.data.batching import Batch
    from mtlspec.data.prepared import PreparedSplit
    from mtlspec.metrics.metric import Metric
    from mtlspec.model.encoder.states import States
    from mtlspec.model.task import Task

UNKNOWN = -1  # no label, or one that training never saw

Weight = Annotated[float, Field(ge=0)]


class Options(PooledOptions):
    reads: ClassVar[frozenset[LayerKind]] = frozenset({"label"})
    type: Literal["classification"]
    class_weights: Literal["balanced"] | dict[str, Weight] | None = Field(
        default=None,
        description=(
            "Label -> weight of its examples in the loss, 1 for labels that are not named; `balanced`: every label "
            "weighs the same in all, however rare it is."
        ),
    )
    metric: Literal["accuracy", "f1", "f1_macro", "f1_micro", "matthews", "f1_accuracy"] = Field(
        default="accuracy",
        description=(
            "The score that decides. `f1` is that of one label, `f1_accuracy` its mean with accuracy (GLUE's pair for "
            "MRPC and QQP), `matthews` CoLA's. All but `accuracy` report the others as well."
        ),
    )
    positive: str | None = Field(
        default=None,
        description="The label that `f1` is about; by default, of two labels, the last in alphabetical order (`1`).",
    )

    def build(self, name: str, labels: Mapping[str, int], width: int) -> Task:
        return Classification(name, self, labels, width)

    def label_problem(self, labels: Sequence[str]) -> LabelProblem | None:
        weights = self.class_weights if isinstance(self.class_weights, dict) else {}
        named = [("class_weights", label) for label in weights]
        for option, label in [*named, *([("positive", self.positive)] if self.positive is not None else [])]:
            if label not in labels:
                known = did_you_mean(label, labels) or f"known: {', '.join(sorted(labels))}"
                return LabelProblem(option, f"`{option}` names '{label}', which is no label of '{self.layer}'", known)
        if labels and all(weights.get(label) == 0 for label in labels):
            return LabelProblem("class_weights", "`class_weights` are 0 for all labels, so nothing would be learnt")
        if self.metric in ("f1", "f1_accuracy") and self.positive is None and len(labels) != 2:
            message = f"`{self.metric}` is about one of {len(labels)} labels; which one?"
            return LabelProblem("metric", message, "name it with `positive`, or use `f1_macro`")
        return None


class Classification(PooledTask):
    """It predicts the labels of the training data, in their sorted order."""

    def __init__(self, name: str, options: Options, labels: Mapping[str, int], width: int) -> None:
        import torch

        from mtlspec.model.tasks._pooled_head import PooledHead

        super().__init__(name, options, labels)
        if not labels:
            raise StageError("E471", f"task '{name}': the training data of layer '{self.layer}' have no labels")
        self.labels = sorted(labels)
        problem = options.label_problem(self.labels)
        if problem is not None:
            raise StageError("E473", f"task '{name}': {problem.message}", hint=problem.hint)
        self.metric = self._metric(options)
        self.module = PooledHead(width, len(self.labels), options)
        self._weights = torch.tensor([_weight(label, labels, options.class_weights) for label in self.labels])

    def encode(self, split: PreparedSplit) -> Tensor:
        """int64 [N]: the number of each example's label."""
        return split.codes(self.layer, self.labels)

    def classes(self, split: PreparedSplit) -> Tensor:
        return self.encode(split)

    def loss(self, states: States, batch: Batch, gold: Tensor) -> Tensor:
        """Cross-entropy, the mean over examples whose label is known, weighted if labels have weights."""
        import torch
        from torch.nn.functional import cross_entropy

        from mtlspec.data.transfer import to_device

        scores, right = self.module(states, batch), gold[batch.rows]
        found, weights = to_device(right, scores.device), to_device(self._weights, scores.device)
        total: Tensor = cross_entropy(scores, found, weights, ignore_index=UNKNOWN, reduction="sum")
        mass = self._weights[right[right != UNKNOWN]].sum()
        return total / torch.where(mass > 0, mass, 1.0)

    def distance(self, states: States, batch: Batch, teacher: Task, taught: States, temperature: float) -> Tensor:
        """Cross-entropy against the teacher's softened probabilities, times the squared temperature."""
        if not isinstance(teacher, Classification) or teacher.labels != self.labels:
            raise StageError("E878", f"task '{self.name}': the teacher chooses from other labels than the student")
        wanted = (teacher.module(taught, batch).detach() / temperature).softmax(1)
        found = (self.module(states, batch) / temperature).log_softmax(1)
        loss: Tensor = -(wanted * found).sum(1).mean() * temperature**2
        return loss

    def decode(self, states: States, batch: Batch) -> list[str]:
        return [self.labels[number] for number in self.module(states, batch).argmax(1).tolist()]

    def uncertainty(self, states: States, batch: Batch) -> Tensor:
        from mtlspec.model.entropy import normalised_entropy

        return normalised_entropy(self.module(states, batch).detach().softmax(1))

    def shown(self, value: str) -> str:
        return value

    def _metric(self, options: Options) -> Metric:
        from mtlspec.metrics.classes import ClassScores, ExampleAccuracy

        positive = options.positive or (self.labels[-1] if len(self.labels) == 2 else None)
        if options.metric == "accuracy":
            return ExampleAccuracy()
        return ClassScores(self.labels, options.metric, positive)


def _weight(label: str, counts: Mapping[str, int], weights: str | Mapping[str, float] | None) -> float:
    """Balanced: labels with equal sums of weights, and a mean of 1 over the examples of training."""
    if weights == "balanced":
        return sum(counts.values()) / (len(counts) * counts[label])
    return weights.get(label, 1.0) if isinstance(weights, Mapping) else 1.0
