"""Sharing: how the tasks of a model use one encoder.

`Sharing` itself is hard sharing. A strategy is one file in `mtlspec/sharing` that derives from it and overrides the
hooks where it differs: it may add modules, change what a task sees of the encoder, add to the loss, and act around
every update.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

from torch import Tensor, nn

if TYPE_CHECKING:
    from torch.optim import Optimizer

    from mtlspec.data.batching import Batch
    from mtlspec.model.encoder.encoder import Encoder
    from mtlspec.model.encoder.states import States
    from mtlspec.model.task import Task

Balancing = Callable[[int, Tensor], Tensor]
"""(task, its loss) -> its weighted loss"""

HeadMeasure = Literal["gate", "p_open", "expected_z"]
"""The gate of evaluation; the probability that a drawn gate is open; the mean of a drawn gate."""


@dataclass(frozen=True)
class ParameterGroup:
    """Parameters with a learning rate of their own."""

    name: str
    parameters: tuple[nn.Parameter, ...]
    lr: float
    scheduled: bool = False  # True: warm-up, decay and plateau apply
    clipped: bool = True  # False: neither counted in the gradient norm nor scaled down with it
    decayed: bool = True  # False: no weight decay, whatever the shapes


@dataclass(frozen=True)
class Moment:
    """Where training stands when a hook is called."""

    update: int  # from 1
    updates: int  # in the whole run, if it does not stop early
    tasks: tuple[int, ...]  # whose batches make up this update
    optimiser: Optimizer
    training_batches: Callable[[int], Iterator[tuple[Batch, Any]]]  # task -> all its training data, with gold


class Sharing:
    """One encoder for all tasks, one decoder each."""

    task_free = True  # the encoder's output does not depend on the task, so evaluation encodes once for all
    relative_penalty = False  # True: the penalty is a share of the trained loss, so that it fits losses of any scale
    balance_penalty = False  # True: the penalty is added to every task's loss before that is balanced

    def __init__(self, encoder: Encoder, tasks: Sequence[str]) -> None:
        self.encoder = encoder
        self.names = tuple(tasks)
        self.module = nn.Module()  # parameters of the strategy's own, saved with the model
        self.width: int = encoder.width  # of the word vectors that the decoders see

    def attach(self, tasks: Sequence[Task]) -> None:
        """Called once, when the decoders exist: the place to freeze, tie or replace their modules."""

    def groups(self, updates: int) -> list[ParameterGroup]:
        """Parameters with learning rates of their own; those of `module` that are not named train with the decoders."""
        del updates
        return []

    def encode(self, batch: Batch) -> States:
        """What the decoders see; `batch.tasks` says for which task each example is encoded."""
        states: States = self.encoder(batch)
        return states

    def loss(self, task: int, loss: Tensor, balance: Balancing) -> Tensor:
        """The loss that is trained, without `penalty`."""
        return balance(task, loss)

    def penalty(self) -> Tensor | None:
        """What is added to the trained loss []: with weight 1 per update, whatever the number of tasks and batches."""
        return None

    def head_gates(self, measure: HeadMeasure = "gate") -> Tensor | None:
        """How open the strategy leaves every head, [L, H] from 0 to 1; None if it gates no heads."""
        del measure
        return None

    def before_update(self, moment: Moment) -> None:
        """Called before the forward passes of an update; gradients are empty."""

    def after_update(self, moment: Moment) -> None:
        """Called after the optimiser's step."""

    def logs(self) -> dict[str, float]:
        """Figures for the history, the same keys at every update."""
        return {}

    def state(self) -> dict[str, Any]:
        """What a resume point must hold beside parameters, as JSON."""
        return {}

    def load_state(self, saved: dict[str, Any]) -> None:
        """The inverse of `state`."""


class SharingKind(Protocol):
    """What the options of every strategy can do."""

    def build(self, encoder: Encoder, tasks: Sequence[str]) -> Sharing: ...
