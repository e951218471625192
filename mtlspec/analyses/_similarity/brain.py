"""Cognitive-neural mapping: how well sentence vectors predict what was measured of a reader's brain, voxel by voxel."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from mtlspec.analyses._similarity.representations import Floats, cosine
from mtlspec.metrics.correlation import pearson

PENALTIES = tuple(10.0**power for power in range(-3, 5))  # in units of a sentence's mean squared length
_BLOCK = 4096  # voxels at once
_LEAST = 3  # sentences of a part: two always lie on a line


def ridge(x: Floats, y: Floats, new: Floats, penalty: float) -> Floats:
    """Predictions [M, V] for new sentences [M, D], learnt from x [N, D] and y [N, V]; the intercept is free.

    Features are scaled to a standard deviation of 1, and those that never vary are left out. The penalty is in units of
    the mean squared length of the scaled vectors.
    """
    known, seen = _scaled(x, x), _scaled(new, x)
    return _Ridge(known).predict(y, seen, np.full(y.shape[1], penalty))


def leave_one_out_errors(x: Floats, y: Floats, penalty: float) -> Floats:
    """Squared errors of each sentence, learnt from all others with the features scaled as they are: [N, V]."""
    return _Ridge(_scaled(x, x)).errors(y, penalty)


def prediction_correlations(x: Floats, y: Floats, folds: int, seed: int) -> Floats:
    """Of predictions for held-out sentences with what was measured: [V], the mean over the parts.

    Every part is predicted from the others. A voxel has the penalty whose leave-one-out error on these is smallest.
    Correlations are taken within a part: over parts, means of what was left in would move against means of what was
    left out.
    """
    parts = _parts(len(x), folds, seed)
    found = np.zeros((len(parts), y.shape[1]))
    for number, part in enumerate(parts):
        rest = np.setdiff1d(np.arange(len(x)), part)
        model, held_out = _Ridge(_scaled(x[rest], x[rest])), _scaled(x[part], x[rest])
        for start in range(0, y.shape[1], _BLOCK):
            own = y[:, start : start + _BLOCK]
            errors = np.stack([model.errors(own[rest], penalty).sum(axis=0) for penalty in PENALTIES])
            best = np.array(PENALTIES)[errors.argmin(axis=0)]
            predicted = model.predict(own[rest], held_out, best)
            found[number, start : start + _BLOCK] = pearson(predicted.T, own[part].T)
    return np.asarray(found.mean(axis=0))


def most_informative(correlations: Floats, count: int) -> npt.NDArray[np.intp]:
    """Voxels that all models together predict best: [models, V] -> their places in ascending order."""
    order = np.argsort(-correlations.mean(axis=0), kind="stable")
    return np.sort(order[:count])


def same_voxels(a: Floats, b: Floats) -> float:
    """CNM: the cosine of two models' prediction correlations [V]."""
    return float(cosine(a, b))


def least_sentences(folds: int) -> int:
    """So many are needed for every part to have correlations."""
    return folds * _LEAST


def _parts(count: int, folds: int, seed: int) -> list[npt.NDArray[np.intp]]:
    """Random parts of about the same size; random integers are the same in every release of numpy."""
    if count < least_sentences(folds):
        raise ValueError(f"{count} sentences are too few for {folds} parts")
    order = np.argsort(np.random.Philox(key=seed).random_raw(count), kind="stable")
    return [np.sort(part) for part in np.array_split(order, folds)]


def _scaled(x: Floats, like: Floats) -> Floats:
    """x minus the mean of `like`, every feature divided by its standard deviation there."""
    spread = like.std(axis=0)
    varying = spread > 1e-12 * np.maximum(1.0, np.abs(like).max(axis=0, initial=0.0))
    return np.asarray(((x - like.mean(axis=0)) / np.where(varying, spread, 1.0))[:, varying])


class _Ridge:
    """Ridge regression on centred vectors [N, D], in its dual form: sentences are fewer than features or voxels."""

    def __init__(self, x: Floats) -> None:
        self._x = x
        values, self._basis = np.linalg.eigh(x @ x.T)
        self._values = np.maximum(values, 0.0)
        self._unit = max(float(self._values.mean()), 1e-300)

    def predict(self, y: Floats, new: Floats, penalties: Floats) -> Floats:
        """With a penalty for each column of y."""
        mean = y.mean(axis=0)
        turned = self._basis.T @ (y - mean)
        shrunk = turned / (self._values[:, None] + penalties[None, :] * self._unit)
        return np.asarray(mean + (new @ self._x.T) @ (self._basis @ shrunk))

    def errors(self, y: Floats, penalty: float) -> Floats:
        away = y - y.mean(axis=0)
        kept = self._values / (self._values + penalty * self._unit)
        left = away - self._basis @ (kept[:, None] * (self._basis.T @ away))
        pull = 1 / len(y) + (self._basis**2 * kept).sum(axis=1)  # of a sentence's own value on its prediction
        return np.asarray((left / np.maximum(1 - pull, 1e-12)[:, None]) ** 2)
