"""Kinds: a task type, sharing strategy, sampler, reader, analysis ... is one file in its family's folder.

The file's name is the kind's name, and the file holds one frozen options class called `Options`. A kind's file is light
at import: torch and its like come in inside functions. This module is the only dynamic import of the project;
no list of kinds exists anywhere else.

A family may be extended by further folders, such as those of a project's `kinds/`. What lies there is imported only
when somebody names it, and a file that is not a kind is told in one line.
"""

from __future__ import annotations

import importlib
import inspect
import os
import pkgutil
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import _lru_cache_wrapper, cache
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any, NamedTuple, TypeVar, get_args

from pydantic import BaseModel, ConfigDict, GetCoreSchemaHandler, GetJsonSchemaHandler, Strict
from pydantic_core import CoreSchema, core_schema

from mtlspec.errors import MtlspecError, Place, SetupError, SpecError

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

ADDED = "MTLSPEC_KINDS"
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
    own = own_source(f"{family}.{name}")
    if own is None:
        return importlib.import_module(f"{family}.{name}")
    try:
        return importlib.import_module(f"{family}.{name}")
    except MtlspecError:
        raise
    except (Exception, SystemExit) as error:
        raise _broken(own.file, error) from error


@remembered
def options_class(family: str, name: str) -> type[Options]:
    options = getattr(load(family, name), "Options", None)
    own = own_source(f"{family}.{name}")
    if own is not None:
        _require_options(options, family_class(family), name, own.file)
    assert isinstance(options, type) and issubclass(options, Options)
    return options


@remembered
def family_class(family: str) -> type[Options]:
    """The class from which the options of all kinds of a family derive."""
    ours = pkgutil.iter_modules(_package(family).__path__[:1])
    options = options_class(family, next(m.name for m in ours if not m.name.startswith("_")))
    return next(cls for cls in options.__mro__ if Options in cls.__bases__)


def parse(family: str, base: type[OptionsT], stored: Mapping[str, Any]) -> OptionsT:
    """Options of one kind of a family, whose class is `base`, from the parameters of a stage."""
    options = options_class(family, stored["type"]).model_validate(stored)
    assert isinstance(options, base), f"{family}.{options.type} does not derive from {base.__name__}"
    return options


class Added(NamedTuple):
    """A folder that a family is extended by."""

    family: str
    folder: Path


class Own(NamedTuple):
    """A module's file in a folder that a family is extended by."""

    family: str
    folder: Path
    file: Path


def every_added() -> tuple[Added, ...]:
    """All folders that families are extended by."""
    entries = [entry for entry in os.environ.get(ADDED, "").split(os.pathsep) if entry]
    pairs = [Added(name, Path(folder)) for name, _, folder in (entry.partition("=") for entry in entries)]
    for entry, (name, folder) in zip(entries, pairs, strict=True):
        known = Path(__file__).parents[1].joinpath(*name.split(".")).is_dir() and name.startswith("mtlspec.")
        if not known or not folder.is_dir():
            wrong = f"there is no folder '{folder}'" if known else f"'{name}' is no family of kinds"
            hint = "write `mtlspec.sharing=/a/folder`, several with a colon between them"
            raise SpecError("E813", f"{wrong} (in '{entry}')", Place(f"${ADDED}"), hint)
    return tuple(pairs)


def added(family: str) -> tuple[Path, ...]:
    """The folders that a family is extended by."""
    return tuple(folder for name, folder in every_added() if name == family)


@remembered
def own_source(module: str) -> Own | None:
    """Where a module of a dotted name comes from, if not from this package."""
    for family, folder in every_added():
        if module.startswith(f"{family}."):
            base = folder.joinpath(*module.removeprefix(f"{family}.").split("."))
            for file in (base.with_name(f"{base.name}.py"), base / "__init__.py"):
                if file.is_file():
                    return Own(family, folder, file)
    return None


def extend(family: str, folder: Path) -> None:
    """From now on the files of another folder are kinds of a family, too, also in processes that are started."""
    if os.pathsep in str(folder):
        raise SetupError("E664", f"a folder with kinds cannot have a '{os.pathsep}' in its path", folder)
    if folder not in added(family):
        os.environ[ADDED] = os.pathsep.join(filter(None, (os.environ.get(ADDED), f"{family}={folder}")))
        _look_again()


@contextmanager
def extended(family: str, folder: Path) -> Iterator[None]:
    """While this is open, the files of another folder are kinds of a family, too.

    Specs take them, plans fingerprint them, stages run them, in processes that are started meanwhile as well.
    Afterwards nothing is left of them.
    """
    before = os.environ.get(ADDED)
    extend(family, folder)
    try:
        yield
    finally:
        os.environ.pop(ADDED)
        if before is not None:
            os.environ[ADDED] = before
        _forget(_package(family), folder)
        _look_again()


def _package(family: str) -> ModuleType:
    """The package of a family, which looks into the folders that it is extended by."""
    package = importlib.import_module(family)
    package.__path__.extend(str(folder) for folder in added(family) if str(folder) not in package.__path__)
    return package


def _forget(package: ModuleType, folder: Path) -> None:
    if str(folder) in package.__path__:  # else nobody looked there
        package.__path__.remove(str(folder))
    for name, module in list(sys.modules.items()):
        if name.startswith(f"{package.__name__}.") and Path(str(module.__file__)).is_relative_to(folder):
            del sys.modules[name]
            vars(package).pop(name.removeprefix(f"{package.__name__}."), None)


def _broken(file: Path, error: BaseException) -> SpecError:
    """What stopped an import, at the line of a file of the same folder that did."""
    if isinstance(error, SyntaxError) and error.filename is not None:
        return SpecError("E836", f"not Python: {error.msg}", _place(Path(error.filename), error.lineno, error.offset))
    frames = [
        frame for frame in traceback.extract_tb(error.__traceback__) if Path(frame.filename).is_relative_to(file.parent)
    ]
    at = _place(Path(frames[-1].filename), frames[-1].lineno) if frames else _place(file)
    reason = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return SpecError("E836", f"it cannot be imported: {reason}", at)


def _require_options(options: Any, base: type[Options], name: str, file: Path) -> None:
    """A kind of a project's own has what ours have, and says so before anything is made of it."""
    lines = enumerate(file.read_text(encoding="utf-8").splitlines(), 1)
    place = _place(file, next((number for number, line in lines if line.startswith("class Options")), None))
    if not isinstance(options, type) or not issubclass(options, base):
        hint = f"see what it takes in {base.__module__}"
        raise SpecError("E837", f"a kind needs a class `Options` that derives from `{base.__name__}`", place, hint)
    if get_args(options.model_fields["type"].annotation) != (name,):
        raise SpecError("E838", f'its `Options` must say `type: Literal["{name}"]`, as the file is called', place)
    if inspect.isabstract(options):
        missing = ", ".join(f"`{method}`" for method in sorted(options.__abstractmethods__))
        raise SpecError("E839", f"its `Options` lack {missing}", place, f"see `{base.__name__}`")


def _place(file: Path, line: int | None = None, column: int | None = None) -> Place:
    """Relative to where we are, if it lies below."""
    here = Path.cwd()
    return Place(str(file.relative_to(here) if file.is_relative_to(here) else file), line or 0, column or 0)


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
        choices = {
            name: handler.generate_schema(options_class(self.family, name))
            if own_source(f"{self.family}.{name}") is None
            else self._later(name)
            for name in names(self.family)
        }
        union = core_schema.tagged_union_schema(choices, discriminator="type")
        return core_schema.no_info_before_validator_function(self._complete, union)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """For editors: the options, or the bare name of a kind that needs none."""
        bare = [name for name in names(self.family) if _needs_no_options(options_class(self.family, name))]
        return {"anyOf": [{"enum": bare}, handler(schema)]}

    def _later(self, name: str) -> CoreSchema:
        """A kind of a project's own is imported when somebody names it: a broken one is no concern of others."""

        def validated(value: Any) -> Options:
            return options_class(self.family, name).model_validate(value)

        def described(_: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
            return handler(options_class(self.family, name).__pydantic_core_schema__)

        return core_schema.no_info_plain_validator_function(validated, metadata={"pydantic_js_functions": [described]})

    def _complete(self, value: Any) -> Any:
        if isinstance(value, str):
            return {"type": value}
        return {"type": self.default, **value} if self.default is not None and isinstance(value, dict) else value


def _needs_no_options(options: type[Options]) -> bool:
    return not any(field.is_required() for name, field in options.model_fields.items() if name != "type")
