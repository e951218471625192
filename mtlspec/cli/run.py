"""`mtlspec run`."""

from __future__ import annotations

from typing import Annotated

import typer

from mtlspec.cli.options import Overrides, Spec, VariantName

EXAMPLES = (
    "mtlspec run specs/{spec}.yaml",
    "mtlspec run {spec} -j 1",
    "mtlspec run {spec} --set train.epochs=1 --set seeds='[1]'",
    "mtlspec run {spec} --set train.epochs=5 --as long",
)


def command(
    spec: Spec,
    set_: Overrides = None,
    as_: VariantName = None,
    jobs: Annotated[
        int | None, typer.Option("-j", "--jobs", min=1, help="Workers; default: cores / threads, on a GPU one.")
    ] = None,
    keep_going: Annotated[
        bool, typer.Option("--keep-going", help="After a failure, run what does not depend on it.")
    ] = False,
    publish: Annotated[bool, typer.Option(help="Mirror the results to MLflow at the end.")] = True,
) -> None:
    """Run a spec: plan it, run what is stale on warm workers, record everything, write the report.

    What is up to date is not run again, what was deleted comes back from the cache, and what was interrupted goes on
    where it stopped.

    With --set it is a variant that runs: it has its own folder, record and report, called after what was set or as --as
    says, and the spec's own run stays as it is. That name then stands for the variant wherever a command takes a spec.
    """
    import os

    from mtlspec.cli import console
    from mtlspec.cli.outcome import show_outcome
    from mtlspec.cli.progress import RunDisplay
    from mtlspec.cli.specs import find_wanted
    from mtlspec.cli.stopping import explained
    from mtlspec.execute.publishing import publish_apart
    from mtlspec.execute.run import RunOptions, run_spec
    from mtlspec.io.project import Project

    project = Project.find()
    options = RunOptions(workers=jobs or 0, keep_going=keep_going, cores=os.cpu_count() or 1)
    path, overrides = find_wanted(spec, project, set_, as_)
    with explained("interrupted: all finished stages are kept", "the same command goes on"):
        planned = run_spec(project, path, overrides, options, RunDisplay, console.note)
    name, done = planned.plan.spec, "interrupted: all stages are done and kept"
    with explained(
        done, f"`mtlspec publish {name}` mirrors them to MLflow, `mtlspec registry show {name}` shows scores"
    ):
        if publish:
            publish_apart(project, name, console.note)
        show_outcome(project, planned.places)
