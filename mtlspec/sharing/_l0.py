"""The gates of `l0` at work: drawn in every forward pass of training, fixed in evaluation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from mtlspec.data.batching import Batch
from mtlspec.errors import EncoderError
from mtlspec.model.encoder.encoder import Encoder
from mtlspec.model.encoder.states import States
from mtlspec.model.hard_concrete import OPEN, half_open
from mtlspec.model.sharing import HeadMeasure, ParameterGroup, Sharing
from mtlspec.model.task import Task

if TYPE_CHECKING:
    from mtlspec.sharing.l0 import Options


class L0(Sharing):
    """`module.gates` [L, H] are the gates' parameters; where a layer has fewer heads than H, the rest is idle."""

    def __init__(self, encoder: Encoder, tasks: Sequence[str], options: Options) -> None:
        super().__init__(encoder, tasks)
        self._options = options
        self._shape = options.shape()
        self.relative_penalty = options.relative
        self.balance_penalty = options.order == "penalty_then_balance"
        layers, heads = encoder.heads.shape
        counts = torch.tensor(encoder.heads.counts)
        self._real = torch.arange(heads) < counts.unsqueeze(1)  # bool [L, H]
        start = torch.full((layers, heads), OPEN) if options.init == "open" else half_open(layers, heads)
        self._gates = nn.Parameter(start)
        self.module = nn.ParameterDict({"gates": self._gates})
        self.module.register_buffer("counts", counts)  # saved with the gates: those of other heads mean nothing

    def attach(self, tasks: Sequence[Task]) -> None:
        if self._options.mode == "static":
            for task in tasks:
                task.module.requires_grad_(False)

    def groups(self, updates: int) -> list[ParameterGroup]:
        """Plain Adam outside the clipping of gradients.

        A gate's gradient is a sum over the batch and has another scale than a weight's. In the global norm it would
        slow the encoder down whenever gates move, and be slowed down with it; Adam bounds a gate's step by itself.
        """
        rate = self._auto_rate(updates) if self._options.gate_lr == "auto" else self._options.gate_lr
        return [ParameterGroup("gates", (self._gates,), rate, scheduled=False, clipped=False, decayed=False)]

    def encode(self, batch: Batch) -> States:
        """One gate a head and forward pass, the same for all sentences of the batch."""
        if self.module.get_buffer("counts").tolist() != list(self.encoder.heads.counts):
            raise EncoderError(
                "E376",
                "heads were removed from a model that has gates for them",
                hint="`mtlspec.prune(model)` makes a pruned copy with its gates folded in",
            )
        gates = self._shape.draw(self._gates) if self.module.training else self.head_gates("gate")
        with self.encoder.heads.gated(gates):
            return super().encode(batch)

    def penalty(self) -> Tensor:
        open_ = self._shape.p_open(self._gates) * self._mask
        divisor = len(open_) if self._options.penalty_form == "released" else self._real.sum()
        return self._options.weight * open_.sum() / divisor

    def head_gates(self, measure: HeadMeasure = "gate") -> Tensor:
        gates = self._gates.detach()
        if measure == "p_open":
            return self._shape.p_open(gates) * self._mask
        if measure == "expected_z":
            return self._shape.expected(gates) * self._mask
        found = self._shape.evaluation(gates)
        return found * (found > self._options.kept) * self._mask

    @torch.no_grad()
    def logs(self) -> dict[str, float]:
        """Expected number of open heads, share of heads that evaluation keeps, penalty."""
        return {
            "gates_open": self.head_gates("p_open").sum().item(),
            "gates_kept": ((self.head_gates("gate") > 0).sum() / self._real.sum()).item(),
            "gates_penalty": self.penalty().item(),
        }

    @property
    def _mask(self) -> Tensor:
        return self._real.to(self._gates)

    def _auto_rate(self, updates: int) -> float:
        """Adam moves a gate by at most about its rate per update; it must get from its start to where it is closed."""
        start = OPEN if self._options.init == "open" else 0.0
        return 2 * (start - self._shape.boundary(0.0)) / max(updates, 1)
