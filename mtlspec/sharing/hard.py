"""Hard sharing: one encoder for all tasks, one decoder each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from mtlspec.spec.families import SharingOptions

if TYPE_CHECKING:
    from mtlspec.model.encoder.encoder import Encoder
    from mtlspec.model.sharing import Sharing


class Options(SharingOptions):
    type: Literal["hard"]

    def build(self, encoder: Encoder, tasks: Sequence[str]) -> Sharing:
        from mtlspec.model.sharing import Sharing

        return Sharing(encoder, tasks)
