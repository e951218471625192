"""Trained models and their results in use: predictions on new text, and frames of what a run found."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from mtlspec.use.frames import Results
    from mtlspec.use.predictor import Predictor


def load(reference: str | Path, device: str = "cpu") -> Predictor:
    """The trained or exported model of a folder, or `spec/model` of the project around us, ready to predict.

    An artifact whose bytes are not those that were sealed is refused.
    """
    from mtlspec.model.multitask import load_model
    from mtlspec.spec.own_kinds import use_own_kinds
    from mtlspec.use.exported import load_exported
    from mtlspec.use.models import find_model
    from mtlspec.use.predictor import Predictor

    found = find_model(str(reference))
    use_own_kinds(found.folder)  # a model may be of a kind that only its project has
    found.verify()
    read = load_exported if found.exported else load_model
    return Predictor(found, read(found.folder, device))


def results(spec: str) -> Results:
    """What a run found, as pandas frames: scores, scores of labels, tests, and atlases of heads.

    `spec` is the name of a run of the project around us, or the path of a `record.json`.
    """
    from mtlspec.use.frames import open_results

    return open_results(spec)
