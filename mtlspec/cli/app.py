"""The frame around the commands: registration, global options, errors and exit codes.

A command is one file, `mtlspec/cli/<name>.py`, and `PANELS` (or `HIDDEN`) names it in the order of the help. It holds

- `command(...)`: a typer function. Its docstring is the help text, its first paragraph the summary. It returns None
  or an exit code, and raises `MtlspecError` for what a user can mend;
- or `app`: a `typer.Typer(help=..., no_args_is_help=True)` with sub-commands;
- `EXAMPLES`: a tuple of command lines, shown at the end of `--help`; `{spec}`, `{data}` and `{encoder}` become names
  of the project that somebody is in, so that every example can be typed as it stands.

The file is light at import: typer and `mtlspec.errors`; everything else comes in inside the function.
"""

from __future__ import annotations

import errno
import importlib
import os
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Annotated

import typer

from mtlspec.cli.help import Command, Group, block
from mtlspec.cli.missing import what_to_type
from mtlspec.errors import MtlspecError, SetupError
from mtlspec.io.disk import is_full, named_file
from mtlspec.io.secrets import without_secrets

PANELS: dict[str, tuple[str, ...]] = {
    "Experiments": ("init", "check", "plan", "run", "status", "report", "ui"),
    "Models": ("predict", "export", "gc"),
    "Trust": ("verify", "registry", "data", "encoder", "publish"),
    "Tools": ("schema", "doctor"),
}
HIDDEN = ("stage",)
EXIT_CODES = (
    "0  done",
    "1  something did not hold (a difference, a failed check)",
    "2  the spec, a card or the command line says something wrong (E1xx, E54x, E8xx)",
    "3  a data file or an encoder is malformed, missing or changed (E2xx, E3xx, E53x, E7xx)",
    "4  a stage failed (E4xx)",
    "5  bytes on disk are not the bytes that were recorded (E5xx)",
    "6  the machine or the project is not set up for this (E6xx)",
    "70  an error inside mtlspec",
    "130  interrupted",
    "141  the reader of the output went away",
)
_REFUSALS = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENAMETOOLONG)
_IN_THE_WAY = (errno.ENOTDIR, errno.EEXIST)
EXAMPLES = ("mtlspec init first", "mtlspec check specs/first.yaml", "mtlspec run specs/first.yaml")


def available() -> dict[str, str | None]:
    """The commands whose file exists, in the order of the help text, each with its panel (None: hidden)."""
    order: dict[str, str | None] = {name: panel for panel, names in PANELS.items() for name in names}
    order |= dict.fromkeys(HIDDEN)
    folder = Path(__file__).parent
    return {name: panel for name, panel in order.items() if (folder / f"{name}.py").is_file()}


def build(names: Sequence[str]) -> typer.Typer:
    """The program with these commands."""
    app = typer.Typer(
        name="mtlspec",
        help="Declarative, reproducible multi-task-learning experiments with transformer encoders.",
        epilog=block("Examples", EXAMPLES) + "\n\n" + block("Exit codes", EXIT_CODES),
        cls=Group,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_global_options)
    panels = available()
    for name in names:
        _register(app, name, importlib.import_module(f"mtlspec.cli.{name}"), panels[name])
    return app


def run(arguments: Sequence[str]) -> int:
    """Run one command line; every failure is a line on stderr and an exit code."""
    from mtlspec.cli import console

    options = list(arguments)
    end = options.index("--") if "--" in options else len(options)
    debug = "--debug" in options[:end]
    options = [option for i, option in enumerate(options) if i >= end or option != "--debug"]
    try:
        _use_own_kinds(options)
        result = build(_wanted(options))(args=options, prog_name="mtlspec", standalone_mode=False)
        sys.stdout.flush()
    except MtlspecError as error:
        if debug:
            _print_traceback()
        for problem in error.problems:
            console.error(str(problem))
        return error.exit_code
    except typer.Abort:
        console.error("aborted")
        return 1
    except (BrokenPipeError, SystemExit) as error:
        if isinstance(error, SystemExit) and not isinstance(error.__context__, BrokenPipeError):
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is still buffered goes nowhere
        return 141
    except KeyboardInterrupt:
        result = 130
    except Exception as error:
        if (message := _usage(error)) is not None:
            console.error(message)
            return 2
        if (answer := refused(error)) is not None and not debug:
            console.error(str(answer))
            return answer.exit_code
        if debug:
            _print_traceback()
        text = " ".join(without_secrets(f"{type(error).__name__}: {error}").split())
        console.error(f"internal error: {text}; this is a fault of mtlspec: run again with --debug and report it")
        return 70
    if result == 130:
        console.error("interrupted")
    return result if isinstance(result, int) else 0


def _use_own_kinds(options: Sequence[str]) -> None:
    """A project's `kinds/` belongs to every command but those that help, and to who examines it by himself."""
    examined = options[:1] == ["doctor"] and "--kinds" in options
    if {"-h", "--help", "--version"}.isdisjoint(options) and options and options[0] != "init" and not examined:
        from mtlspec.io.project import OWN_KINDS

        here = Path.cwd()
        if "MTLSPEC_KINDS" in os.environ or any((folder / OWN_KINDS).is_dir() for folder in (here, *here.parents)):
            from mtlspec.spec.own_kinds import use_own_kinds

            use_own_kinds()


def refused(error: Exception) -> SetupError | None:
    """The line for what only the machine is to blame for."""
    if is_full(error):
        hint = "make room, then go on as before"
        return SetupError("E639", "the disk is full: this cannot be written", named_file(error, Path.cwd()), hint)
    if isinstance(error, OSError) and error.errno in _REFUSALS:
        return SetupError("E690", f"the machine refuses: {error.strerror}", named_file(error, Path.cwd()))
    if isinstance(error, OSError) and error.errno in _IN_THE_WAY:
        named = named_file(error, Path.cwd())
        blocking = next((path for path in (named, *named.parents) if path.is_file()), None)
        if blocking is not None:
            hint = "move it away, or delete it"
            return SetupError("E642", "this is a file where mtlspec needs a folder", blocking, hint)
    return None


def _print_traceback() -> None:
    """Python's, which quotes errors of other libraries and with them their addresses."""
    sys.stderr.write(without_secrets(traceback.format_exc()))


def _register(app: typer.Typer, name: str, module: ModuleType, panel: str | None) -> None:
    epilog = block("Examples", getattr(module, "EXAMPLES", ()))
    if hasattr(module, "app"):
        for part in module.app.registered_commands:
            part.cls = Command
        app.add_typer(module.app, name=name, cls=Group, epilog=epilog, rich_help_panel=panel, hidden=panel is None)
    else:
        app.command(name, cls=Command, epilog=epilog, rich_help_panel=panel, hidden=panel is None)(module.command)


def _wanted(options: Sequence[str]) -> tuple[str, ...]:
    """Only the named command is imported; all of them for help, for completion and to suggest a name."""
    commands = available()
    first = next((option for option in options if not option.startswith("-")), None)
    if first in commands and "_MTLSPEC_COMPLETE" not in os.environ:
        return (first,)
    return tuple(commands)


def _usage(error: Exception) -> str | None:
    """The line for a wrong command line, or None if the error is of another sort."""
    if not isinstance(error, typer.TyperException) and not hasattr(error, "format_message"):
        return None
    if (told := what_to_type(error)) is not None:
        return f"error: {told}"
    context = getattr(error, "ctx", None)
    hint = f"; see `{context.command_path} --help`" if context is not None else ""
    message = " ".join(str(error.format_message()).split()).rstrip(".") or "Missing command"
    return f"error: {message}{hint}"


def _print_version(value: bool) -> None:
    if value:
        from importlib.metadata import version

        typer.echo(f"mtlspec {version('mtlspec')}")
        raise typer.Exit


def _global_options(
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks. May stand anywhere in the line.")] = False,
    version: Annotated[
        bool, typer.Option("--version", help="Show the version.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    del debug, version  # read by `run` and by the callback
