"""`mtlspec ui`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from mtlspec.errors import SetupError

if TYPE_CHECKING:
    from pathlib import Path

    from mtlspec.io.project import Project

EXAMPLES = ("mtlspec ui", "mtlspec ui {spec} --open", "mtlspec ui {spec} --port 5001")
_HOST = "127.0.0.1"


def command(
    spec: Annotated[str | None, typer.Argument(help="Open at this spec; default: the list of experiments.")] = None,
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port on this machine.")] = 5000,
    open_: Annotated[bool, typer.Option("--open", help="Open the page in the browser when it is ready.")] = False,
) -> int:
    """Start the MLflow page on this machine, with a preset view: one row a model, its mean scores over seeds.

    It listens on the loopback address only and ends with Ctrl-C.
    """
    import time
    from contextlib import ExitStack

    from mtlspec.cli import console
    from mtlspec.cli.specs import run_name
    from mtlspec.io.project import Project
    from mtlspec.track.server import local_store, local_uri, remake, unusable
    from mtlspec.track.webserver import serving

    project = Project.find()
    store = local_store(project)
    _mend(project, store)
    problem = unusable(local_uri(project))
    if problem is not None:
        raise SetupError("E628", f"MLflow cannot open its store: {problem}", store, remake(project))
    if not store.is_file():
        if spec is not None:
            run_name(spec, project)  # a spec that is not there is the nearer trouble
        raise SetupError(
            "E623", "nothing has been published yet", project.tracking, "`mtlspec run` or `mtlspec publish`"
        )
    address = f"http://{_HOST}:{port}/{_fragment(project, spec)}"
    began = time.monotonic()
    with ExitStack() as until_the_end:
        try:
            with console.doing(f"starting MLflow's server on port {port}, which takes up to a minute"):
                server = until_the_end.enter_context(serving(project, _HOST, port))
            console.note(f"MLflow answers after {time.monotonic() - began:.0f} s; Ctrl-C ends it")
            console.say(address)
            if open_:
                import webbrowser

                webbrowser.open(address)
            return 1 if server.wait() else 0
        except KeyboardInterrupt:
            return 0


def _mend(project: Project, store: Path) -> None:
    """A store that was left half migrated is kept under another name and made again: the registry has what is in it."""
    from mtlspec.cli import console
    from mtlspec.cli.stopping import explained
    from mtlspec.io.words import counted
    from mtlspec.track.mlflow import publish_all
    from mtlspec.track.registry import run_names
    from mtlspec.track.server import local_uri
    from mtlspec.track.store import is_half_migrated

    names = run_names(project)
    if not is_half_migrated(store) or not names:
        return
    with (
        explained("interrupted: the registry is as it was", f"`mtlspec publish {' '.join(names)}` goes on"),
        console.doing(f"MLflow's store was left half migrated: making it again from {counted(len(names), 'record')}"),
    ):
        reports, problems = publish_all(project, names, uri=local_uri(project))
    for aside in [report.aside for report in reports if report.aside]:
        console.note(f"the old store is kept as {aside}")
    for told in [*(report.warning for report in reports if report.warning), *map(str, problems)]:
        console.note(f"warning: {told}")


def _fragment(project: Project, spec: str | None) -> str:
    """The part of the address that opens a spec's experiment with the preset view."""
    from mtlspec.cli.specs import run_name
    from mtlspec.track.server import experiment_id
    from mtlspec.track.view import fragment

    if spec is None:
        return fragment(None)
    found = experiment_id(project, spec)  # of a run that is no more in the registry, too
    if found is None:
        name = run_name(spec, project)
        found = experiment_id(project, name)
        if found is None:
            raise SetupError("E624", f"'{name}' has not been published", None, f"`mtlspec publish {name}`")
    return fragment(found)
