"""A toy strategy: every task leaves some rows of the query projections alone, and what Adam remembers of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal

from mtlspec.model.sharing import Moment, Sharing
from mtlspec.spec.families import SharingOptions

if TYPE_CHECKING:
    from torch import nn

    from mtlspec.model.encoder.encoder import Encoder


class Options(SharingOptions):
    type: Literal["frozen_queries"]

    def build(self, encoder: Encoder, tasks: Sequence[str]) -> Sharing:
        return FrozenQueries(encoder, tasks)


class FrozenQueries(Sharing):
    """Task t leaves rows t, t + T + 1, t + 2 (T + 1) ... of T tasks; the last of every T + 1 rows is everybody's."""

    @property
    def queries(self) -> list[nn.Parameter]:
        return [p for name, p in self.encoder.named_parameters() if "query" in name]

    def rows(self, parameter: nn.Parameter, tasks: Sequence[int]) -> list[int]:
        """The rows that an update of these tasks leaves alone."""
        return [row for row in range(len(parameter)) if row % (len(self.names) + 1) in tasks]

    def step(self, moment: Moment, step: Callable[[], None]) -> None:
        import torch

        before = []
        for parameter in self.queries:
            rows, state = self.rows(parameter, moment.tasks), moment.optimiser.state.get(parameter, {})
            moments = {key: state[key][rows].clone() for key in ("exp_avg", "exp_avg_sq") if key in state}
            before.append((parameter, rows, parameter.detach()[rows].clone(), moments))
        step()
        with torch.no_grad():
            for parameter, rows, values, moments in before:
                parameter[rows] = values
                for key in ("exp_avg", "exp_avg_sq"):
                    moment.optimiser.state[parameter][key][rows] = moments.get(key, torch.zeros_like(values))
