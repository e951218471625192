"""Heads of tasks: sharing in which every task chooses a set of heads at some update of the training."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mtlspec.errors import EncoderError, StageError
from mtlspec.model.sharing import Moment, ParameterGroup, Sharing

if TYPE_CHECKING:
    from torch import Tensor

    from mtlspec.data.batching import Batch
    from mtlspec.model.encoder.encoder import Encoder
    from mtlspec.model.encoder.states import States
    from mtlspec.model.task import Task
    from mtlspec.sharing.iat import Options


class TaskHeads(Sharing):
    """Hard sharing in which every task has a set of heads from the switch on; until then all heads are everybody's.

    `module.heads` bool [T, L, H] are the sets. They are saved like weights, so that those of an epoch before the switch
    come back with the sets of their time.
    """

    def __init__(self, encoder: Encoder, tasks: Sequence[str], options: Options) -> None:
        from mtlspec.sharing._chosen_heads import real_heads

        super().__init__(encoder, tasks)
        self._options = options
        self._tasks: tuple[Task, ...] = ()
        if encoder.places.shared:
            raise EncoderError(
                "E941",
                "the encoder's layers share their parameters: no head of a layer can be trained without the others'",
                hint="`sharing: iat` needs an encoder whose layers have parameters of their own",
            )
        every = real_heads(encoder.heads)
        self.module.register_buffer("heads", every.repeat(len(tasks), 1, 1))
        self.module.register_load_state_dict_post_hook(self._changed)  # type: ignore[no-untyped-call]
        self._sets: list[Tensor] = []
        self._changed()

    def attach(self, tasks: Sequence[Task]) -> None:
        self._tasks = tuple(tasks)

    def groups(self, updates: int) -> list[ParameterGroup]:
        """None; but what is frozen is known now, and whether any head is left to choose."""
        from mtlspec.sharing._chosen_heads import how_many

        candidates = self.candidates()
        if not candidates.any():
            raise StageError("E940", "all heads are frozen, and `sharing: iat` trains heads", hint="lower `freeze`")
        how_many(self._options, candidates)
        return super().groups(updates)

    def task_heads(self) -> Tensor:
        return self.module.get_buffer("heads")

    def candidates(self) -> Tensor:
        """The heads that are chosen from, bool [L, H]."""
        from mtlspec.sharing._chosen_heads import real_heads

        return real_heads(self.encoder.heads)

    def before_update(self, moment: Moment) -> None:
        from mtlspec.sharing._chosen_heads import chosen_heads

        if moment.update == self._options.switch(moment.updates) + 1:
            chosen = chosen_heads(self, self._tasks, moment, self._options, self.candidates())
            self.task_heads().copy_(self.sets(chosen))
            self._changed()

    def sets(self, chosen: Tensor) -> Tensor:
        """The tasks' sets [T, L, H], of what they have chosen."""
        return chosen

    def _changed(self, *_: object) -> None:
        """The sets are read once, because a GPU would be waited for in every update."""
        self._sets = list(self.task_heads().cpu())


class PruneLeast(TaskHeads):
    """After the switch a task reads an encoder without the heads that matter least to it."""

    task_free = False

    def sets(self, chosen: Tensor) -> Tensor:
        return self.candidates() & ~chosen.cpu()

    def encode(self, batch: Batch) -> States:
        if self._whole or batch.tasks is None:
            return super().encode(batch)
        gates = self.task_heads()[batch.tasks].float()
        with self.encoder.heads.gated(gates):
            return super().encode(batch)

    def _changed(self, *_: object) -> None:
        super()._changed()
        self._whole = all(bool((own == self.candidates()).all()) for own in self._sets)
