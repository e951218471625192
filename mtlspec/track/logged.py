"""Exported models in MLflow: each a logged model of the run of its training, found again by what it is of.

People log them; publishing never takes one away, because it may have been registered. The address `models:/<id>` stays
when a run is sent anew; `runs:/<run>/<name>` is of the run that was there.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mtlspec.errors import SetupError
from mtlspec.io.digest import digest_value
from mtlspec.io.manifest import read_manifest
from mtlspec.io.project import Project
from mtlspec.io.secrets import clean_address
from mtlspec.track.conversation import conversation, one_line, trouble
from mtlspec.track.copies import POINTER
from mtlspec.track.items import CONTENT, KEY, NOTE, STAGE
from mtlspec.track.mirror import files_below, local_folder, seconds_for
from mtlspec.track.mlflow import publish
from mtlspec.track.models import READY, link, logged_models
from mtlspec.track.patience import OutOfPatienceError, Patience
from mtlspec.track.server import answer_seconds, is_local, shown_address, tracking_uri

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import LoggedModel, Run

_NAMELESS = re.compile(r"[/:.%\"']+")  # what MLflow takes in no name


@dataclass(frozen=True)
class Logged:
    """An exported model as MLflow has it."""

    model: str  # models:/<id>
    run: str  # runs:/<id of its run>/<name>
    place: str  # where MLflow is, without secrets
    local: bool  # the project's own store
    new: bool  # False: the same was there


def log_export(project: Project, spec: str, model: str, folder: Path, part: str | None = None) -> Logged:
    """An exported folder becomes a model of the run of its training; the same twice is once.

    `part` tells exports of single tasks apart. What is not published of the spec is published first.
    """
    target = tracking_uri(project)
    for quick in (True, False):  # the note that all was delivered may be wrong: somebody may have removed the run
        report = publish(project, spec, quick=quick)
        if report.warning is not None:
            raise SetupError("E641", f"not logged: {report.warning}")
        found: list[Logged] = []
        reason = trouble(project, target)
        if reason is None:
            reason = _talk(project, target, f"{spec}/{model}", folder, part, found)
        if reason is not None:
            again = "the same command, without a folder, tries again"
            raise SetupError("E643", f"not logged: MLflow at {_shown(project, target)}: {reason}", None, again)
        if found:
            return found[0]
    raise SetupError("E644", f"not logged: MLflow has no run of '{spec}/{model}'", None, "is it run and evaluated?")


def _talk(project: Project, target: str, key: str, folder: Path, part: str | None, found: list[Logged]) -> str | None:
    """The reason why it failed; nothing is found if MLflow has no run of the model."""
    try:
        with conversation(project, target) as client:
            patience = Patience(answer_seconds(target))
            logging = _Logging(client, patience, key, folder, part)

            def work() -> None:
                run = logging.run(key.partition("/")[0])
                if run is None:
                    return
                model, new = logging.log(run)
                at = f"runs:/{run.info.run_id}/{model.name}"
                found.append(
                    Logged(f"models:/{model.model_id}", at, _shown(project, target), is_local(project, target), new)
                )

            patience.run(work)
    except SetupError as error:
        return error.message
    except OutOfPatienceError as error:
        return str(error)
    except Exception as error:  # MLflow, SQLAlchemy, requests and the file system each have their own
        return one_line(error, target)
    return None


@dataclass
class _Logging:
    client: MlflowClient
    patience: Patience
    key: str
    folder: Path
    part: str | None

    def run(self, spec: str) -> Run | None:
        """The finished run of the training."""
        self.patience.step()
        experiment = self.client.get_experiment_by_name(spec)
        if experiment is None or experiment.lifecycle_stage == "deleted":
            return None
        self.patience.step()
        wanted = f"tags.`{KEY}` = '{self.key}' AND attributes.status = 'FINISHED'"
        return next(iter(self.client.search_runs([experiment.experiment_id], wanted)), None)

    def log(self, run: Run) -> tuple[LoggedModel, bool]:
        """The model, and whether anything of it had to be sent. Ready is said last: what was cut short goes on."""
        content = digest_value(read_manifest(self.folder))
        model = next(
            (
                one
                for one in logged_models(self.client, self.patience, run.info.experiment_id, self.key)
                if one.source_run_id == run.info.run_id and one.tags.get(CONTENT) == content
            ),
            None,
        )
        if model is None:
            model = self._create(run, content)
        link(self.client, self.patience, run, model)
        pointer = _pointer(model)
        if model.status == READY and pointer is None:
            return model, False
        for file, place in files_below(self.folder, ""):
            self.patience.step(further=seconds_for(file))
            self.client.log_model_artifact(model.model_id, str(file), place or None)
        if pointer is not None:
            pointer.unlink()
        if model.status != READY:
            self.patience.step()
            self.client.finalize_logged_model(model.model_id, READY)
        return model, True

    def _create(self, run: Run, content: str) -> LoggedModel:
        of = self.key.partition("/")[2]
        about = f"What `mtlspec predict {self.key}` computes; README.md among the artifacts is its card."
        tags = {KEY: self.key, CONTENT: content, STAGE: run.data.tags.get(STAGE, ""), NOTE: about}
        name = _NAMELESS.sub("_", f"{of}-{self.part}" if self.part else of)
        self.patience.step()
        return self.client.create_logged_model(run.info.experiment_id, name, run.info.run_id, tags)


def _shown(project: Project, target: str) -> str:
    return shown_address(project, clean_address(target))


def _pointer(model: LoggedModel) -> Path | None:
    """What stands in place of weights that were freed; only the project's own store has such."""
    folder = local_folder(model.artifact_location)
    return folder / POINTER if folder is not None and (folder / POINTER).is_file() else None
