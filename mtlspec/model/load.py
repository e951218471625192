"""`mtlspec.load`: a model or an encoder, whichever a directory holds."""

from __future__ import annotations

from pathlib import Path

from mtlspec.errors import EncoderError
from mtlspec.model.encoder.encoder import SETTINGS, Encoder
from mtlspec.model.multitask import ABOUT, MultiTaskModel, load_model
from mtlspec.spec.own_kinds import use_own_kinds


def load_directory(path: Path) -> MultiTaskModel | Encoder:
    if not path.is_dir():
        what = "this is a file, not a directory" if path.exists() else "there is no such directory"
        hint = "name the artifact of a train or encoder stage, or what `save` wrote"
        raise EncoderError("E362", what, path, hint)
    use_own_kinds(path)  # a model may be of a kind that only its project has
    if (path / ABOUT).is_file():
        return load_model(path)
    if any((path / name).is_file() for name in ("config.json", SETTINGS)):
        return Encoder.load(path)
    raise EncoderError(
        "E354", "there is neither a trained model (model.json) nor an encoder (config.json) in this directory", path
    )
