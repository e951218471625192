"""`mtlspec publish`."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

EXAMPLES = (
    "mtlspec publish {spec}",
    "mtlspec publish",
    "MLFLOW_TRACKING_URI=http://mlflow.example:5000 mtlspec publish {spec}",
)


def command(
    specs: Annotated[
        list[str] | None, typer.Argument(metavar="SPEC", help="Names or spec files; default: all that wait.")
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Believe the note that everything was delivered; do not ask MLflow.")
    ] = False,
    json_: Annotated[bool, typer.Option("--json", help="For scripts.")] = False,
) -> int:
    """Mirror finished runs to MLflow: the project's own store, or the server that MLFLOW_TRACKING_URI names.

    Publishing again sends only what changed. What a server does not take stays in the outbox and is sent the next time;
    exit code 1 says that something is still pending. A server that does not answer is given up within seconds; one that
    does has all the time it needs.
    """
    from mtlspec.cli import console
    from mtlspec.cli.specs import run_name
    from mtlspec.cli.stopping import explained
    from mtlspec.errors import MtlspecError, Problems
    from mtlspec.io.project import Project
    from mtlspec.track.mlflow import publish_all
    from mtlspec.track.outbox import waiting

    project = Project.find()
    names: list[str] = [] if specs else [*waiting(project)]
    unknown: list[MtlspecError] = []
    for spec in specs or ():
        try:
            names.append(run_name(spec, project))
        except MtlspecError as error:  # the others are sent all the same
            unknown.append(error)
    again = " ".join(["mtlspec publish", *(specs or ())])
    with explained("interrupted: what was sent is kept, the rest waits in the outbox", f"`{again}` sends it"):
        reports, problems = publish_all(project, names, quick=quick)
    if json_:
        console.say_json([asdict(report) for report in reports])
    else:
        for report in reports:
            done = f"{len(report.created)} new, {len(report.updated)} changed, {len(report.unchanged)} as before"
            removed = f", {len(report.removed)} removed" if report.removed else ""
            pending = f", {len(report.pending)} pending" if report.pending else ""
            console.say(f"MLflow runs of {report.spec}: {done}{removed}{pending}")
            if report.aside:
                others = "; `mtlspec publish` sends the other runs, too" if waiting(project) else ""
                console.note(
                    f"MLflow's store was left half migrated: it is kept as {report.aside}, a new one was made{others}"
                )
            if report.warning:
                console.note(f"warning: {report.warning}")
        if not names and not unknown:
            console.say("nothing waits to be published")
    if unknown or problems:
        raise Problems([*unknown, *problems])
    return 1 if any(report.warning for report in reports) else 0
