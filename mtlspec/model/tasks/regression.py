"""Regression: one number for a sentence, a text, or a pair of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field

from mtlspec.errors import StageError
from mtlspec.model.tasks._pooled import PooledOptions, PooledTask
from mtlspec.spec.families import LayerKind

if TYPE_CHECKING:
    from torch import Tensor

    from mtlspec.data.batching import Batch
    from mtlspec.data.prepared import PreparedSplit
    from mtlspec.model.encoder.states import States
    from mtlspec.model.task import Task


class Options(PooledOptions):
    reads: ClassVar[frozenset[LayerKind]] = frozenset({"value"})
    type: Literal["regression"]
    metric: Literal["pearson", "spearman", "pearson_spearman"] = Field(
        default="spearman",
        description="The score that decides; all three are reported. The last is the mean of both, GLUE's for STS-B.",
    )
    clip: bool = Field(
        default=False, description="Whether predictions outside the range of the training data become its border."
    )

    def build(self, name: str, labels: Mapping[str, int], width: int) -> Task:
        return Regression(name, self, labels, width)


class Regression(PooledTask):
    """It learns numbers on the scale of the training data: minus their mean, divided by their standard deviation.

    `labels` are the numbers of the training data, as text, with their counts.
    """

    def __init__(self, name: str, options: Options, labels: Mapping[str, int], width: int) -> None:
        from mtlspec.metrics.correlation import Correlation
        from mtlspec.model.tasks._pooled_head import PooledHead

        super().__init__(name, options, labels)
        if not labels:
            raise StageError("E474", f"task '{name}': the training data of layer '{self.layer}' have no numbers")
        numbers = {float(text): count for text, count in labels.items()}
        total = sum(numbers.values())
        self.mean = math.fsum(number * count for number, count in numbers.items()) / total
        # Training data of one number have the scale 1.
        self.scale = _deviation([(number - self.mean, count) for number, count in numbers.items()]) or 1.0
        self.range = min(numbers), max(numbers)
        self.metric = Correlation(options.metric)
        self.module = PooledHead(width, 1, options)
        self._clip = options.clip

    def encode(self, split: PreparedSplit) -> Tensor:
        """float32 [N]: the numbers on the scale of training, not a number where there is none."""
        return ((split.numbers(self.layer) - self.mean) / self.scale).float()

    def classes(self, split: PreparedSplit) -> Tensor:
        """The quarter of the split's numbers that each is in; equal numbers are in one quarter."""
        import torch

        numbers = split.numbers(self.layer)
        borders = torch.nanquantile(numbers, numbers.new_tensor([0.25, 0.5, 0.75]))
        return torch.bucketize(numbers, borders)

    def loss(self, states: States, batch: Batch, gold: Tensor) -> Tensor:
        """Mean squared error, on that scale."""
        from torch.nn.functional import mse_loss

        from mtlspec.data.transfer import to_device

        found = self.module(states, batch).squeeze(1)
        return mse_loss(found, to_device(gold[batch.rows], found.device))

    def distance(self, states: States, batch: Batch, teacher: Task, taught: States, temperature: float) -> Tensor:
        """Mean squared distance of the two numbers, on the scale of training; a temperature changes nothing."""
        from torch.nn.functional import mse_loss

        del temperature
        if not isinstance(teacher, Regression) or (teacher.mean, teacher.scale) != (self.mean, self.scale):
            raise StageError("E878", f"task '{self.name}': the teacher learnt numbers on another scale")
        return mse_loss(self.module(states, batch), teacher.module(taught, batch).detach())

    def decode(self, states: States, batch: Batch) -> list[float]:
        found = self.module(states, batch).squeeze(1).double() * self.scale + self.mean
        return (found.clamp(*self.range) if self._clip else found).tolist()  # type: ignore[no-any-return]

    def shown(self, value: float) -> str:
        return repr(value)


def _deviation(away: Sequence[tuple[float, int]]) -> float:
    """The root of the mean square of distances, each with its count.

    Huge and tiny ones are squared as parts of the largest; others as they are, as a division would change last bits.
    """
    largest = max(abs(number) for number, _ in away)
    if not largest:
        return 0.0
    unit = 1.0 if 1e-100 < largest < 1e100 else largest
    squares = math.fsum((number / unit) ** 2 * count for number, count in away) / sum(count for _, count in away)
    return math.sqrt(squares) * unit
