"""MultiTaskModel: one encoder, a way of sharing it, and the tasks that read it; saved and loaded without pickle."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

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
Labels = Mapping[str, Mapping[str, int]]
"""task -> its training labels with their counts"""


class Parts(nn.Module):
    """Modules under names of any sort: `nn.ModuleDict` refuses those that it has methods for, such as `train`."""

    def __init__(self, parts: Mapping[str, nn.Module]) -> None:
        super().__init__()
        self._modules.update(parts)

    def train(self, mode: bool = True) -> Self:
        """As ever, but `training` may be a part's name, too."""
        self.__dict__["training"] = mode
        for part in self.children():
            part.train(mode)
        return self


class MultiTaskModel:
    """A plain class; `module` holds all parameters, under `encoder`, `sharing` and `tasks.<name>`.

    Parameters of the strategy may stand inside the encoder as well: they are the strategy's, and saved once.
    """

    def __init__(
        self,
        encoder: Encoder,
        sharing: Sharing,
        sharing_options: SharingOptions,
        tasks: Sequence[Task],
        labels: Labels | None = None,
    ) -> None:
        """`labels` are the tasks' own, where the strategy chose others for the decoders."""
        self.encoder = encoder
        self.sharing = sharing
        self.tasks = tuple(tasks)
        self._sharing_options = sharing_options
        self._labels = labels
        decoders = Parts({task.name: task.module for task in tasks})
        self.module = Parts({"encoder": encoder, "sharing": sharing.module, "tasks": decoders})

    def states(self, batch: Batch, task: int) -> States:
        """All states of a batch that is encoded for one task (an index)."""
        return self.sharing.encode(batch.for_task(task))

    def read(self, batch: Batch, tasks: Iterable[int]) -> States:
        """What the decoders of some tasks (indices) read of a batch, and perhaps no more than that."""
        first = self.sharing.plain and all(self.tasks[task].first_only for task in tasks)
        return self.sharing.encode(replace(batch, first_only=first))

    def to(self, device: torch.device) -> MultiTaskModel:
        self.module.to(device)
        return self

    @property
    def device(self) -> torch.device:
        return next(self.module.parameters()).device

    def weights(self) -> dict[str, Tensor]:
        """Every parameter and buffer that is saved, on the CPU; the model's own tensors where it is there already."""
        inside = self._inside()
        state = self.module.state_dict(keep_vars=True)
        return {name: value.detach().cpu() for name, value in state.items() if name not in inside}

    def load_weights(self, weights: Mapping[str, Tensor]) -> None:
        """The inverse of `weights`; RuntimeError if they are not this model's."""
        inside = {name: weights[own] for name, own in self._inside().items() if own in weights}
        self.module.load_state_dict({**weights, **inside})

    def _inside(self) -> dict[str, str]:
        """Names under which the strategy's own tensors stand elsewhere in the model -> their names in the strategy."""
        state = self.module.state_dict(keep_vars=True)
        own = {id(value): name for name, value in state.items() if name.startswith("sharing.")}
        found = ((name, own.get(id(value), name)) for name, value in state.items())
        return {name: first for name, first in found if first != name and not name.startswith("sharing.")}

    def sizes(self) -> dict[str, int]:
        """Parameters: in all, trained, of the encoder, of what the strategy adds, and of each task's decoder."""
        own = {id(parameter) for parameter in self.sharing.module.parameters()}
        encoder = sum(p.numel() for p in self.encoder.parameters() if id(p) not in own)
        trained = sum(p.numel() for p in self.module.parameters() if p.requires_grad)
        counts = {f"tasks.{task.name}": _count(task.module) for task in self.tasks}
        added = _count(self.sharing.module)
        return {"total": _count(self.module), "trained": trained, "encoder": encoder, "sharing": added, **counts}

    def save(self, directory: str | Path, tokenizer: str | Path) -> None:
        """Fill a directory; `tokenizer` is the directory whose tokenizer files go with the model."""
        directory = Path(directory)
        copy_tokenizer(Path(tokenizer), directory / ENCODER)
        save_file({name: value.contiguous() for name, value in self.weights().items()}, directory / WEIGHTS)
        about: dict[str, Any] = {
            "sharing": self._sharing_options.model_dump(mode="json"),
            "tasks": [{"name": task.name, **task.describe()} for task in self.tasks],
        }
        if self._labels is not None:
            about["labels"] = {name: dict(labels) for name, labels in self._labels.items()}
        write_json(directory / ABOUT, about)
        self.encoder.save_config(directory / ENCODER)


def build_model(
    encoder: Encoder,
    sharing_options: SharingOptions,
    tasks: Mapping[str, TaskOptions],
    labels: Labels,
) -> MultiTaskModel:
    """A model with fresh decoders, their parameters drawn from torch's global generator.

    `labels` are each task's training labels with their counts; the strategy may choose others for the decoders.
    """
    sharing = sharing_options.build(encoder, list(tasks))
    chosen = sharing.label_spaces(labels)
    built = [options.build(name, chosen[name], sharing.width) for name, options in tasks.items()]
    sharing.attach(built)
    return MultiTaskModel(encoder, sharing, sharing_options, built, None if chosen == labels else labels)


def load_model(train_artifact: Path, device: str = "cpu") -> MultiTaskModel:
    """A trained model in evaluation mode."""
    model = empty_model(train_artifact)
    try:
        model.load_weights(load_file(train_artifact / WEIGHTS))
    except (SafetensorError, OSError, RuntimeError) as error:
        path = train_artifact / WEIGHTS
        raise EncoderError("E361", f"the model's weights cannot be read: {first_line(error)}", path) from None
    model.module.eval()
    return model.to(torch.device(device))


def empty_model(train_artifact: Path) -> MultiTaskModel:
    """A trained model before its weights are read."""
    encoder = Encoder.empty(train_artifact / ENCODER)
    try:
        return _rebuild(encoder, json.loads((train_artifact / ABOUT).read_bytes()))
    except (OSError, ValueError, KeyError, TypeError) as error:
        reason = f"{type(error).__name__}: {first_line(error)}"
        raise EncoderError("E360", f"this is not a record of a model ({reason})", train_artifact / ABOUT) from None


def _rebuild(encoder: Encoder, about: Mapping[str, Any]) -> MultiTaskModel:
    """The model that `model.json` describes; its parameters come from a checkpoint."""
    sharing_options = options_class(SHARING, about["sharing"]["type"]).model_validate(about["sharing"])
    assert isinstance(sharing_options, SharingOptions)
    sharing = sharing_options.build(encoder, [task["name"] for task in about["tasks"]])
    labels = about.get("labels")
    if labels is not None:
        sharing.label_spaces(labels)  # the strategy learns whose labels are whose; the tasks have what it chose
    tasks = [rebuild_task(task["name"], task, sharing.width) for task in about["tasks"]]
    sharing.attach(tasks)
    return MultiTaskModel(encoder, sharing, sharing_options, tasks, labels)


def start_from(model: MultiTaskModel, train_artifact: Path, take: Take) -> None:
    """Begin with weights of a trained model: `all` of the same tasks, or its `encoder` alone, for any tasks.

    What a strategy adds stays fresh there, but not where `shared` is taken: the encoder and what the strategy makes of
    its own weights there.
    """
    path = train_artifact / WEIGHTS
    parts = _TAKEN[take]
    fresh = model.weights()
    taken = {name: value for name, value in load_file(path).items() if name.startswith(parts)}
    if take == "shared":
        taken = _adopted(model, taken, train_artifact)
    lacking = [name for name in fresh if name.startswith(parts) and name not in taken]
    try:
        model.load_weights({**fresh, **taken})
    except RuntimeError as error:
        lacking = lacking or [first_line(error)]
    if lacking:
        message = f"the model to start from does not fit this one: {lacking[0]}"
        hint = None if take == "encoder" else "its encoder alone fits more models: `take: encoder`"
        raise EncoderError("E369", message, path, hint)


_TAKEN: Mapping[Take, tuple[str, ...]] = {
    "all": ("encoder.", "tasks."),
    "encoder": ("encoder.",),
    "shared": ("encoder.", "sharing."),
}


def _adopted(model: MultiTaskModel, taken: Mapping[str, Tensor], train_artifact: Path) -> dict[str, Tensor]:
    """Weights of a trained model, those of its strategy as the same strategy of another model begins with them."""
    about = json.loads((train_artifact / ABOUT).read_bytes())
    own = {name.removeprefix("sharing."): value for name, value in taken.items() if name.startswith("sharing.")}
    begun = model.sharing.adopted(own, [task["name"] for task in about["tasks"]])
    encoder = {name: value for name, value in taken.items() if name.startswith("encoder.")}
    return encoder | {f"sharing.{name}": value for name, value in begun.items()}


def _count(module: nn.Module) -> int:
    return sum(parameter.numel() for parameter in module.parameters())
