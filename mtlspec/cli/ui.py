"""`mtlspec ui`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from mtlspec.errors import SetupError

if TYPE_CHECKING:
    from mtlspec.io.project import Project

EXAMPLES = ("mtlspec ui", "mtlspec ui stem_cell --open", "mtlspec ui stem_cell --port 5001")
_HOST = "127.0.0.1"


def command(
    spec: Annotated[str | None, typer.Argument(help="Open at this spec; default: the list of experiments.")] = None,
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port on this machine.")] = 5000,
    open_: Annotated[bool, typer.Option("--open", help="Open the page in the browser when it is ready.")] = False,
) -> int:
    """Start the MLflow page on this machine, with a preset view: one row a model, its mean scores over seeds.

    It listens on the loopback address only and ends with Ctrl-C.
    """
    from mtlspec.cli import console
    from mtlspec.io.project import Project
    from mtlspec.track.server import local_store, local_uri, remake, unusable
    from mtlspec.track.webserver import serve

    project = Project.find()
    store = local_store(project)
    problem = unusable(local_uri(project))
    if problem is not None:
        raise SetupError("E628", f"MLflow cannot open its store: {problem}", store, remake(spec or "SPEC"))
    if not store.is_file():
        raise SetupError(
            "E623", "nothing has been published yet", project.tracking, "`mtlspec run` or `mtlspec publish`"
        )
    address = f"http://{_HOST}:{port}/{_fragment(project, spec)}"

    def ready() -> None:
        console.say(f"{address}  (Ctrl-C ends it)")
        if open_:
            import webbrowser

            webbrowser.open(address)

    return serve(project, _HOST, port, ready)


def _fragment(project: Project, spec: str | None) -> str:
    """The part of the address that opens a spec's experiment with the preset view."""
    from mtlspec.cli.specs import run_name
    from mtlspec.track.mlflow import experiment_id
    from mtlspec.track.view import VIEW_KEY

    if spec is None:
        return "#/experiments"
    name = run_name(spec, project)
    found = experiment_id(project, name)
    if found is None:
        raise SetupError("E624", f"'{name}' has not been published", None, f"`mtlspec publish {name}`")
    return f"#/experiments/{found}/runs?viewStateShareKey={VIEW_KEY}"
