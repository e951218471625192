"""What `mtlspec export` does: the folder, and the model of MLflow that is made of it."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from mtlspec.cli import console
from mtlspec.errors import Place, SpecError
from mtlspec.io.project import Project

if TYPE_CHECKING:
    from mtlspec.use.predictor import Predictor


def require_place(folder: Path | None, log: bool) -> None:
    """Before a model is loaded: there is a place for what is exported."""
    from mtlspec.use.files import require_new

    if folder is not None:
        require_new(folder)
    elif not log:
        raise SpecError(
            "E575", "there is no place to export to", None, "name a new folder, or log the model in MLflow with `--log`"
        )


def require_run(model: str) -> None:
    from mtlspec.use.models import find_model

    if find_model(model).places is None:
        message = f"'{model}' belongs to no run, so MLflow has no run to log it on"
        raise SpecError("E576", message, Place("--log"), "name a model of a run as `spec/model`")


@contextmanager
def opened(folder: Path | None, predictor: Predictor) -> Iterator[Path]:
    """The folder that was named, or one of the project's own that goes when the model is logged."""
    if folder is not None:
        yield folder
        return
    state = _project(predictor).state
    state.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=state, prefix="export-") as own:
        yield Path(own) / "model"


def made_of(predictor: Predictor, folder: Path, task: str | None, shown: bool) -> None:
    """The exported folder; its name is said where somebody chose one."""
    from mtlspec.use.export import export_model

    made = export_model(predictor, folder, task)
    name = folder if shown else predictor.name
    same = "proven equal" + (f" but for {made.difference:.1e}" if made.difference else " to the bit")
    if made.pipeline is not None:
        console.say(f"{name}: task '{made.tasks[0]}' as a {made.pipeline} model of transformers, {same}")
    else:
        console.say(f"{name}: {', '.join(made.tasks)}; encoder/ is a plain model of transformers, {same}")
        console.note(f"the decoders are read by mtlspec alone: {made.why}")


def logged(predictor: Predictor, folder: Path, task: str | None) -> None:
    """On the run of its training; what was exported stays, whatever becomes of this."""
    from mtlspec.track.logged import log_export

    places = predictor.found.places
    assert places is not None
    part, project = task if len(predictor.tasks) > 1 else None, _project(predictor)
    with console.doing("logging in MLflow"):
        found = log_export(project, places.spec_name, predictor.name.partition("/")[2], folder, part)
    console.say(f"{'logged' if found.new else 'logged before'} in MLflow at {found.place}")
    console.say(f"  {found.model}")
    console.say(f"  {found.run}")
    where = f"MLFLOW_TRACKING_URI=sqlite:///{_near(project.tracking / 'mlflow.db')} " if found.local else ""
    console.note(f"{where}mlflow models predict -m {found.model} --env-manager local -t json -i in.json")


def _near(path: Path) -> str:
    """As it is named from here."""
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)


def _project(predictor: Predictor) -> Project:
    places = predictor.found.places
    assert places is not None
    return Project(places.base.parents[2])
