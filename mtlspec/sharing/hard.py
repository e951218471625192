"""Hard sharing: one encoder for all tasks, one decoder each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from mtlspec.model.sharing import Sharing
from mtlspec.spec.families import SharingOptions

if TYPE_CHECKING:
    from mtlspec.model.encoder.encoder import Encoder


class Options(SharingOptions):
    type: Literal["hard"]

    def build(self, encoder: Encoder, tasks: Sequence[str]) -> Sharing:
        return Sharing(encoder, tasks)

    def start_problem(self, known: Sequence[str] | None) -> None:
        """It adds nothing."""
