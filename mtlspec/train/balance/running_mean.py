"""Losses are scaled to a common running mean."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from mtlspec.spec.families import BalanceOptions
from mtlspec.train.balancing import Balance
from mtlspec.train.numbers import number, ratio, times

if TYPE_CHECKING:
    from torch import Tensor

    from mtlspec.train.numbers import Number


class Options(BalanceOptions):
    type: Literal["running_mean"]
    window: Annotated[int, Field(ge=1)] = Field(default=5, description="Losses of each task that the mean is over.")

    def build(self, tasks: Sequence[str]) -> Balance:
        return RunningMean(len(tasks), self.window)


class RunningMean(Balance):
    """weight_t = (sum over tasks of mean_i) / mean_t; a mean is over a task's last losses, the current one included.

    Tasks that have not been drawn yet are not part of the sum. The weight is a constant: no gradient flows through it.
    """

    def __init__(self, tasks: int, window: int) -> None:
        super().__init__(tasks)
        self._losses = [deque["Number"](maxlen=window) for _ in range(tasks)]

    def weigh(self, task: int, loss: Tensor) -> tuple[Tensor, Number]:
        self._losses[task].append(number(loss))
        means = [sum(losses) / len(losses) if losses else 0.0 for losses in self._losses]
        # A loss of exactly zero has no scale to bring to a common one (rounding can even make it negative).
        weight = ratio(sum(means), means[task])
        return times(loss, weight), weight

    def state(self) -> dict[str, Any]:
        return {"losses": [list(map(float, losses)) for losses in self._losses]}

    def load_state(self, saved: dict[str, Any]) -> None:
        for losses, values in zip(self._losses, saved["losses"], strict=True):
            losses.clear()
            losses.extend(values)
