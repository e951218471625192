"""Important attention-head training (IAT): in the end, every task trains only the heads that matter most to it.

Until the switch this is hard sharing. There each task chooses its heads, by their importance to it on its training
data, and from then on a task's gradients reach the queries, keys and values of no others; all other parameters train
as before. Heads that no task of an update has chosen do not move at all: neither by what Adam remembers nor by weight
decay. `prune_least` switches every task's least important heads off instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import Field

from mtlspec.model.sharing import Balancing, Moment, Sharing, TaskLoss
from mtlspec.sharing._task_heads import PruneLeast, TaskHeads
from mtlspec.spec.families import SharingOptions

if TYPE_CHECKING:
    from torch import Tensor

    from mtlspec.model.encoder.encoder import Encoder
    from mtlspec.sharing._chosen_heads import Still

_KNOWN = 100  # sets of tasks that met in an update, whose rows are remembered


class Options(SharingOptions):
    heads_by_task: ClassVar[bool] = True

    type: Literal["iat"]
    alpha: Annotated[float, Field(ge=0, le=1)] = Field(
        default=0.3,
        description="Share of the heads that a task trains after the switch, rounded down; 1 is `hard` sharing.",
    )
    delta: Annotated[float, Field(ge=0, le=1)] = Field(
        default=0.1,
        description="The switch comes before the last `delta` of the updates; 0 is `hard` sharing, 1 is Ticket-Share.",
    )
    select: Literal["important", "random", "least"] = Field(
        default="important",
        description="The heads of a task: its most important ones, random ones (others for every seed) or its least "
        "important ones.",
    )
    importance: Literal["gradient", "token_abs"] = Field(
        default="gradient",
        description="`gradient`: mean over sentences of |dL/dxi|; `token_abs`: the same with absolute values per "
        "sub-token. Always on training data, as the model is at the switch.",
    )
    sentences: Annotated[int, Field(ge=1)] | None = Field(
        default=None, description="Importance on a random sample of so many training examples a task; null: all."
    )
    output_columns: bool = Field(
        default=False, description="Keep the heads' columns of the output projection still as well."
    )
    released: bool = Field(
        default=False,
        description="Mask gradients only, as the paper's code does: heads that a task has not chosen move on by what "
        "Adam remembers of them, and by weight decay.",
    )
    prune_least: bool = Field(
        default=False,
        description="An ablation: after the switch, everything trains, and the least important `alpha` of a task's "
        "heads are switched off wherever the task reads the encoder, in evaluation, too.",
    )

    def problem(self, started: bool) -> str | None:
        """Options that contradict each other; the start makes no difference."""
        del started
        if not self.prune_least:
            return None
        if self.alpha == 1:
            return "`prune_least` with `alpha: 1` would switch all heads off"
        said = {"select": self.select != "important", "output_columns": self.output_columns, "released": self.released}
        for key in (key for key, wrong in said.items() if wrong):
            value = "true" if getattr(self, key) is True else getattr(self, key)
            return f"`prune_least` masks no updates: leave out `{key}: {value}`"
        return None

    def switch(self, updates: int) -> int:
        """After how many updates of a run the heads are chosen; what `delta` leaves over is rounded down."""
        return int((1 - Fraction(repr(self.delta))) * updates)

    def build(self, encoder: Encoder, tasks: Sequence[str]) -> Sharing:
        if self.delta == 0 or self.alpha == (0 if self.prune_least else 1):
            return Sharing(encoder, tasks)
        return PruneLeast(encoder, tasks, self) if self.prune_least else IAT(encoder, tasks, self)


class IAT(TaskHeads):
    """Gradients of a task are cut where they reach heads of others; rows that nobody moves are put back."""

    def __init__(self, encoder: Encoder, tasks: Sequence[str], options: Options) -> None:
        super().__init__(encoder, tasks, options)
        self._task = 0  # whose gradients are on their way
        self._hooks: list[Any] = []  # on parameters, while gradients of a masked update are computed
        self._moved = sum(encoder.heads.counts)  # heads in the latest update

    def candidates(self) -> Tensor:
        """Heads of frozen layers have nothing to train."""
        heads = self.encoder.heads
        found = super().candidates()
        for layer in range(len(found)):
            found[layer] &= any(part.parameter.requires_grad for part in heads.slices(layer) if part.role != "output")
        return found

    def before_update(self, moment: Moment) -> None:
        super().before_update(moment)
        if moment.update > self._options.switch(moment.updates):
            of_task = [self._still((task,)) for task in range(len(self.names))]
            for parts in zip(*of_task, strict=True):  # of one parameter, for every task
                self._hooks.append(parts[0].parameter.register_hook(partial(self._cut, parts)))

    def objective(self, losses: Sequence[TaskLoss], balance: Balancing) -> Tensor:
        if self._hooks:
            self._task = losses[0].task
            losses = list(self._one_by_one(losses)) if len(losses) > 1 else losses
        return super().objective(losses, balance)

    def after_backward(self, moment: Moment) -> None:
        del moment
        for hook in self._hooks:
            hook.remove()
        self._hooks = []

    def step(self, moment: Moment, step: Callable[[], None]) -> None:
        """Rows of heads that no task of the update moves keep their values and Adam's moments of them."""
        if moment.update <= self._options.switch(moment.updates):
            step()
            return
        kept = [] if self._options.released else list(self._kept(moment))
        step()
        for part, tensor, values in kept:
            part.put_back(tensor, values)
        self._moved = int(self._moving(moment.tasks).sum())

    def logs(self) -> dict[str, float]:
        """How many heads the update could move by its gradients."""
        return {"heads_moved": float(self._moved)}

    def _one_by_one(self, losses: Sequence[TaskLoss]) -> Iterator[TaskLoss]:
        """Losses whose gradients go back through the encoder one task after the other, each to its own heads."""
        import torch

        left = sum(part.loss.requires_grad for part in losses)

        def back(part: TaskLoss, gradient: Tensor) -> None:
            nonlocal left
            left -= 1
            self._task = part.task
            torch.autograd.backward(part.loss, gradient, retain_graph=left > 0)

        for part in losses:
            if not part.loss.requires_grad:
                yield part
                continue
            end = part.loss.detach().requires_grad_()
            end.register_hook(partial(back, part))  # type: ignore[no-untyped-call]
            yield part._replace(loss=end)

    def _cut(self, parts: Sequence[Still], gradient: Tensor) -> Tensor:
        return parts[self._task].cleared(gradient)

    def _kept(self, moment: Moment) -> Iterator[tuple[Still, Tensor, Tensor]]:
        """What a step must leave alone, with its values; moments that do not exist yet stay 0 without gradient."""
        for part in self._still(moment.tasks):
            state = moment.optimiser.state.get(part.parameter, {}).values()
            for tensor in (part.parameter, *(value for value in state if value.shape == part.parameter.shape)):
                if len(part.index):
                    yield part, tensor, part.values(tensor)

    def _moving(self, tasks: Sequence[int]) -> Tensor:
        """The heads of some tasks, bool [L, H]."""
        import torch

        return torch.stack([self._sets[task] for task in tasks]).any(0)

    def _still(self, tasks: Sequence[int]) -> list[Still]:
        """What an update of these tasks leaves alone, of every parameter of the heads that trains."""
        from mtlspec.sharing._chosen_heads import still_parts

        key = frozenset(tasks)
        if key not in self._known:
            if len(self._known) >= _KNOWN:
                self._known.clear()
            moving, columns = self._moving(tasks), self._options.output_columns
            self._known[key] = still_parts(self.encoder.heads, moving, output_columns=columns)
        return self._known[key]

    def _changed(self, *_: object) -> None:
        super()._changed()
        self._known: dict[frozenset[int], list[Still]] = {}
