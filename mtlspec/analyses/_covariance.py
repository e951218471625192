"""Covariances of what the first layer of a model reads, and how similar two of them are."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from torch import Tensor

    from mtlspec.results.jobs import Measured, Measurement

FILE = "covariances.npz"
Matrix = npt.NDArray[np.float64]


class Similarity(NamedTuple):
    """As the paper prints it, which is 1 for the same input only if that has rank 1; and as a share of what two tasks
    of the same input would have: 1 for the same input."""

    printed: float
    relative: float


def factor(covariance: Matrix, kept: float) -> Matrix:
    """U D^(1/2) [D, r] of the best approximation with the fewest singular values that sum to a share of all."""
    values, vectors = np.linalg.eigh(covariance)
    values, vectors = np.clip(values[::-1], 0.0, None), vectors[:, ::-1]
    total = values.sum()
    if total <= 0:
        return vectors[:, :0]
    rank = int(np.searchsorted(np.cumsum(values), kept * total * (1 - 1e-12))) + 1
    return np.asarray(vectors[:, :rank] * np.sqrt(values[:rank]), np.float64)


def similarity(one: Matrix, other: Matrix) -> Similarity:
    """Of two factors [D, r] and [D, s] (Eq. 7); 0 if one is empty."""
    both = float(np.linalg.norm(one.T @ other))
    sizes = float(np.linalg.norm(one) * np.linalg.norm(other))
    if sizes == 0:
        return Similarity(0.0, 0.0)
    same = float(np.linalg.norm(one.T @ one) * np.linalg.norm(other.T @ other)) ** 0.5
    return Similarity(both / sizes, both / same)


def measure_covariances(job: Measurement, examples: int) -> Measured:
    import torch

    from mtlspec.analyses._inputs import prepared_corpora
    from mtlspec.data.batching import collate, sequential
    from mtlspec.model.multitask import load_model
    from mtlspec.results.jobs import Measured
    from mtlspec.spec.models import BatchLimits

    model, corpora, limits = load_model(job.inputs["train"], job.device), prepared_corpora(job), BatchLimits()
    encoder = model.encoder
    sums: list[Tensor] = []

    def add(states: Tensor) -> Tensor:
        vectors = states[encoder.row_mask].double()
        sums.append(vectors.T @ vectors)
        return states

    found: dict[str, Matrix] = {}
    with torch.inference_mode(), encoder.places.after(encoder.places.embeddings, add):
        for number, task in enumerate(model.tasks):
            split = corpora.of(task).train
            rows = task.rows(split)[:examples]
            for part in sequential(split.lengths[rows], limits.sentences, limits.tokens):
                model.states(collate(split, rows[part], encoder.specials).to(model.device), number)
            found[task.name] = torch.stack(sums).sum(0).cpu().numpy()
            sums.clear()
            job.progress(number + 1, len(model.tasks), "tasks")
    np.savez(job.out / FILE, allow_pickle=False, **found)
    return Measured(facts={"tasks": len(found)})


def read_factors(directory: str, kept: float) -> dict[str, Matrix]:
    """Task -> its factor."""
    with np.load(directory, allow_pickle=False) as arrays:
        return {task: factor(arrays[task], kept) for task in arrays.files}
