"""How help looks: usage, what the command does, arguments, options and examples, in lines that fit the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

if TYPE_CHECKING:
    from rich.text import Text

_WIDEST = 100  # longer lines are hard to read
_LONGEST = 24  # a name that takes more than this has a line of its own


class Command(TyperCommand):
    def format_help(self, ctx: Any, formatter: Any) -> None:
        del formatter  # what it would be given goes to the terminal at once
        _show(self, ctx)


class Group(TyperGroup):
    def format_help(self, ctx: Any, formatter: Any) -> None:
        del formatter
        _show(self, ctx)


def block(title: str, lines: Sequence[str]) -> str:
    """A titled part of an epilog."""
    return "\n".join([f"{title}:", *(f"  {line}" for line in lines)]) if lines else ""


def _show(command: TyperCommand | TyperGroup, ctx: Any) -> None:
    from mtlspec.cli import console
    from mtlspec.cli.examples import filled

    arguments = [each for each in command.params if isinstance(each, TyperArgument) and not each.hidden]
    options = [each for each in command.get_params(ctx) if isinstance(each, TyperOption) and not each.hidden]
    names = " ".join(map(_argument, arguments))
    rest = "COMMAND ..." if isinstance(command, TyperGroup) else f"{names} [OPTIONS]".strip()
    _say("Usage: " + f"{ctx.command_path} {rest}")
    for paragraph in (command.help or "").split("\n\n"):
        console.say()
        _say(" ".join(paragraph.split()))
    _say_rows("Arguments", [(_argument(each), each.help or "") for each in arguments])
    for panel, rows in _commands(command, ctx):
        _say_rows(panel, rows)
    _say_rows("Options", [(_option(each), _told(each)) for each in options])
    for part in filled(command.epilog or "").split("\n\n"):
        title, *lines = part.split("\n")
        if lines:
            _say_rows(title.rstrip(":"), [_columns(line.strip()) for line in lines])


def _argument(argument: TyperArgument) -> str:
    name = (argument.metavar or argument.name or "").strip("[].").upper()
    several = "..." if argument.nargs != 1 else ""
    return f"{name}{several}" if argument.required else f"[{name}{several}]"


def _option(option: TyperOption) -> str:
    """`-j, --jobs N`, `--[no-]publish`"""
    if option.secondary_opts:
        return f"--[no-]{option.opts[0].lstrip('-')}"
    names = ", ".join(sorted(option.opts, key=len))
    return names if option.is_flag else f"{names} {_value(option)}"


def _value(option: TyperOption) -> str:
    if option.metavar:
        return option.metavar
    kind = option.type_descriptor
    if kind.is_choice:
        return "|".join(str(getattr(choice, "value", choice)) for choice in kind.choices or ())
    if kind.is_path:
        return "FILE"
    return "N" if option.bare_type() in ("int", "float") else (option.name or "").strip("_").upper()


def _told(option: TyperOption) -> str:
    """The help of an option, with its default where that says something."""
    default = getattr(option.default, "value", option.default)
    if option.secondary_opts:
        default = option.opts[0] if default else option.secondary_opts[0]
    elif option.is_flag or default in (None, "", ()):
        return option.help or ""
    return f"{option.help or ''} Default: {default}."


def _commands(command: TyperCommand | TyperGroup, ctx: Any) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """The commands of a group by their panels, each with the first sentence of its help."""
    panels: dict[str, list[tuple[str, str]]] = {}
    if not isinstance(command, TyperGroup):
        return
    for name in command.list_commands(ctx):
        found = command.get_command(ctx, name)
        if found is not None and not found.hidden:
            first = " ".join((found.help or "").split("\n\n")[0].split())
            panels.setdefault(getattr(found, "rich_help_panel", None) or "Commands", []).append((name, first))
    yield from panels.items()


def _columns(line: str) -> tuple[str, str]:
    """A line of an epilog: an example, or what stands before and after two blanks."""
    first, _, rest = line.partition("  ")
    return first, rest.strip()


def _say_rows(title: str, rows: Sequence[tuple[str, str]]) -> None:
    from rich.text import Text

    from mtlspec.cli import console

    if not rows:
        return
    console.say()
    _say(f"{title}:", style="bold")
    names = [len(name) for name, told in rows if told and len(name) <= _LONGEST]
    indent = max(names, default=0) + 4
    for name, told in rows:
        bold = Text(f"  {name}", style="bold" if told else "")
        if told and len(name) <= _LONGEST:
            bold.pad_right(indent - bold.cell_len)
            _say_hanging(bold, told, indent)
        else:
            console.output().print(bold, soft_wrap=True)
            if told:
                _say_hanging(Text(" " * indent), told, indent)


def _say_hanging(head: Text, told: str, indent: int) -> None:
    """Text behind a name; further lines stand below its beginning."""
    import textwrap

    from mtlspec.cli import console

    first, *rest = textwrap.wrap(told, _width() - indent, break_on_hyphens=False) or [""]
    console.output().print(head.append(first), soft_wrap=True)
    for line in rest:
        console.say(" " * indent + line)


def _say(text: str, style: str | None = None) -> None:
    import textwrap

    from mtlspec.cli import console

    for line in textwrap.wrap(text, _width(), break_on_hyphens=False):
        console.say(line, style=style)


def _width() -> int:
    from mtlspec.cli import console

    terminal = console.output()
    return min(terminal.width, _WIDEST) if terminal.is_terminal else 80
