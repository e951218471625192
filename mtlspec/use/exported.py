"""The layout of an exported model: a folder of transformers, and what mtlspec needs to read it as its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from safetensors.torch import load_file, save_file

from mtlspec.errors import IntegrityError
from mtlspec.io.digest import digest_value
from mtlspec.io.manifest import MANIFEST, read_manifest
from mtlspec.io.write import write_json
from mtlspec.model.encoder.encoder import Encoder
from mtlspec.model.multitask import MultiTaskModel
from mtlspec.model.task import rebuild_task
from mtlspec.track.copies import EXPORTED, TRAINED
from mtlspec.use.models import Found, exported_about
from mtlspec.use.plain_models import assembled

DECODERS, WEIGHTS = "decoders.safetensors", "model.safetensors"


def write_own_part(folder: Path, model: MultiTaskModel, found: Found, encoder: str, prefix: str) -> None:
    """Decoders, and how to put the model together: `encoder` is the encoder's folder, `prefix` that of its names."""
    decoders = {name: value.contiguous() for name, value in model.weights().items() if name.startswith("tasks.")}
    save_file(decoders, folder / DECODERS)
    Encoder.save_config(model.encoder, folder / encoder)  # without that of transformers, which is there
    about: dict[str, Any] = {
        "format": 1,
        "name": found.title,
        TRAINED: digest_value(read_manifest(found.folder)) if (found.folder / MANIFEST).is_file() else None,
        "encoder": encoder,
        "prefix": prefix,
        "tasks": [{"name": task.name, **task.describe()} for task in model.tasks],
        "limits": found.limits.model_dump(mode="json"),
        "run": found.run.model_dump(mode="json"),
        "long_text": found.long_text,
        "raw": dict(found.raw),
    }
    write_json(folder / EXPORTED, about)


def load_exported(folder: Path, device: str = "cpu") -> MultiTaskModel:
    """The model of an exported folder, in evaluation mode."""
    about = exported_about(folder)
    encoder = Encoder.empty(folder / about["encoder"])
    model = assembled(encoder, [rebuild_task(task["name"], task, encoder.width) for task in about["tasks"]])
    prefix = about["prefix"]
    stored = load_file(folder / about["encoder"] / WEIGHTS)
    read = {f"encoder.model.{name.removeprefix(prefix)}": value for name, value in stored.items()}
    weights = {name: value for name, value in read.items() if name in model.weights()} | load_file(folder / DECODERS)
    try:
        model.load_weights(weights)
    except RuntimeError as error:
        reason = (str(error).splitlines() or [""])[0]
        raise IntegrityError("E558", f"the exported weights do not fit: {reason}", folder) from None
    model.module.eval()
    model.module.to(device)
    return model
