"""What every training keeps, whatever its kinds: a run, the same run interrupted, and what comes back from disk."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from mtlspec.contract import toy
from mtlspec.contract.promise import promise
from mtlspec.data.batching import collate
from mtlspec.data.prepared import Prepared
from mtlspec.io.digest import digest_file
from mtlspec.model.multitask import MultiTaskModel, load_model

FILES = ("model.safetensors", "history.parquet", "epochs.json", "model.json", "training.json")
STOP = 22  # an update between two resume points, late enough for windows of losses to be full
LIMITS: dict[str, Any] = {"batch": {"sentences": 6, "tokens": 200}, "checkpoint_every": 4, "patience": 1.0}


def params(
    sharing: dict[str, Any] | None = None,
    encoder: dict[str, Any] | None = None,
    task: dict[str, Any] | None = None,
    **train: Any,
) -> dict[str, Any]:
    """Two tasks on small batches, with a resume point every four updates; `task` takes the place of one of them."""
    found = toy.train_params(("pos", "names"), **{"epochs": 1, **LIMITS, **train})
    found["sharing"] = sharing or found["sharing"]
    found["encoder"] |= encoder or {}
    found["tasks"] |= {"names": task} if task else {}
    if task and "data" in task:
        found["tasks"]["pos"] = {**found["tasks"]["pos"], "data": "toy"}
    return found


def check(params: dict[str, Any], root: Path, encoder: Path, prepared: toy.Corpora) -> MultiTaskModel:
    """Train twice, the second time in two goes; evaluate; returns the trained model as it comes from disk."""
    whole = toy.run_train(root / "whole", encoder, prepared, params)
    updates = whole.facts["updates"]
    promise(updates > STOP + 4, f"an epoch has {updates} updates, too few to be interrupted at update {STOP}")
    with suppress(_StoppedError):
        toy.run_train(root / "again", encoder, prepared, params, _stop)
    toy.run_train(root / "again", encoder, prepared, params)
    for file in FILES:
        ends = {digest_file(root / name / "out" / file) for name in ("whole", "again")}
        promise(len(ends) == 1, f"{file}: an interrupted run does not end with the same bits")
    evaluated = toy.run_evaluate(root / "evaluated", root / "whole/out", prepared)
    before, after = whole.scores["dev/mean"], evaluated.scores["dev/mean"]
    promise(before == after, f"the model from disk scores {after} on dev, where training scored {before}")
    model = load_model(root / "whole/out")
    check_tasks(model, Prepared.load(prepared if isinstance(prepared, Path) else prepared["toy"]))
    return model


def check_tasks(model: MultiTaskModel, data: Prepared) -> None:
    """A strategy that says that tasks make no difference is right; rows of a mixed batch are as if they were alone."""
    batch = collate(data.dev, torch.arange(4), data.specials)
    with torch.no_grad():
        apart = [model.states(batch, task).words for task in range(len(model.tasks))]
    if model.sharing.task_free:
        alike = all(torch.equal(words, apart[0]) for words in apart)
        promise(alike, "what the encoder gives depends on the task, though the strategy says that it does not")
    tasks = torch.arange(len(batch.rows)) % len(model.tasks)
    with torch.no_grad():
        mixed = model.sharing.encode(replace(batch, tasks=tasks)).words
    for row, task in enumerate(tasks.tolist()):
        same = torch.allclose(mixed[row], apart[task][row], rtol=0, atol=1e-5)
        promise(same, "rows of a batch in which tasks meet are not what they are in a batch of their own task")


class _StoppedError(Exception):
    pass


def _stop(done: int, _total: int, _what: str) -> None:
    if done == STOP:
        raise _StoppedError
