"""Which modules of ours a source imports, at its top or inside a function, but not for type checking only."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator


def in_our_layout(text: str) -> Iterator[str]:
    """Found as text, because parsing all sources would take most of the time of a plan.

    Their layout is the formatter's, and a test compares what is found here with the syntax trees of all sources.
    """
    for plain, module, names in _IMPORT.findall(_TYPE_CHECKING.sub("", text)):
        yield plain or module
        yield from (f"{module}.{name}" for name in _NAME.findall(names))


_TYPE_CHECKING = re.compile(r"^( *)if TYPE_CHECKING:\n(?:\1 +.*\n|\n)*", re.MULTILINE)
_IMPORT = re.compile(r"^ *(?:import (mtlspec[\w.]*)|from (mtlspec[\w.]*) import (\([^)]*\)|.*))", re.MULTILINE)
_NAME = re.compile(r"\w+")


def in_any_layout(text: str, package: str) -> Iterator[str]:
    """Found in the syntax tree, relative ones included; `package` is the dotted name of the source's own."""
    return _in_tree(ast.parse(text), package.split("."))


def _in_tree(node: ast.AST, package: list[str]) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        above = package[: len(package) + 1 - node.level] if node.level else []
        module = ".".join([*above, *([node.module] if node.module else [])])
        yield module
        yield from (f"{module}.{alias.name}" for alias in node.names)
    else:
        hidden = isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        for child in node.orelse if isinstance(node, ast.If) and hidden else ast.iter_child_nodes(node):
            yield from _in_tree(child, package)
