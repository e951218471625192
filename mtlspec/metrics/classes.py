"""Scores of examples that have one class each: accuracy, F1 in three ways, and Matthews correlation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from mtlspec.metrics.metric import AdditiveMetric, Counts, Scores, label_table, percentage

ClassScore = Literal["accuracy", "f1", "f1_macro", "f1_micro", "matthews", "f1_accuracy"]


class ExampleAccuracy(AdditiveMetric):
    """The share of examples whose class is right."""

    kind = "example_accuracy"
    main = "accuracy"
    columns: tuple[str, ...] = ("correct", "examples")

    def counts(self, gold: Sequence[str], predicted: Sequence[str]) -> Counts:
        right = [one == two for one, two in _pairs(gold, predicted)]
        return np.stack([np.array(right, np.int64), np.ones(len(right), np.int64)], axis=1)

    def scores(self, totals: npt.ArrayLike) -> dict[str, Scores]:
        correct, examples = np.moveaxis(np.asarray(totals), -1, 0)
        return {"accuracy": percentage(correct, examples)}

    def label_scores(self, gold: Sequence[str], predicted: Sequence[str]) -> dict[str, dict[str, float]]:
        pairs = _pairs(gold, predicted)
        labels = sorted({*gold, *predicted})
        place = {label: number for number, label in enumerate(labels)}
        right = [one for one, two in pairs if one == two]
        tallies = [np.bincount([place[x] for x in side], minlength=len(labels)) for side in (right, predicted, gold)]
        return label_table(labels, *tallies)


class ClassScores(ExampleAccuracy):
    """All scores that follow from how often each class is right, predicted and gold; `main` says which one decides.

    `f1` (with `precision` and `recall`) is that of the class `positive`; without one it is not there. `f1_macro` is the
    mean over the classes that occur, on either side. `f1_micro` is accuracy, because every example has one class.
    `f1_accuracy` is the mean of both, which GLUE's leaderboard has for MRPC and QQP. `matthews` is the correlation of
    both sides' classes, 0 where one side is constant. Gold classes that are not among `labels` count as one more class.
    """

    kind = "class_scores"

    def __init__(self, labels: Sequence[str], main: ClassScore = "accuracy", positive: str | None = None) -> None:
        if main not in get_args(ClassScore):
            raise ValueError(f"there is no score '{main}' of classes")
        if positive is None and main in ("f1", "f1_accuracy"):
            raise ValueError(f"'{main}' needs a positive class")
        if positive is not None and positive not in labels:
            raise ValueError(f"the positive class '{positive}' is none of the labels")
        self.labels, self.positive = tuple(labels), positive
        self.main: str = main
        sides = ("correct", "predicted", "gold")
        self.columns = (*(f"{side} {label}" for side in sides for label in self.labels), "gold of other classes")

    def settings(self) -> dict[str, Any]:
        return {"labels": list(self.labels), "main": self.main, "positive": self.positive}

    def counts(self, gold: Sequence[str], predicted: Sequence[str]) -> Counts:
        pairs, count = _pairs(gold, predicted), len(self.labels)
        place = {label: number for number, label in enumerate(self.labels)}
        right = np.array([place.get(one, count) for one, _ in pairs], np.int64)
        given = np.array([place[two] for _, two in pairs], np.int64)
        rows, number = np.zeros((len(pairs), len(self.columns)), np.int64), np.arange(len(pairs))
        rows[number, count + given] = 1
        rows[number, 2 * count + right] = 1
        same = right == given
        rows[number[same], given[same]] = 1
        return rows

    def scores(self, totals: npt.ArrayLike) -> dict[str, Scores]:
        values, count = np.asarray(totals, np.float64), len(self.labels)
        correct, predicted, gold = values[..., :count], values[..., count : 2 * count], values[..., 2 * count :]
        examples = gold.sum(axis=-1)
        accuracy = percentage(correct.sum(axis=-1), examples)
        found = {
            "accuracy": accuracy,
            "f1_macro": _macro(correct, predicted, gold),
            "f1_micro": accuracy,
            "matthews": _matthews(correct, predicted, gold, examples),
        }
        if self.positive is None:
            return found
        at = self.labels.index(self.positive)
        f1 = percentage(2 * correct[..., at], predicted[..., at] + gold[..., at])
        precision, recall = (percentage(correct[..., at], side[..., at]) for side in (predicted, gold))
        return {"f1": f1, "precision": precision, "recall": recall, **found, "f1_accuracy": (f1 + accuracy) / 2}


def _pairs(gold: Sequence[str], predicted: Sequence[str]) -> list[tuple[str, str]]:
    if len(gold) != len(predicted):
        raise ValueError(f"{len(gold)} gold classes, {len(predicted)} predicted ones")
    return list(zip(gold, predicted, strict=True))


def _macro(correct: Scores, predicted: Scores, gold: Scores) -> Scores:
    """Mean F1 [...] of the classes that occur; [..., C] twice, and gold [..., C + 1] with that of all other classes."""
    f1 = percentage(2 * correct, predicted + gold[..., :-1]).sum(axis=-1)
    seen = (predicted + gold[..., :-1] > 0).sum(axis=-1) + (gold[..., -1] > 0)
    return percentage(f1 / 100.0, seen)


def _matthews(correct: Scores, predicted: Scores, gold: Scores, examples: Scores) -> Scores:
    """Gorodkin's formula for any number of classes."""
    together = correct.sum(axis=-1) * examples - (predicted * gold[..., :-1]).sum(axis=-1)
    ours, theirs = (examples**2 - (side**2).sum(axis=-1) for side in (predicted, gold))
    return percentage(together, np.sqrt(ours * theirs))
