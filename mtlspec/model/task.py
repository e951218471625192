"""Task: what every task type offers. It is a plain class that holds its decoder; a new one is one file in `tasks/`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from mtlspec.errors import StageError

if TYPE_CHECKING:
    from torch import Tensor, nn

    from mtlspec.data.batching import Batch
    from mtlspec.data.prepared import PreparedSplit
    from mtlspec.metrics.metric import Metric
    from mtlspec.model.encoder.states import States
    from mtlspec.spec.families import TaskOptions

SILENT = "E470"  # the error of a task type that does not say how unsure it is


class Task(ABC):
    """Decoder, loss, decoding, metric and writer; predictions and gold values are what the metric compares."""

    extension: ClassVar[str]  # of its file of predictions, where `extension_for` does not say another one
    metric: Metric
    module: nn.Module  # the decoder
    first_only: bool = False  # True: of an example's states, the decoder reads the first sub-token's and nothing else

    def __init__(self, name: str, options: TaskOptions, labels: Mapping[str, int]) -> None:
        self.name = name
        self.layer = options.layer
        self.corpus = options.data  # None: the only one that there is
        self._described = {"options": options.model_dump(mode="json"), "labels": dict(labels)}

    def rows(self, split: PreparedSplit) -> Tensor:
        """int64 [n], ascending: the examples that carry this task's annotation. They train, predict and count."""
        return split.labelled(self.layer)

    def drawn(self, split: PreparedSplit) -> Tensor:
        """int64 [n], ascending: those of `rows` that training draws, each with what `completed` adds to it."""
        return self.rows(split)

    def completed(self, split: PreparedSplit, rows: Tensor) -> Tensor:
        """Drawn examples int64 [n], and behind them those that must be read in the same batch."""
        del split
        return rows

    @abstractmethod
    def encode(self, split: PreparedSplit) -> Any:
        """The gold annotation of a whole split in the form that `loss` reads; made once per split."""

    @abstractmethod
    def loss(self, states: States, batch: Batch, gold: Any) -> Tensor:
        """Mean loss [] of a batch; `gold` is what `encode` made of the split that `batch.rows` point into."""

    @abstractmethod
    def decode(self, states: States, batch: Batch) -> list[Any]:
        """One prediction an example, in the order of the batch."""

    @abstractmethod
    def gold_values(self, split: PreparedSplit) -> Sequence[Any]:
        """One gold value an example, labels that training never saw included."""

    @abstractmethod
    def write_predictions(self, split: PreparedSplit, predictions: Sequence[Any], path: Path) -> None:
        """`predictions` has an entry for every example of the split: None where nothing was predicted."""

    def classes(self, split: PreparedSplit) -> Tensor | None:
        """int64 [N]: what `train.draw: balanced` takes equally many of, of every example; None: it has no classes."""
        del split
        return None

    def distance(self, states: States, batch: Batch, teacher: Task, taught: States, temperature: float) -> Tensor:
        """How far predictions are from a teacher's of the same task, which reads `taught` of the same batch: [].

        It has a gradient in the student alone.
        """
        del states, batch, teacher, taught, temperature
        kind = self._described["options"]["type"]
        hint = "write `distil: {prediction: 0}`, and `labels: 1`"
        raise StageError(
            "E877", f"task '{self.name}': a task of type '{kind}' learns no predictions of a teacher", hint=hint
        )

    def extension_for(self, split: PreparedSplit) -> str:
        """That of the file of predictions for a split."""
        del split
        return self.extension

    def uncertainty(self, states: States, batch: Batch) -> Tensor:
        """How unsure the decoder is of each example: float32 [B] from 0 to 1, without gradient."""
        del states, batch
        kind = self._described["options"]["type"]
        raise StageError(SILENT, f"task '{self.name}': the type '{kind}' does not say how unsure it is of an example")

    def describe(self) -> dict[str, Any]:
        """JSON from which `rebuild_task` makes this task again: `options` and `labels`."""
        return self._described


def rebuild_task(name: str, about: Mapping[str, Any], width: int) -> Task:
    """The inverse of `Task.describe`; its parameters come from a checkpoint."""
    from mtlspec.kinds import options_class
    from mtlspec.spec.families import TASKS, TaskOptions

    options = options_class(TASKS, about["options"]["type"]).model_validate(about["options"])
    assert isinstance(options, TaskOptions)
    return options.build(name, about["labels"], width)
