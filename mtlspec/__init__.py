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
    from mtlspec.use.frames import Results
    from mtlspec.use.loaded import LoadedModel

# No import statements below: this file belongs to every stage's code, which must not reach all models through it.


def load(reference: str | Path, device: str = "cpu") -> LoadedModel | Encoder:
    """A trained model that predicts, in evaluation mode; or an encoder, if that is what a directory holds.

    `stem_cell/mtl-all-s1` is a model of a run of the project around us. A directory with `model.json` (the artifact of
    a `train` stage, or what `save` wrote) or an exported one is a model, too; one with `config.json` and
    `model.safetensors` (the artifact of an `encoder` stage, what `Encoder.save` wrote, or any encoder on disk) is an
    encoder. An artifact whose bytes are not those that were sealed is refused.
    """
    loaded: LoadedModel | Encoder = import_module("mtlspec.use.loaded").load(reference, device)
    return loaded


def results(spec: str) -> Results:
    """What a run found, as pandas frames: scores, scores of labels, tests, and atlases of heads.

    `spec` is the name of a run of the project around us, or the path of a `record.json`.
    """
    found: Results = import_module("mtlspec.use.frames").open_results(spec)
    return found


def prune(
    model: MultiTaskModel, gates: Tensor | None = None, batch: Batch | None = None
) -> tuple[MultiTaskModel, PruneReport]:
    """A smaller copy of a model without the heads whose gate [L, H] is 0, proven equal to the gated model.

    Gates are those that the model learnt (`sharing: l0`), unless others are given; the proof runs on `batch`, or on
    random sub-tokens. The copy is a plain model: it predicts, is saved and loaded like any other.
    """
    made: tuple[MultiTaskModel, PruneReport] = import_module("mtlspec.model.prune").prune(model, gates, batch)
    return made
