"""Tagging: one label a word, with independent tags or a linear-chain CRF."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from mtlspec.kinds import OneOf, options_class
from mtlspec.spec.families import TAGGERS, LayerKind, TaggerOptions, TaskOptions


class Options(TaskOptions):
    reads: ClassVar[frozenset[LayerKind]] = frozenset({"tags"})
    type: Literal["tagging"]
    decoder: Annotated[TaggerOptions, OneOf(TAGGERS)] = Field(
        default_factory=lambda: options_class(TAGGERS, "linear")(type="linear"), description="`linear` or `crf`."
    )
    scheme: Literal["auto", "plain", "bio", "iobes"] = Field(
        default="auto", description="`plain`: accuracy; `bio`, `iobes`: span F1; `auto` looks at the training tags."
    )
    dropout: Annotated[float, Field(ge=0, lt=1)] = Field(default=0.1, description="On word vectors, before the scores.")
