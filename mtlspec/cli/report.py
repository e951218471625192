"""`mtlspec report`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from mtlspec.errors import SetupError, visible

if TYPE_CHECKING:
    from mtlspec.io.project import RunPlaces

EXAMPLES = (
    "mtlspec report {spec}",
    "mtlspec report {spec} --open",
    "mtlspec report {spec} --format md | less",
)


def command(
    spec: Annotated[str, typer.Argument(help="Name of a spec that has been run, or its file.")],
    open_: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False,
    format_: Annotated[
        Literal["path", "md"], typer.Option("--format", help="`path`, or the text as Markdown.")
    ] = "path",
) -> None:
    """Where the report of a run is: one HTML file that needs no network.

    The page is the recorded report with one chapter more, what was measured on this machine.
    """
    import os

    from mtlspec.cli import console
    from mtlspec.cli.specs import run_name
    from mtlspec.io.project import Project
    from mtlspec.report.viewing import write_viewing_copy

    project = Project.find()
    name = run_name(spec, project)
    folder = project.run(name).artifact("report")
    for file in (folder / "report.html", folder / "report.md"):
        if not file.is_file():
            raise SetupError("E622", _missing(project.run(name)), file, f"`mtlspec run {spec}` makes it")
    page = write_viewing_copy(project.run(name))
    if format_ == "md":
        typer.echo(visible((folder / "report.md").read_text(encoding="utf-8")), nl=False)
    else:
        console.say(os.path.relpath(page))
    if open_:
        import webbrowser

        if not webbrowser.open(page.as_uri()):
            console.note(f"no browser was found; open {page.as_uri()}")


def _missing(places: RunPlaces) -> str:
    """Never made, or made elsewhere: git has records, not artifacts."""
    from mtlspec.track.record import outgrown_run

    if not places.record.is_file():
        return f"'{places.spec_name}' has no report yet"
    why = outgrown_run(places)
    return f"the report of '{places.spec_name}' is not on this machine" + (f", and {why}" if why else "")
