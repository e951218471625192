"""A module that starts with an underscore belongs to its folder: nothing outside of it imports it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import mtlspec

PACKAGE = Path(mtlspec.__file__).parent


def _modules() -> dict[str, Path]:
    """Dotted name -> file; a package has the name of its folder."""
    found = {}
    for path in PACKAGE.rglob("*.py"):
        parts = (PACKAGE.name, *path.relative_to(PACKAGE).with_suffix("").parts)
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def _imports(path: Path) -> Iterator[str]:
    """Every dotted name that a source imports, at its top, inside a function or for type checking only."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def _owner(module: str) -> str | None:
    """The folder to which the outermost private part of a module's name belongs."""
    parts = module.split(".")
    private = next((i for i, part in enumerate(parts) if part.startswith("_") and not part.startswith("__")), None)
    return None if private is None else ".".join(parts[:private])


def test_private_modules_stay_in_their_folder() -> None:
    modules = _modules()
    broken = [
        f"{importer} imports {name}"
        for importer, path in modules.items()
        for name in dict.fromkeys(_imports(path))
        if name in modules and (owner := _owner(name)) is not None and not importer.startswith(f"{owner}.")
    ]
    assert not broken, "\n".join(broken)
