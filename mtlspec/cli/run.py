"""`mtlspec run`."""

from __future__ import annotations

from typing import Annotated

import typer

EXAMPLES = (
    "mtlspec run specs/stem_cell.yaml",
    "mtlspec run stem_cell -j 1",
    "mtlspec run stem_cell --set train.epochs=1 --set seeds='[1]'",
)


def command(
    spec: Annotated[str, typer.Argument(help="A spec file, or the name of one in specs/.")],
    set_: Annotated[list[str] | None, typer.Option("--set", help="Override: key.path=value. Repeatable.")] = None,
    jobs: Annotated[int | None, typer.Option("-j", "--jobs", min=1, help="Workers; default: cores / threads.")] = None,
    keep_going: Annotated[
        bool, typer.Option("--keep-going", help="After a failure, run what does not depend on it.")
    ] = False,
    publish: Annotated[bool, typer.Option(help="Mirror the results to MLflow at the end.")] = True,
) -> None:
    """Run a spec: plan it, run what is stale on warm workers, record everything, write the report.

    What is up to date is not run again, what was deleted comes back from the cache, and what was interrupted goes on
    where it stopped.
    """
    import os

    from mtlspec.cli import console
    from mtlspec.cli.outcome import show_outcome
    from mtlspec.cli.progress import RunDisplay
    from mtlspec.cli.specs import find_spec
    from mtlspec.execute.run import RunOptions, run_spec
    from mtlspec.io.project import Project

    project = Project.find()
    options = RunOptions(workers=jobs or 0, keep_going=keep_going, cores=os.cpu_count() or 1)
    planned = run_spec(project, find_spec(spec, project), set_ or (), options, RunDisplay, console.note)
    if publish:
        from mtlspec.execute.publishing import publish_apart

        publish_apart(project, planned.plan.spec, console.note)
    show_outcome(planned.places)
