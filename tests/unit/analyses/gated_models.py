"""Trained models with head gates of our choice, laid out as artifacts of train stages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from mtlspec.data.corpora import Corpora
from mtlspec.data.prepared import Prepared
from mtlspec.kinds import options_class
from mtlspec.model.encoder.encoder import Encoder
from mtlspec.model.multitask import build_model
from mtlspec.spec.families import SHARING, TASKS
from tests import toy
from tests.trainings import write_training

OPEN, CLOSED = 5.0, -5.0  # parameters of gates that are exactly 1 and exactly 0


def write_model(directory: Path, encoder: Path, data: Prepared, tasks: list[str], seed: int, gates: Any = None) -> Path:
    """A model with random decoders; with `gates` (parameters [L, H]) its sharing is `l0`, otherwise `hard`."""
    torch.manual_seed(seed)
    kind = "hard" if gates is None else "l0"
    sharing: Any = options_class(SHARING, kind).model_validate({"type": kind})
    chosen: Any = {name: options_class(TASKS, "tagging").model_validate(toy.TASKS[name]) for name in tasks}
    model = build_model(Encoder.load(encoder), sharing, chosen, Corpora.single(data).labels(chosen))
    if gates is not None:
        with torch.no_grad():
            model.sharing.module["gates"].copy_(torch.as_tensor(gates))  # type: ignore[index, operator]
    directory.mkdir(parents=True)
    model.save(directory, tokenizer=encoder)
    return write_training(directory, tasks)
