"""DVC's pipelines of all runs: which there are, which of them name a run's results, and which DVC sees.

Plain `dvc status` and `dvc repro --all-pipelines` walk whatever they find. Pipelines on data that a clone lacks are
hidden from that walk (`registry/.dvcignore`, in git) until somebody asks for one here, with `mtlspec plan --write` or
`mtlspec run`: then a file beside them, which git does not see, shows them all. All or none: a `results` stage whose run
is hidden would have DVC remove the record and find nothing to make it from.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from mtlspec.execute.lockfile import keep_only, lock_of
from mtlspec.io.project import Project, RunPlaces
from mtlspec.io.write import write_text_if_changed
from mtlspec.plan.dvc import (
    HIDING_FILE,
    PIPELINE,
    SHOWING_FILE,
    hiding_text,
    is_generated,
    is_outside,
    read_stage_file,
    results_file,
    results_stage,
    results_text,
    showing_text,
)


def materialised_runs(project: Project) -> list[RunPlaces]:
    """Every spec that has stages, by name."""
    pipelines = (project.root / "registry" / "runs").glob(f"*/{PIPELINE}")
    return [project.run(path.parent.name) for path in sorted(pipelines)]


def own_pipelines(project: Project, places: RunPlaces) -> list[Path]:
    """The run's own stages, and the pipeline that names its results."""
    return _existing(places.base / PIPELINE, project.root / results_file(_reads_outside_data(places.base)))


def possible_pipelines(project: Project, places: RunPlaces) -> list[Path]:
    """As `own_pipelines`, but wherever its results may have been: its data may have moved into the project."""
    return _existing(places.base / PIPELINE, *(project.root / results_file(outside) for outside in (False, True)))


def write_results_files(project: Project) -> None:
    """The pipelines that name every spec with stages: those that a clone can compute, and those on outside data."""
    lock_file = project.relative(project.lock_file) if project.lock_file.is_file() else None
    runs = materialised_runs(project)
    for outside in (False, True):
        names = [run.spec_name for run in runs if _reads_outside_data(run.base) == outside]
        path = project.root / results_file(outside)
        if names or not outside:
            write_text_if_changed(path, results_text(names, lock_file, outside))
            keep_only(lock_of(path), list(map(results_stage, names)))
        else:
            for leftover in (path, lock_of(path)):
                leftover.unlink(missing_ok=True)
        if outside:
            _hide(project, names)


def show_if_hidden(project: Project, places: RunPlaces) -> None:
    """From now on DVC sees all pipelines of this project, if this run's is one of those that it otherwise does not."""
    if _reads_outside_data(places.base):
        _write_own(project.root / SHOWING_FILE, showing_text())


def _hide(project: Project, names: Sequence[str]) -> None:
    if names:
        _write_own(project.root / HIDING_FILE, hiding_text(names))
        return
    for path in (project.root / HIDING_FILE, project.root / SHOWING_FILE):
        if path.is_file() and is_generated(path.read_text(encoding="utf-8")):
            path.unlink()


def _write_own(path: Path, text: str) -> None:
    """A file that somebody else wrote stays: DVC then sees what it sees."""
    if not path.exists() or is_generated(path.read_text(encoding="utf-8")):
        write_text_if_changed(path, text)


def _existing(*paths: Path) -> list[Path]:
    return [path for path in paths if path.is_file()]


def _reads_outside_data(run: Path) -> bool:
    try:
        cards = [read_stage_file(json.loads(path.read_bytes()))[1]["card"] for path in run.glob("stages/data-*.json")]
        return any(is_outside(card["root"]) for card in cards)
    except (ValueError, KeyError, TypeError):  # broken stages of another spec: said when that spec is run
        return False
