"""`mtlspec gc`."""

from __future__ import annotations

from typing import Annotated

import typer

from mtlspec.cli.options import Json
from mtlspec.cli.predict import complete_model

EXAMPLES = (
    "mtlspec gc",
    "mtlspec gc {spec}",
    "mtlspec gc {spec} --free",
    "mtlspec gc '{spec}/mtl-*' --free --yes",
    "mtlspec gc {spec} --all --free",
)


def command(
    models: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="RUN",
            help="A run, or models of one: `spec`, `spec/stl-*`.",
            autocompletion=complete_model,
        ),
    ] = None,
    free: Annotated[bool, typer.Option("--free", help="Free what is listed, after asking.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask; for scripts.")] = False,
    everything: Annotated[bool, typer.Option("--all", help="All artifacts of the run, not only weights.")] = False,
    lost: Annotated[bool, typer.Option("--lost", help="Also what could not be made again.")] = False,
    json_: Json = False,
) -> int:
    """Show what weights of trained models take on this disk, and free them. Without --free nothing is changed.

    Each model is listed with its size and whether it could be made again, to the same bytes. Freed are its weights in
    the run, their copy in DVC's cache where no other artifact names it, and in this project's MLflow. Records, scores,
    predictions, histories and reports stay. `mtlspec run` makes again what the spec keeps (`keep`), `dvc repro` all.
    """
    from mtlspec.cli.freeing import free_disk, list_runs
    from mtlspec.io.project import Project

    project = Project.find()
    if not models:
        return list_runs(project, free, json_)
    return free_disk(project, models, free=free, yes=yes, everything=everything, lost=lost, json_=json_)
