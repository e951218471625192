"""`mtlspec export`: a trained model as a folder that transformers, MLflow and mtlspec read, proven to say the same."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from mtlspec.data.batching import Batch
from mtlspec.errors import IntegrityError
from mtlspec.io.manifest import write_manifest
from mtlspec.io.write import staged_directory, write_text
from mtlspec.model.encoder.compare import difference
from mtlspec.model.encoder.encoder import copy_tokenizer
from mtlspec.model.encoder.loading import quiet, save_model
from mtlspec.model.multitask import MultiTaskModel
from mtlspec.model.task import Task
from mtlspec.use.exported import load_exported, write_own_part
from mtlspec.use.files import require_new
from mtlspec.use.headed import Headed, headed, scores, their_scores
from mtlspec.use.model_card import model_card
from mtlspec.use.plain_models import plain_model
from mtlspec.use.predictor import Predictor
from mtlspec.use.serving import write_mlflow

TOLERANCE = 1e-5
ENCODER = "encoder"  # the folder of an encoder without a head


@dataclass(frozen=True)
class Export:
    """What was made of a model."""

    tasks: tuple[str, ...]
    pipeline: str | None  # of transformers; None: its encoder alone is a plain model
    why: str | None  # why there is no pipeline
    difference: float  # of scores or states, on the batch of the proof; relative where values are above 1


def export_model(predictor: Predictor, folder: Path, task: str | None = None) -> Export:
    """Fill a new folder; nothing of it appears unless what it holds computes what the model computes.

    Of one task whose decoder is a head of transformers it is a model of transformers. Else `encoder/` is one, and the
    decoders are ours.
    """
    require_new(folder)
    numbers = predictor.asking([task] if task is not None else ()).tasks
    model = plain_model(predictor.model, [predictor.tasks[number] for number in numbers])
    task = model.tasks[0].name
    with staged_directory(folder) as out, torch.no_grad():
        found: Headed | str = (
            headed(model, model.tasks[0])
            if len(model.tasks) == 1
            else "a model of transformers has one task, which `--task` chooses"
        )
        export = _with_head(model, predictor, found, out) if isinstance(found, Headed) else None
        if isinstance(found, Headed) and export is None:
            found = f"transformers' head for this encoder computes another thing than the decoder of '{task}'"
        if export is None:
            export = _without_head(predictor.model, model, predictor, str(found), out)
        _check_own_part(predictor.model, model, out)
        write_text(out / "README.md", model_card(predictor.found, model, export.pipeline))
        write_mlflow(out)
        write_manifest(out)
    return export


def _with_head(model: MultiTaskModel, predictor: Predictor, found: Headed, out: Path) -> Export | None:
    """None if the head does not score as the decoder does."""
    import transformers

    task, batch = model.tasks[0], _batch(model)
    save_model(found.model, found.model.config, out)
    auto: Any = getattr(
        transformers,
        "AutoModelForTokenClassification"
        if found.pipeline == "token-classification"
        else "AutoModelForSequenceClassification",
    )
    with quiet():
        again = auto.from_pretrained(out, local_files_only=True).eval()
    away = difference(scores(model, task, batch), their_scores(again, task, batch))
    if not away <= TOLERANCE:
        for file in (out / "config.json", out / "model.safetensors"):
            file.unlink()
        return None
    copy_tokenizer(predictor.found.folder / predictor.found.encoder, out)
    write_own_part(out, model, predictor.found, ".", found.prefix)
    return Export((task.name,), found.pipeline, None, away)


def _without_head(trained: MultiTaskModel, model: MultiTaskModel, predictor: Predictor, why: str, out: Path) -> Export:
    from transformers import AutoModel

    encoder: Any = model.encoder
    encoder.config.architectures = [type(encoder.model).__name__]
    save_model(encoder.model, encoder.config, out / ENCODER)
    copy_tokenizer(predictor.found.folder / predictor.found.encoder, out / ENCODER)
    write_own_part(out, model, predictor.found, ENCODER, "")
    with quiet():
        again = AutoModel.from_pretrained(out / ENCODER, local_files_only=True).eval()
    batch = _batch(model)
    theirs = again(input_ids=batch.pieces, attention_mask=batch.piece_mask.long()).last_hidden_state
    away = difference(_states(trained, batch), theirs)
    if not away <= TOLERANCE:
        raise _differs("its encoder", away)
    return Export(tuple(task.name for task in model.tasks), None, why, away)


def _check_own_part(trained: MultiTaskModel, model: MultiTaskModel, out: Path) -> None:
    """What mtlspec reads back of the folder has the model's decoders, and its encoder computes what it computed."""
    again, batch = load_exported(out), _batch(model)
    away = difference(_states(trained, batch), _states(again, batch))
    if not away <= TOLERANCE:
        raise _differs("it", away)
    for before, after in zip(model.tasks, again.tasks, strict=True):
        assert _equal(before, after), before.name


def _differs(what: str, away: float) -> IntegrityError:
    message = f"the exported model would not say the same: {what} differs by {away:.1e}, not by 1e-5 at most"
    return IntegrityError("E560", message, None, "nothing was written")


def _equal(a: Task, b: Task) -> bool:
    ours, theirs = a.module.state_dict(), b.module.state_dict()
    return ours.keys() == theirs.keys() and all(torch.equal(ours[name].cpu(), theirs[name]) for name in ours)


def _states(model: MultiTaskModel, batch: Batch) -> Tensor:
    return model.states(batch, 0).pieces


def _batch(model: MultiTaskModel) -> Batch:
    """Random sub-tokens; all but the first and the last one are words of their own."""
    rows, length = 4, 12
    encoder: Any = model.encoder
    pieces = torch.randint(encoder.config.vocab_size, (rows, length), generator=torch.Generator().manual_seed(0))
    mask = torch.ones_like(pieces, dtype=torch.bool)
    inner = torch.arange(length) - 1
    inner[-1] = -1
    words = torch.ones(rows, length - 2, dtype=torch.bool)
    return Batch(torch.arange(rows), pieces, mask, inner.expand(rows, -1), words)
