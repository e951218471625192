"""mtlspec: declarative, reproducible multi-task-learning experiments with transformer encoders."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mtlspec.model.encoder.encoder import Encoder
    from mtlspec.model.multitask import MultiTaskModel


def load(path: str | Path) -> MultiTaskModel | Encoder:
    """What a directory holds, on the CPU, in evaluation mode: a trained (and perhaps pruned) model, or an encoder.

    A directory with `model.json` (the artifact of a `train` stage, or what `MultiTaskModel.save` wrote) is a model;
    one with `config.json` and `model.safetensors` (the artifact of an `encoder` stage, what `Encoder.save` wrote, or
    any encoder on disk) is an encoder.
    """
    # Not an import statement: this file belongs to every stage's code, which must not reach all models through it.
    loaded: MultiTaskModel | Encoder = import_module("mtlspec.model.load").load_directory(Path(path))
    return loaded
