"""Sharing: how the tasks of a model use one encoder.

`Sharing` itself is hard sharing. A strategy is one file in `mtlspec/sharing` that derives from it and overrides the
hooks where it differs: it may add modules, change what a task sees of the encoder, say what is minimised, and act
around every update. This file imports no torch, so that a strategy with all its behaviour fits into one light file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from torch import Tensor, nn
    from torch.optim import Optimizer

    from mtlspec.data.batching import Batch
    from mtlspec.model.encoder.encoder import Encoder
    from mtlspec.model.encoder.states import States
    from mtlspec.model.task import Task

Balancing = Callable[[int, "Tensor"], "Tensor"]
"""(task, its loss) -> its weighted loss"""

HeadMeasure = Literal["gate", "p_open", "expected_z"]
"""The gate of evaluation; the probability that a drawn gate is open; the mean of a drawn gate."""


class TaskLoss(NamedTuple):
    """The mean loss [] of one task on its examples of a batch, and their share of all labels in it."""

    task: int
    loss: Tensor
    share: float


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
    tasks: tuple[int, ...]  # whose examples make up this update; empty before its backward passes
    optimiser: Optimizer
    training_batches: Callable[[int], Iterator[tuple[Batch, Any]]]  # task -> all its training data, with gold


class Sharing:
    """One encoder for all tasks, one decoder each."""

    task_free = True  # the encoder's output does not depend on the task, so evaluation encodes once for all

    def __init__(self, encoder: Encoder, tasks: Sequence[str]) -> None:
        from torch import nn

        self.encoder = encoder
        self.names = tuple(tasks)
        self.module: nn.Module = nn.Module()  # parameters of the strategy's own, saved with the model
        self.width: int = encoder.width  # of the word vectors that the decoders see

    @property
    def plain(self) -> bool:
        """Whether the encoder computes as if there were no strategy: then states of frozen layers can be kept.

        A strategy that overrides `encode` is taken to change what happens below, unless it says otherwise.
        """
        return type(self).encode is Sharing.encode

    def label_spaces(self, labels: Mapping[str, Mapping[str, int]]) -> Mapping[str, Mapping[str, int]]:
        """Task -> the labels that its decoder chooses from, with counts; `labels` are those of its training data."""
        return labels

    def attach(self, tasks: Sequence[Task]) -> None:
        """Called once, when the decoders exist: the place to freeze, tie or replace their modules."""

    def adopted(self, weights: Mapping[str, Tensor], tasks: Sequence[str]) -> Mapping[str, Tensor]:
        """What `module` begins with, by name, where it takes over that of a trained model of other tasks.

        `weights` are that model's, of the same strategy; `tasks` its tasks. Asked only where the options have no
        `start_problem`.
        """
        del tasks
        return weights

    def groups(self, updates: int) -> list[ParameterGroup]:
        """Parameters with learning rates of their own; those of `module` that are not named train with the decoders."""
        del updates
        return []

    def encode(self, batch: Batch) -> States:
        """What the decoders see; `batch.tasks` says for which task each example is encoded."""
        states: States = self.encoder(batch)
        return states

    def objective(self, losses: Sequence[TaskLoss], balance: Balancing) -> Tensor:
        """What one batch minimises []: the balanced losses of its tasks, by their shares.

        Called once for each batch, so that what a strategy adds counts once, whatever the number of tasks.
        """
        return weighted_mean([balance(part.task, part.loss) for part in losses], [part.share for part in losses])

    def head_gates(self, measure: HeadMeasure = "gate") -> Tensor | None:
        """How open the strategy leaves every head, [L, H] from 0 to 1; None if it gates no heads."""
        del measure
        return None

    def task_heads(self) -> Tensor | None:
        """The heads that each task has chosen, bool [T, L, H], all of them where it has not; None: it never does."""
        return None

    def before_update(self, moment: Moment) -> None:
        """Called before the first batch of an update is drawn; gradients are empty."""

    def after_backward(self, moment: Moment) -> None:
        """Called when the gradients of the update are there, in their own scale, and nothing is clipped yet."""

    def step(self, moment: Moment, step: Callable[[], None]) -> None:
        """The optimiser's step: `step()` takes it. What must not move can be kept before and put back afterwards."""
        del moment
        step()

    def after_update(self, moment: Moment) -> None:
        """Called after the optimiser's step, when gradients are empty again."""

    def logs(self) -> Mapping[str, float | Tensor]:
        """Figures for the history, the same keys at every update; tensors [] save a GPU from waiting for each."""
        return {}

    def state(self) -> dict[str, Any]:
        """What a resume point must hold beside parameters, as JSON."""
        return {}

    def load_state(self, saved: dict[str, Any]) -> None:
        """The inverse of `state`."""


def weighted_mean(values: Sequence[Tensor], shares: Sequence[float]) -> Tensor:
    """Sum of scalars times their shares []; equal shares are a plain mean, and one value stays as it is."""
    import torch

    if len(values) == 1:
        return values[0]
    stacked = torch.stack(list(values))
    if len(set(shares)) == 1:
        return stacked.mean()
    return (stacked * stacked.new_tensor(shares)).sum()
