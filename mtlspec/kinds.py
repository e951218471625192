"""Kinds: a task type, sharing strategy, sampler, reader, analysis ... is one file in its family's folder.

The file's name is the kind's name, and the file holds one frozen options class called `Options`. A kind's file is light
at import: torch and its like come in inside functions. This module is the only dynamic import of the project;
no list of kinds exists anywhere else.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import _lru_cache_wrapper, cache
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, GetCoreSchemaHandler, GetJsonSchemaHandler, Strict
from pydantic_core import CoreSchema, core_schema

from mtlspec.errors import Place, SpecError

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


OptionsT = TypeVar("OptionsT", bound=Options)

_ADDED = "MTLSPEC_KINDS"
"""The environment variable with the folders that families are extended by, `family=folder`; processes inherit it."""

_clear: list[Callable[[], None]] = []  # of everything that was remembered about the families' folders


def remembered(function: Callable[..., T]) -> _lru_cache_wrapper[T]:
    """`functools.cache` for what is known about kinds: it is forgotten when a family is extended."""
    kept = cache(function)
    _clear.append(kept.cache_clear)
    return kept


@remembered
def names(family: str) -> tuple[str, ...]:
    """The kinds of a family, a dotted package such as `mtlspec.model.tasks`, sorted."""
    found = pkgutil.iter_modules(_package(family).__path__)
    return tuple(sorted(m.name for m in found if not m.name.startswith("_")))


@remembered
def load(family: str, name: str) -> ModuleType:
    """The module of one kind; `name` must be one of `names(family)`."""
    if name not in names(family):
        raise KeyError(f"{family} has no kind {name}")
    return importlib.import_module(f"{family}.{name}")


def options_class(family: str, name: str) -> type[Options]:
    options: type[Options] = load(family, name).Options
    return options


def parse(family: str, base: type[OptionsT], stored: Mapping[str, Any]) -> OptionsT:
    """Options of one kind of a family, whose class is `base`, from the parameters of a stage."""
    options = options_class(family, stored["type"]).model_validate(stored)
    assert isinstance(options, base), f"{family}.{options.type} does not derive from {base.__name__}"
    return options


def added(family: str) -> tuple[Path, ...]:
    """The folders that a family is extended by."""
    entries = [entry for entry in os.environ.get(_ADDED, "").split(os.pathsep) if entry]
    pairs = [(name, Path(folder)) for name, _, folder in (entry.partition("=") for entry in entries)]
    for entry, (name, folder) in zip(entries, pairs, strict=True):
        known = Path(__file__).parents[1].joinpath(*name.split(".")).is_dir() and name.startswith("mtlspec.")
        if not known or not folder.is_dir():
            wrong = f"there is no folder '{folder}'" if known else f"'{name}' is no family of kinds"
            hint = "write `mtlspec.sharing=/a/folder`, several with a colon between them"
            raise SpecError("E813", f"{wrong} (in '{entry}')", Place(f"${_ADDED}"), hint)
    return tuple(folder for name, folder in pairs if name == family)


@contextmanager
def extended(family: str, folder: Path) -> Iterator[None]:
    """While this is open, the files of another folder are kinds of a family, too.

    Specs take them, plans fingerprint them, stages run them, in processes that are started meanwhile as well.
    Afterwards nothing is left of them.
    """
    before = os.environ.get(_ADDED)
    os.environ[_ADDED] = os.pathsep.join(filter(None, (before, f"{family}={folder}")))
    _look_again()
    try:
        yield
    finally:
        os.environ.pop(_ADDED)
        if before is not None:
            os.environ[_ADDED] = before
        _forget(_package(family), folder)
        _look_again()


def _package(family: str) -> ModuleType:
    """The package of a family, which looks into the folders that it is extended by."""
    package = importlib.import_module(family)
    package.__path__.extend(str(folder) for folder in added(family) if str(folder) not in package.__path__)
    return package


def _forget(package: ModuleType, folder: Path) -> None:
    package.__path__.remove(str(folder))
    for name, module in list(sys.modules.items()):
        if name.startswith(f"{package.__name__}.") and Path(str(module.__file__)).parent == folder:
            del sys.modules[name]
            delattr(package, name.rpartition(".")[2])


def _look_again() -> None:
    """Forget what was known, and let every model with a field that holds a kind learn the new choice."""
    importlib.invalidate_caches()
    for clear in _clear:
        clear()
    for model in _below(Frozen):  # in the order of their definition: what stands inside another comes first
        model.model_rebuild(force=True, raise_errors=False)


def _below(model: type[Frozen]) -> Iterator[type[Frozen]]:
    for child in model.__subclasses__():
        if child.__module__ in sys.modules:
            yield child
            yield from _below(child)


@dataclass(frozen=True)
class OneOf:
    """Annotation: a field that holds the options of one kind of a family, chosen by its `type` key.

    `sharing: hard` is short for `sharing: {type: hard}`. A mapping without `type` is of the kind `default`, if any.
    """

    family: str
    default: str | None = None

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        choices = {name: handler.generate_schema(options_class(self.family, name)) for name in names(self.family)}
        union = core_schema.tagged_union_schema(choices, discriminator="type")
        return core_schema.no_info_before_validator_function(self._complete, union)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """For editors: the options, or the bare name of a kind that needs none."""
        bare = [name for name in names(self.family) if _needs_no_options(options_class(self.family, name))]
        return {"anyOf": [{"enum": bare}, handler(schema)]}

    def _complete(self, value: Any) -> Any:
        if isinstance(value, str):
            return {"type": value}
        return {"type": self.default, **value} if self.default is not None and isinstance(value, dict) else value


def _needs_no_options(options: type[Options]) -> bool:
    return not any(field.is_required() for name, field in options.model_fields.items() if name != "type")
