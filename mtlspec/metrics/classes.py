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
    both sides' classes, 0 where one side is constant. Gold classes that are not among `labels` are never predicted, but
    count: several have columns of their own. A metric that knows them (`others`) gives all examples the same columns.
    """

    kind = "class_scores"

    def __init__(
        self,
        labels: Sequence[str],
        main: ClassScore = "accuracy",
        positive: str | None = None,
        others: Sequence[str] = (),
    ) -> None:
        if main not in get_args(ClassScore):
            raise ValueError(f"there is no score '{main}' of classes")
        if positive is None and main in ("f1", "f1_accuracy"):
            raise ValueError(f"'{main}' needs a positive class")
        if positive is not None and positive not in labels:
            raise ValueError(f"the positive class '{positive}' is none of the labels")
        self.labels, self.positive, self.others = tuple(labels), positive, tuple(others)
        self.main: ClassScore = main
        known = (f"{side} {label}" for side in ("correct", "predicted", "gold") for label in self.labels)
        self.columns = (*known, *(f"gold {label}" for label in self.others), "gold of other classes")

    def settings(self) -> dict[str, Any]:
        known = {"labels": list(self.labels), "main": self.main, "positive": self.positive}
        return {**known, **({"others": list(self.others)} if self.others else {})}

    def knowing(self, classes: Sequence[str]) -> ClassScores:
        """One class that is no label needs no name: the column of other classes is its own."""
        others = sorted(set(classes) - set(self.labels))
        return ClassScores(self.labels, self.main, self.positive, others) if len(others) > 1 else self

    def counts(self, gold: Sequence[str], predicted: Sequence[str]) -> Counts:
        pairs, count = _pairs(gold, predicted), len(self.labels)
        if len(set(gold).difference(self.labels, self.others)) > 1:
            return self.knowing([*self.others, *gold]).counts(gold, predicted)
        place = {label: number for number, label in enumerate([*self.labels, *self.others])}
        right = np.array([place.get(one, len(place)) for one, _ in pairs], np.int64)
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
    """Mean F1 [...] of the classes that occur; [..., C] twice, and gold [..., C + D] with that of D other classes."""
    count = predicted.shape[-1]
    f1 = percentage(2 * correct, predicted + gold[..., :count]).sum(axis=-1)
    seen = (predicted + gold[..., :count] > 0).sum(axis=-1) + (gold[..., count:] > 0).sum(axis=-1)
    return percentage(f1 / 100.0, seen)


def _matthews(correct: Scores, predicted: Scores, gold: Scores, examples: Scores) -> Scores:
    """Gorodkin's formula for any number of classes."""
    together = correct.sum(axis=-1) * examples - (predicted * gold[..., : predicted.shape[-1]]).sum(axis=-1)
    ours, theirs = (examples**2 - (side**2).sum(axis=-1) for side in (predicted, gold))
    return percentage(together, np.sqrt(ours * theirs))
