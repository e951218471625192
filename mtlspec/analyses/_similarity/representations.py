"""Similarity of two tasks by the vectors that their models make of the same sentences: float64 [sentences, width]."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from mtlspec.metrics.correlation import pearson, ranks

Floats = npt.NDArray[np.float64]


def cosine(a: Floats, b: Floats) -> Floats:
    """Of the last axes: [..., D] twice -> [...]; 0 where one of them has no length."""
    lengths = np.linalg.norm(a, axis=-1) * np.linalg.norm(b, axis=-1)
    there = lengths > 0
    return np.asarray(np.clip(np.where(there, np.vecdot(a, b) / np.where(there, lengths, 1.0), 0.0), -1.0, 1.0))


def direct_similarity(a: Floats, b: Floats) -> float:
    """DSE: the mean over sentences of the cosine of the two models' vectors."""
    return float(cosine(a, b).mean())


def dissimilarities(vectors: Floats) -> Floats:
    """1 - Pearson's correlation of every two sentences' vectors: the upper triangle, row by row, [N (N - 1) / 2]."""
    away = vectors - vectors.mean(axis=1, keepdims=True)
    length = np.linalg.norm(away, axis=1, keepdims=True)
    directions = np.where(length > 0, away / np.where(length > 0, length, 1.0), 0.0)
    upper = np.triu_indices(len(vectors), k=1)
    return np.asarray(1.0 - np.clip((directions @ directions.T)[upper], -1.0, 1.0))


def same_geometry(a: Floats, b: Floats) -> float:
    """CRA: Spearman's correlation of two models' `dissimilarities`; the vectors may differ in width."""
    return float(pearson(ranks(a), ranks(b)))
