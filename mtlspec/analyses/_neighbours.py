"""t-SNE for tens of points: a map in the plane on which near ones stay near (van der Maaten and Hinton, 2008).

Exact, without trees, and without chance: it begins with the principal axes. Distances on it mean little beyond who is
next to whom.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

ROUNDS, EARLY = 1000, 250  # steps in all, and those in which attraction is exaggerated
_EXAGGERATION = 12.0
_TINY = 1e-12


def perplexity_for(points: int) -> float:
    """How many neighbours a point minds: five, or a third of the others where there are few."""
    return min(5.0, (points - 1) / 3)


def neighbour_map(vectors: Floats, start: Floats) -> Floats:
    """Places [n, 2] of vectors [n, D], from `start` [n, 2] on; at least four points."""
    wanted = affinities(squared_distances(vectors), perplexity_for(len(vectors)))
    spread = float(start[:, 0].std())
    places = start / spread * 1e-4 if spread > 0 else np.zeros_like(start)
    rate, speed, gains = max(len(vectors) / _EXAGGERATION / 4, 50.0), np.zeros_like(places), np.ones_like(places)
    for step in range(ROUNDS):
        early = step < EARLY
        slope = gradient(wanted * (_EXAGGERATION if early else 1.0), places)
        gains = np.where(np.sign(slope) == np.sign(speed), gains * 0.8, gains + 0.2).clip(0.01)
        speed = (0.5 if early else 0.8) * speed - rate * gains * slope
        places = places + speed
        places = places - places.mean(0)
    return places


def squared_distances(vectors: Floats) -> Floats:
    """[n, D] -> [n, n]"""
    found: Floats = ((vectors[:, None] - vectors[None]) ** 2).sum(-1)
    return found


def affinities(distances: Floats, perplexity: float) -> Floats:
    """How near points are to each other [n, n], symmetric, with a sum of 1; the kernel of each has this perplexity."""
    conditional = np.stack([_row(np.delete(own, at), math.log(perplexity)) for at, own in enumerate(distances)])
    count = len(distances)
    found = np.zeros((count, count))
    for at, own in enumerate(conditional):
        found[at, np.arange(count) != at] = own
    return np.maximum((found + found.T) / (2 * count), _TINY)


def _row(distances: Floats, wanted: float) -> Floats:
    """Probabilities [n - 1] of a point's neighbours by a Gaussian whose entropy is the wanted one."""
    found: Floats = np.ones_like(distances) / len(distances)
    low, high, precision = 0.0, math.inf, 1.0 / max(float(np.median(distances)), _TINY)
    near = distances - distances.min()
    for _ in range(100):
        weights = np.exp(-near * precision)
        found = weights / weights.sum()
        entropy = float(-(found * np.log(np.maximum(found, _TINY))).sum())
        if abs(entropy - wanted) < 1e-7:
            break
        low, high = (precision, high) if entropy > wanted else (low, precision)
        precision = precision * 2 if math.isinf(high) else (low + high) / 2
    return found


def gradient(wanted: Floats, places: Floats) -> Floats:
    """Of the divergence between affinities [n, n] and those of places [n, 2]: [n, 2]."""
    kernel = 1 / (1 + squared_distances(places))
    np.fill_diagonal(kernel, 0.0)
    pull = (wanted - kernel / kernel.sum()) * kernel
    return np.asarray(4 * (pull.sum(1, keepdims=True) * places - pull @ places), np.float64)


def divergence(wanted: Floats, places: Floats) -> float:
    """Kullback and Leibler's, which the map makes small."""
    kernel = 1 / (1 + squared_distances(places))
    np.fill_diagonal(kernel, 0.0)
    return float((wanted * np.log(wanted / np.maximum(kernel / kernel.sum(), _TINY))).sum())
