"""Linear-chain CRF: tags that know their neighbours."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from mtlspec.spec.families import TaggerOptions


class Options(TaggerOptions):
    type: Literal["crf"]
    transition_l2: Annotated[float, Field(ge=0)] = Field(default=0.0, description="L2 penalty on the transition scores.")
    constrained: bool = Field(default=True, description="Forbid tag sequences that the scheme forbids when decoding.")
