"""What `mtlspec registry remove` would take away, and whether it may."""

from __future__ import annotations

import sys

import typer

from mtlspec.cli import console
from mtlspec.errors import IntegrityError, SetupError, did_you_mean
from mtlspec.execute.alone import run_alone
from mtlspec.execute.materialise import remove_run
from mtlspec.execute.pipelines import materialised_runs, own_pipelines
from mtlspec.io.project import Project, RunPlaces
from mtlspec.io.words import counted
from mtlspec.plan.dvc import results_stage
from mtlspec.track.mlflow import unpublish
from mtlspec.track.outbox import Outbox
from mtlspec.track.server import shown_address


def remove(project: Project, spec: str, yes: bool, dry_run: bool) -> int:
    runs = {places.spec_name: places for places in materialised_runs(project)}
    found, published = runs.get(spec), Outbox(project, spec).address()
    if found is None and published is None:
        raise IntegrityError("E526", f"there is no run of '{spec}' in the registry", None, did_you_mean(spec, runs))
    if dry_run or not yes:
        console.say("this would be removed:" if dry_run else "this will be removed:")
        console.say_table(("what", "where"), _rows(project, found, published, spec))
        console.say("the spec, git's history and DVC's cache stay")
    if dry_run:
        return 0
    if not (yes or _agreed()):
        console.say("nothing was removed")
        return 1
    if found is not None:
        with run_alone(project, spec):
            remove_run(project, found)
        console.say(f"removed {project.relative(found.base)}")
    if said := unpublish(project, spec):
        console.say(said)
    return 0


def _rows(project: Project, found: RunPlaces | None, published: str | None, spec: str) -> list[tuple[str, str]]:
    rows = []
    if found is not None:
        files = [path for path in found.base.rglob("*") if path.is_file()]
        size = sum(path.lstat().st_size for path in files) / 1e6
        rows.append((f"{counted(len(files), 'file')}, {size:.1f} MB", f"{project.relative(found.base)}/"))
        named = [path for path in own_pipelines(project, found) if path.parent != found.base]
        rows += [(f"the stage {results_stage(spec)}", project.relative(path)) for path in named]
    if published is not None:
        rows.append((f"the experiment '{spec}'", f"MLflow at {shown_address(project, published)}"))
    return rows


def _agreed() -> bool:
    if not sys.stdin.isatty():
        hint = "add `--yes` to remove it, or `--dry-run` to see what would go"
        raise SetupError("E640", "nothing was removed: there is no terminal to ask in", None, hint)
    return typer.confirm("remove it?", default=False)
