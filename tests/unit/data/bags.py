"""Bags of words: what can be learnt of examples without their structure."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mtlspec.data.generators._examples import Example

Floats = NDArray[np.float32]
_UPDATES, _RATE, _DECAY = 80, 0.05, 1e-3


def features(examples: Sequence[Example], known: dict[str, int]) -> Floats:
    """Which words occur; of pairs, in each sentence, in both of them, and in one of them only."""
    bags = np.zeros((len(examples), len(examples[0].texts), len(known)), np.float32)
    for row, example in enumerate(examples):
        for side, text in enumerate(example.texts):
            bags[row, side, [known[word] for word in text.lower().split() if word in known]] = 1
    if bags.shape[1] == 1:
        return np.c_[bags[:, 0], np.ones(len(bags))]
    one, other = bags[:, 0], bags[:, 1]
    return np.c_[one, other, one * other, abs(one - other), np.ones(len(bags))]


def words(examples: Sequence[Example]) -> dict[str, int]:
    found = sorted({word for example in examples for text in example.texts for word in text.lower().split()})
    return {word: number for number, word in enumerate(found)}


def accuracy(train: Sequence[Example], dev: Sequence[Example]) -> float:
    """Of logistic regression, trained by Adam on all examples at once."""
    known, classes = words(train), sorted({example.gold for example in train})
    seen, gold = features(train, known), np.eye(len(classes))[[classes.index(example.gold) for example in train]]
    weights = first = second = np.zeros((seen.shape[1], len(classes)))
    for update in range(1, _UPDATES + 1):
        scores = seen @ weights
        shares = np.exp(scores - scores.max(1, keepdims=True))
        shares /= shares.sum(1, keepdims=True)
        slope = seen.T @ (shares - gold) / len(seen) + _DECAY * weights
        first, second = 0.9 * first + 0.1 * slope, 0.999 * second + 0.001 * slope**2
        step = first / (1 - 0.9**update) / (np.sqrt(second / (1 - 0.999**update)) + 1e-8)
        weights = weights - _RATE * step
    best = (features(dev, known) @ weights).argmax(1)
    return float(np.mean([classes[number] == example.gold for number, example in zip(best, dev, strict=True)]))


def correlation(train: Sequence[Example], dev: Sequence[Example]) -> float:
    """Pearson's, of ridge regression."""
    known = words(train)
    seen, gold = features(train, known), np.array([float(example.gold) for example in train])
    weights = np.linalg.solve(seen.T @ seen + 10 * np.eye(seen.shape[1]), seen.T @ gold)
    return float(np.corrcoef(features(dev, known) @ weights, [float(example.gold) for example in dev])[0, 1])
