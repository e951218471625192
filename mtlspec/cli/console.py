"""What the commands print with: stdout for results, stderr for errors and progress; colour only on a terminal."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

_PIPED_WIDTH = 240  # nothing is cut when the output is a file: tables take only the width they need


@cache
def output() -> Console:
    """The console on stdout. Never use it for JSON: `say_json` does that."""
    return _console(stderr=False)


@cache
def messages() -> Console:
    """The console on stderr, for errors, progress and asides."""
    return _console(stderr=True)


def _console(stderr: bool) -> Console:
    from rich.console import Console

    class Pipe(Console):
        def on_broken_pipe(self) -> None:
            """The frame answers a closed pipe, the same way for every command."""
            raise BrokenPipeError

    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else _PIPED_WIDTH
    return Pipe(stderr=stderr, width=width, highlight=False, emoji=False)


def say(text: str = "", style: str | None = None) -> None:
    """One line of plain text (no markup) on stdout; long lines are not cut or wrapped."""
    output().print(text, style=style, markup=False, soft_wrap=True)


def note(text: str) -> None:
    """One line of plain text on stderr that is not an error."""
    messages().print(text, style="dim", markup=False, soft_wrap=True)


def error(text: str) -> None:
    """One error, one line, on stderr."""
    messages().print(text, style="red", markup=False, soft_wrap=True)


def say_json(value: Any) -> None:
    """Canonical JSON on stdout, for scripts."""
    sys.stdout.write(json.dumps(value, sort_keys=True, indent=1, ensure_ascii=False, allow_nan=False) + "\n")


def say_table(columns: Sequence[str], rows: Iterable[Sequence[str]], title: str | None = None) -> None:
    """A table of plain texts; columns whose cells are all numbers are set right."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    cells = [list(row) for row in rows]
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for index, column in enumerate(columns):
        numbers = bool(cells) and all(_is_number(row[index]) for row in cells)
        table.add_column(Text(column), justify="right" if numbers else "left", overflow="fold")
    for row in cells:
        table.add_row(*(Text(cell) for cell in row))
    output().print(table)


def _is_number(cell: str) -> bool:
    return bool(cell) and cell.strip("+-±.,%–0123456789e ") == ""
