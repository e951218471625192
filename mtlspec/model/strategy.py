"""What a sharing strategy learnt, apart from the rest of a model, whose weights may have been freed."""

from __future__ import annotations

from pathlib import Path

from safetensors import SafetensorError, safe_open
from torch import Tensor

from mtlspec.errors import EncoderError
from mtlspec.io.freed import WEIGHTS, is_freed, kept_gates
from mtlspec.model.encoder.loading import first_line
from mtlspec.model.multitask import MultiTaskModel, empty_model

_OWN = "sharing."


def strategy_weights(train_artifact: Path) -> dict[str, Tensor]:
    """Name -> tensor of all that a trained model's strategy added to the encoder, and of nothing else."""
    kept = kept_gates(train_artifact) if is_freed(train_artifact) else None
    path = kept or train_artifact / WEIGHTS
    try:
        with safe_open(path, framework="pt") as weights:
            return {name: weights.get_tensor(name) for name in sorted(weights.keys()) if name.startswith(_OWN)}
    except (SafetensorError, OSError) as error:
        raise EncoderError("E379", f"the strategy's weights cannot be read: {first_line(error)}", path) from None


def load_strategy(train_artifact: Path) -> MultiTaskModel:
    """A trained model of which only the strategy is as it was trained: encoder and decoders have their shapes alone."""
    model = empty_model(train_artifact)
    fresh, own = model.weights(), strategy_weights(train_artifact)
    if own.keys() != {name for name in fresh if name.startswith(_OWN)}:
        raise EncoderError("E372", "the strategy's weights are not those of this model", train_artifact)
    model.load_weights({**fresh, **own})
    model.module.eval()
    return model
