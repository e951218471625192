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
from mtlspec.kinds import Options, added, own_source, remembered
from mtlspec.plan.imports import in_any_layout, in_our_layout
from mtlspec.plan.types import CodeUnit, StageKind
from mtlspec.spec.cards import DataCard
from mtlspec.spec.families import FOLDERS, LAYERS, METRICS

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


def own_metrics(tasks: Any) -> tuple[str, ...]:
    """The modules of metrics that a project's own tasks import; whatever reads evaluations can run them."""
    files = sorted(_closure(set(kinds_in(tasks))))
    return tuple(module_of(file) for file in files if file.startswith(f"{OWN}{_FOLDER_OF[METRICS]}/"))


def unit_name(kind: StageKind, kinds: Iterable[str]) -> str:
    """Depends on what the stage names, not on what that code imports: an edit never renames a unit."""
    return f"{kind}-{digest_value(sorted(set(kinds)))[:8]}"


def code_unit(kind: StageKind, kinds: Iterable[str], beside: Iterable[str] = ()) -> CodeUnit:
    """The sources reachable from a stage's entry point, the stage runner's contract and the kinds it names.

    `beside` are modules that it can run though it does not name them.
    """
    files = reached(f"mtlspec.stages.{kind}", "mtlspec.stages.context", *kinds, *beside)
    packages = {name: _version(name) for name in PACKAGES[kind]}
    return CodeUnit(name=unit_name(kind, kinds), files=files, packages=packages)


def reached(*modules: str) -> dict[str, str]:
    """The sources that modules can run, as fingerprints call them, with their digests."""
    return {path: _digest(path) for path in sorted(_closure(modules))}


# Below, files are POSIX paths relative to the package: a plan asks for thousands, and texts are compared fast. Those of
# folders that a family was extended by begin with OWN and the family's folder: `kinds:sharing/mine.py`.

OWN = "kinds:"


def source_file(path: str) -> Path:
    """The file that a fingerprint calls `path`."""
    if not path.startswith(OWN):
        return PACKAGE / path
    folder, _, rest = path.removeprefix(OWN).partition("/")
    places = [extra / rest for extra in added(FOLDERS[folder])] if folder in FOLDERS else []
    return next((place for place in places if place.is_file()), PACKAGE / path)


def module_of(path: str) -> str:
    """The dotted name of the module that a fingerprint calls `path`."""
    parts = path.removesuffix(".py").split("/")
    package = FOLDERS[parts.pop(0).removeprefix(OWN)] if path.startswith(OWN) else PACKAGE.name
    return ".".join((package, *(parts[:-1] if parts[-1] == "__init__" else parts)))


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
    if parts[0] != PACKAGE.name or _file_of(parts) is None:
        return frozenset()
    return frozenset(file for depth in range(1, len(parts) + 1) if (file := _file_of(parts[:depth])) is not None)


def _file_of(parts: list[str]) -> str | None:
    base = PACKAGE.joinpath(*parts[1:])
    file = base / "__init__.py" if base.is_dir() else base.with_suffix(".py")
    if file.is_file():
        return file.relative_to(PACKAGE).as_posix()
    own = own_source(".".join(parts))
    return own and f"{OWN}{_FOLDER_OF[own.family]}/{own.file.relative_to(own.folder).as_posix()}"


_FOLDER_OF = {family: folder for folder, family in FOLDERS.items()}


@remembered
def _imports(path: str) -> frozenset[str]:
    """The files of ours that a source imports."""
    if not path.endswith(".py"):
        return frozenset()
    text = source_file(path).read_text(encoding="utf-8")
    if path.startswith(OWN):
        module = module_of(path)
        modules = in_any_layout(text, module if path.endswith("/__init__.py") else module.rpartition(".")[0])
    else:
        modules = in_our_layout(text)
    return frozenset(file for module in modules for file in _files_of(module))


@remembered
def _companions(folder: str) -> frozenset[str]:
    """Data files beside the sources (templates, word lists): they belong to every module of their folder."""
    places = [PACKAGE / folder]
    if folder.startswith(OWN):
        family, _, rest = folder.removeprefix(OWN).partition("/")
        places = [extra / rest for extra in added(FOLDERS[family]) if (extra / rest).is_dir()]
    names = {
        path.name for place in places for path in place.iterdir() if path.is_file() and path.suffix not in _NO_COMPANION
    }
    return frozenset(f"{folder}/{name}".removeprefix("/") for name in names if not _DROPPING.match(name))


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
