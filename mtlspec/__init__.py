"""mtlspec: declarative, reproducible multi-task-learning experiments with transformer encoders."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor

    from mtlspec.data.batching import Batch
    from mtlspec.model.encoder.checked_removal import PruneReport
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


def prune(
    model: MultiTaskModel, gates: Tensor | None = None, batch: Batch | None = None
) -> tuple[MultiTaskModel, PruneReport]:
    """A smaller copy of a model without the heads whose gate [L, H] is 0, proven equal to the gated model.

    Gates are those that the model learnt (`sharing: l0`), unless others are given; the proof runs on `batch`, or on
    random sub-tokens. The copy is a plain model: it predicts, is saved and loaded like any other.
    """
    made: tuple[MultiTaskModel, PruneReport] = import_module("mtlspec.model.prune").prune(model, gates, batch)
    return made
