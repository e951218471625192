"""Code fingerprints: which of our sources a stage can run, found by reading them, never by importing them."""

from __future__ import annotations

import ast
import importlib.metadata
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from mtlspec.io.digest import digest_file, digest_value
from mtlspec.kinds import Options
from mtlspec.plan.types import CodeUnit, StageKind

PACKAGE = Path(__file__).resolve().parents[1]
_ARRAYS = ("numpy", "pyarrow")
_MODELS = ("torch", "transformers", "tokenizers", "safetensors", "numba", *_ARRAYS)
_TABLES = ("scipy", "matplotlib", "jinja2", *_ARRAYS)
PACKAGES: dict[StageKind, tuple[str, ...]] = {
    "data": ("numpy",),
    "encoder": _MODELS,
    "prepare": ("tokenizers", *_ARRAYS),
    "train": _MODELS,
    "evaluate": _MODELS,
    "measure": _MODELS,
    "analyse": (*_MODELS, *_TABLES),
    "report": _TABLES,
}
"""Third-party packages whose version can change a stage's numbers."""


def kinds_in(value: Any) -> Iterator[str]:
    """The modules of all kinds whose options stand somewhere in a model, mapping or sequence."""
    if isinstance(value, Options):
        yield value.module()
    if isinstance(value, BaseModel):
        for name in type(value).model_fields:
            yield from kinds_in(getattr(value, name))
    elif isinstance(value, dict):
        for item in value.values():
            yield from kinds_in(item)
    elif isinstance(value, tuple | list):
        for item in value:
            yield from kinds_in(item)


def unit_name(kind: StageKind, kinds: Iterable[str]) -> str:
    """Depends on what the stage names, not on what that code imports: an edit never renames a unit."""
    return f"{kind}-{digest_value(sorted(set(kinds)))[:8]}"


def code_unit(kind: StageKind, kinds: Iterable[str]) -> CodeUnit:
    """The sources reachable from a stage's entry point, the stage runner's contract and the kinds it names."""
    roots = {f"mtlspec.stages.{kind}", "mtlspec.stages.context", *kinds}
    files = {path.relative_to(PACKAGE).as_posix(): _digest(path) for path in _closure(roots)}
    packages = {name: _version(name) for name in PACKAGES[kind]}
    return CodeUnit(name=unit_name(kind, kinds), files=dict(sorted(files.items())), packages=packages)


def _closure(roots: Iterable[str]) -> set[Path]:
    pending = [path for root in sorted(roots) for path in _files_of(root)]
    seen: set[Path] = set()
    while pending:
        path = pending.pop()
        if path in seen:
            continue
        seen.add(path)
        seen.update(_companions(path.parent))
        pending.extend(_imports(path))
    return seen


@cache
def _files_of(module: str) -> tuple[Path, ...]:
    """A module's file and the `__init__` of every package above it; empty if it is not ours."""
    parts = module.split(".")
    if parts[0] != PACKAGE.name:
        return ()
    base = PACKAGE.joinpath(*parts[1:])
    own = base / "__init__.py" if base.is_dir() else base.with_suffix(".py")
    if not own.is_file():
        return ()
    packages = [PACKAGE.joinpath(*parts[1:depth]) / "__init__.py" for depth in range(1, len(parts))]
    return (own, *(init for init in packages if init.is_file()))


@cache
def _imports(path: Path) -> tuple[Path, ...]:
    """The files of ours that a source imports, at its top or inside a function, but not for type checking only."""
    found: list[Path] = []
    pending: list[ast.AST] = [ast.parse(path.read_bytes(), filename=str(path))]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Import):
            for alias in node.names:
                found.extend(_files_of(alias.name))
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            found.extend(_files_of(node.module))
            for alias in node.names:
                found.extend(_files_of(f"{node.module}.{alias.name}"))
        elif isinstance(node, ast.If) and _is_type_checking(node.test):
            pending.extend(node.orelse)
        else:
            pending.extend(ast.iter_child_nodes(node))
    return tuple(found)


def _is_type_checking(test: ast.expr) -> bool:
    return (isinstance(test, ast.Name) and test.id == "TYPE_CHECKING") or (
        isinstance(test, ast.Attribute) and test.attr == "TYPE_CHECKING"
    )


@cache
def _companions(folder: Path) -> tuple[Path, ...]:
    """Data files beside the sources (templates, word lists): they belong to every module of their folder."""
    skip = {".py", ".pyc", ".pyi", ".typed", ".nbi", ".nbc"}
    return tuple(sorted(p for p in folder.iterdir() if p.is_file() and p.suffix not in skip and p.name != "py.typed"))


@cache
def _digest(path: Path) -> str:
    return digest_file(path)


@cache
def _version(package: str) -> str:
    """The installed version without its local part: `2.13.0`, whichever build of it is installed."""
    try:
        return importlib.metadata.version(package).partition("+")[0]
    except importlib.metadata.PackageNotFoundError:
        return "absent"
