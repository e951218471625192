"""Kinds: a task type, sharing strategy, sampler, reader, analysis ... is one file in its family's folder.

The file's name is the kind's name, and the file holds one frozen options class called `Options`. A kind's file is light
at import: torch and its like come in inside functions. This module is the only dynamic import of the project;
no list of kinds exists anywhere else.
"""

from __future__ import annotations

import importlib
import pkgutil
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, GetCoreSchemaHandler, GetJsonSchemaHandler, Strict
from pydantic_core import CoreSchema, core_schema

T = TypeVar("T")
Sequence_ = Annotated[tuple[T, ...], Strict(False)]  # a YAML list, kept as a tuple so that specs stay hashable


class Frozen(BaseModel):
    """The base of every spec model: immutable, strict, no unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


class Options(Frozen):
    """The options of a kind; subclasses are called `Options` and carry `type: Literal["<file name>"]`."""

    type: str

    @classmethod
    def module(cls) -> str:
        """The dotted module that implements this kind; the root of its code fingerprint."""
        return cls.__module__


@cache
def names(family: str) -> tuple[str, ...]:
    """The kinds of a family, a dotted package such as `mtlspec.model.tasks`, sorted."""
    package = importlib.import_module(family)
    return tuple(sorted(m.name for m in pkgutil.iter_modules(package.__path__) if not m.name.startswith("_")))


@cache
def load(family: str, name: str) -> ModuleType:
    """The module of one kind; `name` must be one of `names(family)`."""
    if name not in names(family):
        raise KeyError(f"{family} has no kind {name}")
    return importlib.import_module(f"{family}.{name}")


def options_class(family: str, name: str) -> type[Options]:
    options: type[Options] = load(family, name).Options
    return options


@dataclass(frozen=True)
class OneOf:
    """Annotation: a field that holds the options of one kind of a family, chosen by its `type` key.

    `sharing: hard` is short for `sharing: {type: hard}`.
    """

    family: str

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        choices = {name: handler.generate_schema(options_class(self.family, name)) for name in names(self.family)}
        union = core_schema.tagged_union_schema(choices, discriminator="type")
        return core_schema.no_info_before_validator_function(_expand_shorthand, union)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """For editors: the options, or the bare name of a kind that needs none."""
        bare = [name for name in names(self.family) if _needs_no_options(options_class(self.family, name))]
        return {"anyOf": [{"enum": bare}, handler(schema)]}


def _needs_no_options(options: type[Options]) -> bool:
    return not any(field.is_required() for name, field in options.model_fields.items() if name != "type")


def _expand_shorthand(value: Any) -> Any:
    return {"type": value} if isinstance(value, str) else value
