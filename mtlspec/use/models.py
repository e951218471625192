"""Which trained model a name or a folder means, and how its own evaluation read text; nothing heavy is imported."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mtlspec.data.layer_kinds import layer_kind
from mtlspec.errors import IntegrityError, SpecError, did_you_mean
from mtlspec.io.digest import digest_file
from mtlspec.io.freed import is_freed
from mtlspec.io.manifest import MANIFEST, read_manifest, verify_manifest
from mtlspec.io.project import Project, RunPlaces
from mtlspec.io.words import counted
from mtlspec.plan.dvc import read_stage_file
from mtlspec.spec.cards import DataCard
from mtlspec.spec.models import BatchLimits, RunOptions
from mtlspec.track.copies import EXPORTED, POINTER

ABOUT = "model.json"
_TRAIN, _CORPUS = "train-", "prepare-"


@dataclass(frozen=True)
class Found:
    """A trained model on disk."""

    name: str  # as people know it: `stem_cell/mtl-all-s1`, or the folder
    folder: Path  # what a train stage, or `MultiTaskModel.save`, wrote
    limits: BatchLimits = field(default_factory=BatchLimits)  # of the batches of its evaluation
    run: RunOptions = field(default_factory=RunOptions)  # threads and device of its evaluation
    long_text: str = "error"  # what happens to raw text over the encoder's limit
    raw: Mapping[str, bool] = field(default_factory=dict)  # corpus -> whether its examples are raw texts; known ones
    places: RunPlaces | None = None  # of the run that it belongs to
    exported: bool = False  # True: `mtlspec export` wrote it
    encoder: str = "encoder"  # the folder in it that has the tokenizer

    @property
    def title(self) -> str:
        """The name without a path of this machine."""
        return self.name if self.places is not None else self.folder.name

    def reads_raw(self, corpus: str | None) -> bool | None:
        """Whether a task's corpus is raw text; None where nobody recorded it."""
        if corpus is None and len(self.raw) == 1:
            return next(iter(self.raw.values()))
        return self.raw.get(corpus or "")

    def verify(self) -> None:
        """Nothing is loaded from an artifact that is not the one that was sealed."""
        if self.exported and (self.folder / POINTER).is_file():
            name = exported_about(self.folder)["name"]
            again = f"`mtlspec export {name} --log` logs it anew" if "/" in name else None
            raise IntegrityError("E592", "the weights of this exported model were freed", self.folder, again)
        if is_freed(self.folder):
            again = "`mtlspec run` of a spec that says `keep: weights`, or `dvc repro`, trains it again"
            raise IntegrityError("E591", "the weights of this model were freed", self.folder, again)
        if self.exported:
            _verify_export(self.folder)
        elif (self.folder / MANIFEST).is_file():
            verify_manifest(self.folder)


def is_model(folder: Path) -> bool:
    """Whether a folder holds a trained or an exported model."""
    return (folder / EXPORTED).is_file() or (folder / ABOUT).is_file()


def find_model(reference: str) -> Found:
    """A model by its folder, trained or exported, or as `spec/model` of the project around us."""
    folder = Path(reference)
    if (folder / EXPORTED).is_file():
        return _of_export(folder)
    if folder.is_dir() and (folder / ABOUT).is_file():
        own = _places_of(folder.resolve())
        return _of_run(own, folder.name.removeprefix(_TRAIN)) if own is not None else Found(reference, folder)
    if folder.is_absolute() or reference.startswith(".") or not _is_name(reference):
        what = f"there is no trained model ({ABOUT}) in this folder" if folder.is_dir() else "there is no such folder"
        raise SpecError("E540", what, folder, "name a trained model's folder, or one of a run as `spec/model`")
    project = Project.find()
    run, _, model = reference.partition("/")
    places = project.run(run)
    known = run_names(project)
    if run not in known:
        hint = did_you_mean(run, known) or "`mtlspec status` lists runs; `spec/model` names a model of one"
        raise SpecError("E541", f"no run is called '{run}'", None, hint)
    names = model_names(places)
    if model not in names:
        message = f"'{run}' has no model '{model}'" if model else f"which model of '{run}'?"
        few = f"{counted(len(names), 'model')}, such as {run}/{names[0]}" if names else "it has none yet"
        raise SpecError("E542", message, None, (did_you_mean(model, names) if model else None) or few)
    artifact_of(places, _TRAIN + model, f"the model '{reference}'")
    return _of_run(places, model)


def artifact_of(places: RunPlaces, stage: str, what: str) -> Path:
    """The artifact of a stage; git has records, and artifacts only where somebody ran or pulled them."""
    folder = places.artifact(stage)
    if not (folder / MANIFEST).is_file():
        hint = f"`mtlspec run {places.spec_name}` brings it from DVC's cache or computes it"
        raise IntegrityError("E543", f"{what} is not on this machine", None, hint)
    return folder


def exported_about(folder: Path) -> dict[str, Any]:
    """What an exported model says of itself."""
    try:
        about: dict[str, Any] = json.loads((folder / EXPORTED).read_bytes())
        if about["format"] != 1:
            raise ValueError(about["format"])
    except (OSError, ValueError, KeyError, TypeError):
        raise IntegrityError("E559", "this is no record of an exported model", folder / EXPORTED) from None
    return about


def _verify_export(folder: Path) -> None:
    """Whatever else lies there: MLflow adds files of its own to what it downloads, people add theirs."""
    for name, recorded in sorted(read_manifest(folder).items()):
        try:
            found = digest_file(folder / name)
        except OSError:
            raise IntegrityError("E593", "a file of the exported model is missing", folder / name) from None
        if found != recorded:
            message = f"the file changed after it was exported: recorded sha256 {recorded}, found {found}"
            raise IntegrityError("E594", message, folder / name)


def run_names(project: Project) -> list[str]:
    """Runs that were planned."""
    return sorted(path.parent.parent.name for path in (project.root / "registry" / "runs").glob("*/stages/plan.json"))


def model_names(places: RunPlaces) -> list[str]:
    """The models of a run, without reading its plan."""
    return sorted(path.stem.removeprefix(_TRAIN) for path in (places.base / "stages").glob(f"{_TRAIN}*.json"))


def _is_name(reference: str) -> bool:
    run, _, model = reference.partition("/")
    return bool(run) and "/" not in model and "\0" not in reference and len(reference) < 300


def _places_of(folder: Path) -> RunPlaces | None:
    """Those of the run, if a folder is an artifact of one."""
    base = folder.parent.parent
    own = folder.name.startswith(_TRAIN) and folder.parent.name == "artifacts"
    return RunPlaces(base) if own and (base / "stages" / f"{folder.name}.json").is_file() else None


def _of_run(places: RunPlaces, model: str) -> Found:
    """What the stages of the run say of a model."""
    _, inputs = _stage(places, _TRAIN + model)
    raw, long_text = {}, "error"
    for role, stage in inputs.items():
        if role.startswith(_CORPUS):
            params, _ = _stage(places, stage)
            raw[role.removeprefix(_CORPUS)] = _is_raw(DataCard.model_validate(params["card"]))
            long_text = params.get("long_text", "error")
    folder = places.artifact(_TRAIN + model)
    params, _ = _stage(places, f"evaluate-{model}")
    limits, run = BatchLimits.model_validate(params["batch"]), RunOptions.model_validate(params["run"])
    return Found(f"{places.spec_name}/{model}", folder, limits, run, long_text, raw, places)


def _is_raw(card: DataCard) -> bool:
    """Whether the examples of a corpus are raw texts: nothing in it is about words, and no reader is told of any."""
    about_words = any(layer_kind(kind).about_words for kind in card.layer_kinds.values())
    return not about_words and all(getattr(group.reader, "words", None) is None for group in card.files)


def _of_export(folder: Path) -> Found:
    about = exported_about(folder)
    limits, run = BatchLimits.model_validate(about["limits"]), RunOptions.model_validate(about["run"])
    return Found(
        str(folder), folder, limits, run, about["long_text"], about["raw"], exported=True, encoder=about["encoder"]
    )


def _stage(places: RunPlaces, name: str) -> tuple[Mapping[str, Any], Mapping[str, str]]:
    """Parameters and inputs of a stage."""
    path = places.params(name)
    try:
        _, params, inputs, _ = read_stage_file(json.loads(path.read_bytes()))
    except (OSError, ValueError, KeyError, TypeError):
        hint = f"`mtlspec plan --write {places.spec_name}` writes it anew"
        raise IntegrityError("E544", "the stage's parameters are not readable", path, hint) from None
    return params, inputs
