"""A fixed weight for each task."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from mtlspec.errors import did_you_mean
from mtlspec.spec.families import BalanceOptions
from mtlspec.train.balance._fixed import FixedWeights

if TYPE_CHECKING:
    from mtlspec.train.balancing import Balance


class Options(BalanceOptions):
    type: Literal["static"]
    weights: dict[str, Annotated[float, Field(ge=0)]] = Field(
        min_length=1, description="Task -> weight. Every task of a model needs one; a model may have fewer tasks."
    )

    def problem(self, tasks: Sequence[str]) -> str | None:
        missing = [task for task in tasks if task not in self.weights]
        if missing:
            hint = did_you_mean(missing[0], self.weights)
            return f"no weight for the task '{missing[0]}'" + (f" ({hint})" if hint else "")
        if not any(self.weights[task] for task in tasks):
            return "the weights of all tasks are zero"
        return None

    def build(self, tasks: Sequence[str]) -> Balance:
        return FixedWeights([self.weights[task] for task in tasks])
