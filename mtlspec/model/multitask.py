"""MultiTaskModel: one encoder, a way of sharing it, and the tasks that read it; saved and loaded without pickle."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from mtlspec.data.batching import Batch
from mtlspec.errors import EncoderError
from mtlspec.io.write import write_json
from mtlspec.kinds import options_class
from mtlspec.model.encoder.encoder import Encoder, copy_tokenizer
from mtlspec.model.encoder.loading import first_line
from mtlspec.model.encoder.states import States
from mtlspec.model.sharing import Sharing
from mtlspec.model.task import Task, rebuild_task
from mtlspec.spec.families import SHARING, SharingOptions, TaskOptions
from mtlspec.spec.models import Take

WEIGHTS, ABOUT, ENCODER = "model.safetensors", "model.json", "encoder"


class MultiTaskModel:
    """A plain class; `module` holds all parameters, under `encoder`, `sharing` and `tasks.<name>`."""

    def __init__(
        self, encoder: Encoder, sharing: Sharing, sharing_options: SharingOptions, tasks: Sequence[Task]
    ) -> None:
        self.encoder = encoder
        self.sharing = sharing
        self.tasks = tuple(tasks)
        self._sharing_options = sharing_options
        decoders = nn.ModuleDict({task.name: task.module for task in tasks})
        self.module = nn.ModuleDict({"encoder": encoder, "sharing": sharing.module, "tasks": decoders})

    def states(self, batch: Batch, task: int) -> States:
        """What the decoder of one task (an index) sees of a batch."""
        return self.sharing.encode(batch.for_task(task))

    def to(self, device: torch.device) -> MultiTaskModel:
        self.module.to(device)
        return self

    @property
    def device(self) -> torch.device:
        return next(self.module.parameters()).device

    def weights(self) -> dict[str, Tensor]:
        """Every parameter and buffer that is saved, on the CPU; the model's own tensors where it is there already."""
        return {name: value.detach().cpu() for name, value in self.module.state_dict().items()}

    def load_weights(self, weights: Mapping[str, Tensor]) -> None:
        self.module.load_state_dict(dict(weights))

    def sizes(self) -> dict[str, int]:
        """Parameters: in all, trained, and of each task's decoder."""
        counts = {f"tasks.{task.name}": _count(task.module) for task in self.tasks}
        trained = sum(p.numel() for p in self.module.parameters() if p.requires_grad)
        return {"total": _count(self.module), "trained": trained, "encoder": _count(self.encoder), **counts}

    def save(self, directory: str | Path, tokenizer: str | Path) -> None:
        """Fill a directory; `tokenizer` is the directory whose tokenizer files go with the model."""
        directory = Path(directory)
        copy_tokenizer(Path(tokenizer), directory / ENCODER)
        save_file({name: value.contiguous() for name, value in self.weights().items()}, directory / WEIGHTS)
        about = {
            "sharing": self._sharing_options.model_dump(mode="json"),
            "tasks": [{"name": task.name, **task.describe()} for task in self.tasks],
        }
        write_json(directory / ABOUT, about)
        self.encoder.save_config(directory / ENCODER)


def build_model(
    encoder: Encoder,
    sharing_options: SharingOptions,
    tasks: Mapping[str, TaskOptions],
    labels: Mapping[str, Mapping[str, int]],
) -> MultiTaskModel:
    """A model with fresh decoders, their parameters drawn from torch's global generator.

    `labels` are each task's training labels with their counts.
    """
    sharing = sharing_options.build(encoder, list(tasks))
    spaces = sharing.label_spaces(labels)
    built = [options.build(name, spaces[name], sharing.width) for name, options in tasks.items()]
    sharing.attach(built)
    return MultiTaskModel(encoder, sharing, sharing_options, built)


def load_model(train_artifact: Path, device: str = "cpu") -> MultiTaskModel:
    """A trained model in evaluation mode."""
    encoder = Encoder.empty(train_artifact / ENCODER)
    try:
        model = _rebuild(encoder, json.loads((train_artifact / ABOUT).read_bytes()))
    except (OSError, ValueError, KeyError, TypeError) as error:
        reason = f"{type(error).__name__}: {first_line(error)}"
        raise EncoderError("E360", f"this is not a record of a model ({reason})", train_artifact / ABOUT) from None
    try:
        model.load_weights(load_file(train_artifact / WEIGHTS))
    except (SafetensorError, OSError, RuntimeError) as error:
        path = train_artifact / WEIGHTS
        raise EncoderError("E361", f"the model's weights cannot be read: {first_line(error)}", path) from None
    model.module.eval()
    return model.to(torch.device(device))


def _rebuild(encoder: Encoder, about: Mapping[str, Any]) -> MultiTaskModel:
    """The model that `model.json` describes; its parameters come from a checkpoint."""
    sharing_options = options_class(SHARING, about["sharing"]["type"]).model_validate(about["sharing"])
    assert isinstance(sharing_options, SharingOptions)
    sharing = sharing_options.build(encoder, [task["name"] for task in about["tasks"]])
    tasks = [rebuild_task(task["name"], task, sharing.width) for task in about["tasks"]]
    sharing.attach(tasks)
    return MultiTaskModel(encoder, sharing, sharing_options, tasks)


def start_from(model: MultiTaskModel, train_artifact: Path, take: Take) -> None:
    """Take the encoder of a trained model, or all: its decoders too. What a strategy adds stays fresh."""
    parts = ("encoder.",) if take == "encoder" else ("encoder.", "tasks.")
    saved = {name: value for name, value in load_file(train_artifact / WEIGHTS).items() if name.startswith(parts)}
    model.load_weights({**model.weights(), **saved})


def _count(module: nn.Module) -> int:
    return sum(parameter.numel() for parameter in module.parameters())
