"""What the model of one task makes of the common sentences, and how well that predicts brain data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from mtlspec.analyses._inputs import prepared_corpora
from mtlspec.analyses._similarity.brain import least_sentences, prediction_correlations
from mtlspec.analyses._similarity.brain_file import read_brain
from mtlspec.analyses._similarity.representations import Floats
from mtlspec.data.batching import Batch, collate, sequential
from mtlspec.data.prepared import PreparedSplit
from mtlspec.errors import StageError
from mtlspec.io.project import Project
from mtlspec.io.write import write_json
from mtlspec.model.encoder.states import States
from mtlspec.model.multitask import MultiTaskModel, load_model
from mtlspec.results.jobs import Measured, Measurement
from mtlspec.spec.models import BatchLimits

if TYPE_CHECKING:
    from mtlspec.analyses.task_similarity import Options

ABOUT, VECTORS, BRAIN = "about.json", "vectors.npy", "brain.npz"
"""`vectors.npy` float32 [sentences, width]; `brain.npz`: a participant's number -> correlations float64 [voxels]."""


def measure_vectors(options: Options, job: Measurement) -> Measured:
    """Of models that do not stand for a task nothing is measured."""
    row = job.model
    if row is None or row.group != options.single or len(row.tasks) != 1 or row.select is not None:
        write_json(job.out / ABOUT, {"task": None})
        return Measured()
    ((corpus, data),) = prepared_corpora(job).items()
    split, where = data.split(options.split), f"the split {options.split} of {corpus}"
    rows = _sample(len(split), options.sentences, options.seed)
    _check_number(len(rows), options, where)
    known = [read_brain(own, Project.find().root, len(split), where) for own in options.brain]
    job.progress(0, 1 + len(known), "sentences")
    vectors = sentence_vectors(load_model(job.inputs["train"], job.device), split, rows, options.vector)
    np.save(job.out / VECTORS, vectors.astype(np.float32), allow_pickle=False)
    found: dict[str, Floats] = {}
    for number, values in enumerate(known):
        job.progress(1 + number, 1 + len(known), f"brain data of participant {number + 1}")
        found[str(number)] = prediction_correlations(vectors, values[rows], options.folds, options.seed)
    np.savez(job.out / BRAIN, allow_pickle=False, **found)
    write_json(job.out / ABOUT, {"task": row.tasks[0], "corpus": corpus, "sentences": len(rows)})
    return Measured({"sentences": len(rows), "width": int(vectors.shape[1]), "participants": len(known)})


def _check_number(sentences: int, options: Options, where: str) -> None:
    least = max(3, least_sentences(options.folds)) if options.brain else 3
    if sentences < least:
        message = f"{where} gives {sentences} sentences, and similarity of tasks needs at least {least}"
        raise StageError("E896", message, hint="choose another `split`, or more `sentences`")


def _sample(count: int, wanted: int | None, seed: int) -> Sequence[int]:
    """The same rows for every model, in their order; random integers are the same in every release of numpy."""
    keys = np.random.Philox(key=seed).random_raw(count)
    return sorted(np.argsort(keys, kind="stable")[:wanted].tolist())


@torch.inference_mode()
def sentence_vectors(model: MultiTaskModel, split: PreparedSplit, rows: Sequence[int], how: str) -> Floats:
    """float64 [rows, width], as the model's first task has them read."""
    model.module.eval()
    limits, chosen = BatchLimits(), torch.tensor(rows, dtype=torch.int64)
    found = np.zeros((len(rows), model.encoder.width))
    for part in sequential(split.lengths[chosen], limits.sentences, limits.tokens):
        batch = collate(split, chosen[part], model.encoder.specials).to(model.device)
        found[part.numpy()] = _vectors(model.states(batch, 0), batch, how).double().cpu().numpy()
    return found


def _vectors(states: States, batch: Batch, how: str) -> Tensor:
    """[B, D]"""
    if how != "mean":
        return states.ends.first if how == "first" else states.ends.last
    content = (batch.word_of_piece >= 0).to(states.pieces.dtype)
    total = torch.einsum("bs,bsd->bd", content, states.pieces)
    return total / content.sum(1, keepdim=True).clamp(min=1)
