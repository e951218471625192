"""Code fingerprints: which of our sources a stage can run, found by reading them, never by importing them."""

from __future__ import annotations

import importlib.metadata
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from mtlspec.io.digest import digest_file, digest_value
from mtlspec.kinds import Options, added, remembered
from mtlspec.plan.types import CodeUnit, StageKind
from mtlspec.spec.cards import DataCard
from mtlspec.spec.families import LAYERS

PACKAGE = Path(__file__).resolve().parents[1]
_ARRAYS = ("numpy", "pyarrow")
_MODELS = ("torch", "transformers", "tokenizers", "safetensors", "numba", *_ARRAYS)
_TABLES = ("scipy", "matplotlib", "jinja2", *_ARRAYS)
PACKAGES: dict[StageKind, tuple[str, ...]] = {
    "data": ("numpy",),
    "encoder": _MODELS,
    "prepare": ("tokenizers", "transformers", *_ARRAYS),
    "select": (),
    "train": _MODELS,
    "evaluate": _MODELS,
    "measure": _MODELS,
    "analyse": (*_MODELS, *_TABLES),
    "report": _TABLES,
}
"""Third-party packages whose version can change a stage's numbers."""


class Module(str):
    """The dotted name of a module that a stage loads though no options name it."""


def kinds_in(value: Any) -> Iterator[str]:
    """The modules of all kinds whose options stand somewhere in a model, mapping or sequence, and all `Module`s."""
    if isinstance(value, Options):
        yield value.module()
    if isinstance(value, Module):
        yield str(value)
    elif isinstance(value, BaseModel):
        for name in type(value).model_fields:
            yield from kinds_in(getattr(value, name))
    elif isinstance(value, dict):
        for item in value.values():
            yield from kinds_in(item)
    elif isinstance(value, tuple | list):
        for item in value:
            yield from kinds_in(item)


def layer_modules(card: DataCard) -> tuple[Module, ...]:
    """The modules of a corpus's layer kinds; whatever opens its prepared data can run them."""
    return tuple(Module(f"{LAYERS}.{kind}") for kind in sorted(set(card.layer_kinds.values())))


def unit_name(kind: StageKind, kinds: Iterable[str]) -> str:
    """Depends on what the stage names, not on what that code imports: an edit never renames a unit."""
    return f"{kind}-{digest_value(sorted(set(kinds)))[:8]}"


def code_unit(kind: StageKind, kinds: Iterable[str]) -> CodeUnit:
    """The sources reachable from a stage's entry point, the stage runner's contract and the kinds it names."""
    roots = {f"mtlspec.stages.{kind}", "mtlspec.stages.context", *kinds}
    files = {path: _digest(path) for path in sorted(_closure(roots))}
    packages = {name: _version(name) for name in PACKAGES[kind]}
    return CodeUnit(name=unit_name(kind, kinds), files=files, packages=packages)


# Below, files are POSIX paths relative to the package: a plan asks for thousands, and texts are compared fast.


def _closure(roots: Iterable[str]) -> set[str]:
    pending = {path for root in roots for path in _files_of(root)}
    seen: set[str] = set()
    while pending:
        path = pending.pop()
        seen.add(path)
        seen |= _companions(path.rpartition("/")[0])
        pending |= _imports(path) - seen
    return seen


@remembered
def _files_of(module: str) -> frozenset[str]:
    """A module's file and the `__init__` of every package above it; empty if it is not ours."""
    parts = module.split(".")
    if parts[0] != PACKAGE.name:
        return frozenset()
    base = PACKAGE.joinpath(*parts[1:])
    own = base / "__init__.py" if base.is_dir() else base.with_suffix(".py")
    if not source_file(own.relative_to(PACKAGE).as_posix()).is_file():
        return frozenset()
    packages = [PACKAGE.joinpath(*parts[1:depth]) / "__init__.py" for depth in range(1, len(parts))]
    return frozenset(path.relative_to(PACKAGE).as_posix() for path in (*packages, own) if path == own or path.is_file())


def source_file(path: str) -> Path:
    """The file that a fingerprint calls `path`: below the package, or in a folder that its family was extended by."""
    folder, _, name = path.rpartition("/")
    family = ".".join((PACKAGE.name, *folder.split("/")))
    return next((own for own in (extra / name for extra in added(family)) if own.is_file()), PACKAGE / path)


@remembered
def _imports(path: str) -> frozenset[str]:
    """The files of ours that a source imports, at its top or inside a function, but not for type checking only.

    Import statements are found as text, because parsing all sources would take most of the time of a plan. Their
    layout is the formatter's, and a test compares what is found here with the syntax trees of all sources.
    """
    text = _TYPE_CHECKING.sub("", source_file(path).read_text(encoding="utf-8"))
    found: set[str] = set()
    for plain, module, names in _IMPORT.findall(text):
        found |= _files_of(plain or module)
        for name in _NAME.findall(names):
            found |= _files_of(f"{module}.{name}")
    return frozenset(found)


_TYPE_CHECKING = re.compile(r"^( *)if TYPE_CHECKING:\n(?:\1 +.*\n|\n)*", re.MULTILINE)
_IMPORT = re.compile(r"^ *(?:import (mtlspec[\w.]*)|from (mtlspec[\w.]*) import (\([^)]*\)|.*))", re.MULTILINE)
_NAME = re.compile(r"\w+")


@remembered
def _companions(folder: str) -> frozenset[str]:
    """Data files beside the sources (templates, word lists): they belong to every module of their folder."""
    files = (path for path in (PACKAGE / folder).iterdir() if path.is_file() and path.suffix not in _NO_COMPANION)
    return frozenset(path.relative_to(PACKAGE).as_posix() for path in files if not _DROPPING.match(path.name))


_NO_COMPANION = {".py", ".pyc", ".pyi", ".typed", ".nbi", ".nbc"}
_DROPPING = re.compile(r"[.#]|.*~$")  # what editors and file managers leave


@remembered
def _digest(path: str) -> str:
    return digest_file(source_file(path))


@cache
def _version(package: str) -> str:
    """The installed version without its local part: `2.13.0`, whichever build of it is installed."""
    try:
        return importlib.metadata.version(package).partition("+")[0]
    except importlib.metadata.PackageNotFoundError:
        return "absent"
