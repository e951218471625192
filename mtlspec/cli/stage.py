"""`mtlspec stage`: what DVC runs."""

from __future__ import annotations

from typing import Annotated

import typer

EXAMPLES = ("mtlspec stage report --spec {spec}",)


def command(
    name: Annotated[str, typer.Argument(help="The stage, as dvc.yaml names it.")],
    spec: Annotated[str | None, typer.Option(help="The spec's name; default: the run folder we are in.")] = None,
) -> int:
    """Run one stage of a materialised spec, here and now."""
    import os
    from pathlib import Path

    from mtlspec.errors import StageError
    from mtlspec.execute.alone import run_alone
    from mtlspec.execute.lifeline import die_with_parent
    from mtlspec.io.project import Project
    from mtlspec.plan.dvc import PLAN_STAGE, RESULTS_STAGE

    die_with_parent(os.getppid())
    project = Project.find()
    places = project.run(spec or Path.cwd().name)
    if not places.base.joinpath("dvc.yaml").is_file():
        raise StageError(
            "E411",
            "no stages were written here",
            places.base,
            "name the spec with --spec, or run `mtlspec plan --write`",
        )
    with run_alone(project, places.spec_name):
        if name == PLAN_STAGE:
            from mtlspec.execute.materialise import plan_again

            plan_again(project, places)
        elif name == RESULTS_STAGE:
            from mtlspec.execute.results import write_results

            write_results(project, places)
        else:
            from mtlspec.execute.job import run_job
            from mtlspec.track.instructions import stay_with_common_instructions

            stay_with_common_instructions()
            return run_job([str(places.base), name, "", ""])
    return 0
