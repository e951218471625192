"""Scores of questions with several choices: of the best choice, or of all of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from mtlspec.data.choices import Choice
from mtlspec.metrics.answers import agreement
from mtlspec.metrics.metric import AdditiveMetric, Rows, Scores, percentage, precision_recall_f1

ChoiceScore = Literal["accuracy", "f1a_em", "em_f1"]


class ChoiceScores(AdditiveMetric):
    """`accuracy`: of the best choices. `em_f1`: how well their texts agree with right ones (ReCoRD).

    `f1a_em`: F1 of choices that are called right, and how many questions have all choices right (MultiRC). The numbers
    of a question stand in the row of its first choice, those of its other choices are 0.
    """

    kind = "choices"
    columns = ("questions", "best right", "best exact", "best f1", "all right", "correct", "predicted", "gold")

    def __init__(self, main: ChoiceScore = "accuracy") -> None:
        if main not in get_args(ChoiceScore):
            raise ValueError(f"there is no score '{main}' of choices")
        self.main: ChoiceScore = main

    def settings(self) -> dict[str, Any]:
        return {"main": self.main}

    def counts(self, gold: Sequence[Choice], predicted: Sequence[Choice]) -> Rows:
        if len(gold) != len(predicted):
            raise ValueError(f"{len(gold)} gold choices, {len(predicted)} predicted ones")
        rows = np.zeros((len(gold), len(self.columns)))
        of_question: dict[str, list[int]] = {}
        for number, choice in enumerate(gold):
            of_question.setdefault(choice.question, []).append(number)
        for members in of_question.values():
            rows[members[0]] = self._question([gold[i] for i in members], [predicted[i].score for i in members])
        return rows

    def _question(self, choices: Sequence[Choice], scores: Sequence[float]) -> list[float]:
        best = choices[max(range(len(scores)), key=scores.__getitem__)]  # of equal ones the first
        right = [choice.score > 0.5 for choice in choices]
        called = [score > 0.5 for score in scores]
        agreed = agreement(best.answer, [choice.answer for choice in choices if choice.score > 0.5])
        both = sum(one and two for one, two in zip(right, called, strict=True))
        whole = float(right == called)
        return [1.0, float(best.score > 0.5), *agreed, whole, float(both), float(sum(called)), float(sum(right))]

    def scores(self, totals: npt.ArrayLike) -> dict[str, Scores]:
        questions, right, exact, f1, whole, *answers = np.moveaxis(np.asarray(totals, np.float64), -1, 0)
        if self.main == "accuracy":
            return {"accuracy": percentage(right, questions)}
        if self.main == "em_f1":
            found = {"em": percentage(exact, questions), "f1": percentage(f1, questions)}
        else:
            f1a = precision_recall_f1(np.stack(answers, axis=-1))["f1"]
            found = {"f1a": f1a, "em": percentage(whole, questions)}
        one, two = found.values()
        return {**found, self.main: (one + two) / 2}

    def label_scores(self, gold: Sequence[Choice], predicted: Sequence[Choice]) -> dict[str, dict[str, float]]:
        del gold, predicted
        return {}

    def pool(self, runs: Sequence[Rows]) -> Rows:
        """Sums over the models, shares of tokens included."""
        return np.asarray(np.sum(np.stack(runs), axis=0), np.float64)


METRIC = ChoiceScores
