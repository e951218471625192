"""What the commands print with: stdout for results, stderr for errors and progress; colour only on a terminal."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

from mtlspec.errors import visible, visible_json

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.table import Table

_PIPED_WIDTH = 240  # nothing is cut when the output is a file: tables take only the width they need
GAP = 2  # between two columns of a table
_HELD = "\ue000"  # drawn as a blank; what draws breaks lines at all blanks that Unicode has
_THEME = {
    "bar.back": "bright_black",
    "bar.complete": "green",
    "bar.finished": "green",
    "bar.pulse": "green",
    "progress.elapsed": "none",
    "progress.download": "none",
}
"""Words are never yellow or dark grey: terminals are light or dark, and nobody tells us which."""


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
    from rich.segment import Segment
    from rich.theme import Theme

    class Pipe(Console):
        def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterator[Segment]:
            """Nothing that comes from a file steers the terminal, whoever prints it."""
            for segment in super().render(renderable, options):
                text = visible(segment.text).replace(_HELD, " ")
                yield segment if segment.control else Segment(text, segment.style)

        def on_broken_pipe(self) -> None:
            """The frame answers a closed pipe, the same way for every command."""
            raise BrokenPipeError

    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else _PIPED_WIDTH
    return Pipe(stderr=stderr, width=width, highlight=False, emoji=False, theme=Theme(_THEME))


def say(text: str = "", style: str | None = None) -> None:
    """One line of plain text (no markup) on stdout, never cut; a terminal breaks it between words, nobody else does."""
    _print(output(), text, style)


def say_field(label: str, text: str) -> None:
    """One line that begins with a label; where a terminal breaks it, it goes on below its text, not below the label."""
    if output().is_terminal:
        from rich.text import Text

        lines = Text(visible(text)).wrap(output(), max(output().width - len(label), GAP))
        text = ("\n" + " " * len(label)).join(line.plain.rstrip() for line in lines)
    _print(output(), label + text, None)


def together(text: str) -> str:
    """A text to be printed in which no line is broken."""
    return text.replace(" ", _HELD)


def note(text: str) -> None:
    """One line of plain text on stderr that is not an error."""
    _print(messages(), text, "dim")


def error(text: str) -> None:
    """One error, one line, on stderr."""
    _print(messages(), text, "red")


def _print(console: Console, text: str, style: str | None) -> None:
    console.print(text, style=style, markup=False, soft_wrap=not console.is_terminal)


@contextmanager
def doing(text: str) -> Iterator[None]:
    """Says on stderr what takes a while: on a terminal with the time that has passed, until it is done."""
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    if not messages().is_terminal or messages().is_dumb_terminal:
        note(text)
        yield
        return
    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    with Progress(*columns, console=messages(), transient=True) as shown:
        shown.add_task(text, total=None)
        yield


def say_outcome(word: str, text: str, style: str) -> None:
    """One line on stderr about something that ended: how, in colour, and what."""
    from rich.text import Text

    messages().print(Text.assemble((f"{word:>8}", style), f"  {text}"), soft_wrap=True)


def say_json(value: Any) -> None:
    """Canonical JSON on stdout, for scripts."""
    text = json.dumps(value, sort_keys=True, indent=1, ensure_ascii=False, allow_nan=False)
    sys.stdout.write(visible_json(text) + "\n")


def say_table(columns: Sequence[str], rows: Iterable[Sequence[str]], title: str | None = None) -> None:
    """A table of plain texts; columns whose cells are all numbers are set right. A heading may have several lines."""
    if title is not None:
        say(title)  # as wide as the terminal, not as the table
    output().print(_table(columns, rows))


def shortened(text: str, width: int) -> str:
    """Cut to a width, with a mark that says so."""
    from rich.text import Text

    cut = Text(text)
    cut.truncate(width, overflow="ellipsis")
    return cut.plain


def column_widths(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> list[int]:
    """What each column of a table takes, the gap before the next one included, if no cell is folded."""
    from rich.cells import cell_len

    cells = zip(columns, *rows, strict=True)
    return [GAP + max(cell_len(line) for cell in column for line in cell.split("\n")) for column in cells]


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    cells = [list(map(visible, row)) for row in rows]  # here, too: widths are taken before anything is drawn
    table = Table(
        box=box.SIMPLE_HEAD,
        show_edge=False,
        pad_edge=False,
        padding=(0, GAP - 1, 0, 0),
    )
    for index, column in enumerate(columns):
        filled = [row[index] for row in cells if row[index]]
        numbers = bool(filled) and all(map(_is_number, filled))
        table.add_column(Text(column), justify="right" if numbers else "left", overflow="fold", no_wrap=numbers)
    for row in cells:
        table.add_row(*(Text(cell) for cell in row))
    return table


def _is_number(cell: str) -> bool:
    return cell.strip("+-±.,%–<~?0123456789e ") == ""
