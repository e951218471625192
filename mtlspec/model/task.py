"""Task: what every task type offers. It is a plain class that holds its decoder; a new one is one file in `tasks/`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

if TYPE_CHECKING:
    from torch import Tensor, nn

    from mtlspec.data.batching import Batch
    from mtlspec.data.prepared import PreparedSplit
    from mtlspec.metrics.metric import Metric
    from mtlspec.model.encoder.encoder import WordStates
    from mtlspec.spec.families import TaskOptions


class Task(Protocol):
    """Decoder, loss, decoding, metric and writer; predictions and gold values are what the metric compares."""

    name: str
    layer: str
    metric: Metric
    extension: str  # of its file of predictions

    @property
    def module(self) -> nn.Module: ...

    def rows(self, split: PreparedSplit) -> Tensor:
        """int64 [n]: the sentences that carry this task's annotation."""
        ...

    def encode(self, split: PreparedSplit) -> Any:
        """The gold annotation of a whole split in the form that `loss` reads; made once per split."""
        ...

    def loss(self, states: WordStates, batch: Batch, gold: Any) -> Tensor:
        """Mean loss [] of a batch; `gold` is what `encode` made of the split that `batch.rows` point into."""
        ...

    def decode(self, states: WordStates, batch: Batch) -> list[Any]:
        """One prediction a sentence, in the order of the batch."""
        ...

    def gold_values(self, split: PreparedSplit) -> Sequence[Any]:
        """One gold value a sentence, labels that training never saw included."""
        ...

    def write_predictions(self, split: PreparedSplit, predictions: Sequence[Any], path: Path) -> None: ...

    def describe(self) -> dict[str, Any]:
        """JSON from which `rebuild_task` makes this task again: `options` and `labels`."""
        ...


class TaskKind(Protocol):
    """What the options of every task type can do."""

    def build(self, name: str, labels: Mapping[str, int], width: int) -> Task: ...


def build_task(options: TaskOptions, name: str, labels: Mapping[str, int], width: int) -> Task:
    """`labels` are the training labels of the task's layer with their counts; `width` that of the word vectors."""
    return cast("TaskKind", options).build(name, labels, width)


def rebuild_task(name: str, about: Mapping[str, Any], width: int) -> Task:
    """The inverse of `Task.describe`; its parameters come from a checkpoint."""
    from mtlspec.kinds import options_class
    from mtlspec.spec.families import TASKS

    options = options_class(TASKS, about["options"]["type"]).model_validate(about["options"])
    return build_task(cast("TaskOptions", options), name, about["labels"], width)
