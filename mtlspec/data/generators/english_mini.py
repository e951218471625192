"""A small English with five consistent layers, from a grammar and a seed."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from mtlspec.spec.families import GeneratorOptions


class Options(GeneratorOptions):
    type: Literal["english_mini"]
    seed: int = 7
    train: Annotated[int, Field(ge=1)] = 3000
    dev: Annotated[int, Field(ge=1)] = 500
    test: Annotated[int, Field(ge=1)] = 500
