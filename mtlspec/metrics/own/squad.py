"""Scores of answers that are compared as texts: exact match and F1, as SQuAD's own script defines them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from mtlspec.data.answers import Answered, normalised
from mtlspec.metrics.answers import agreement
from mtlspec.metrics.metric import AdditiveMetric, Rows, Scores, percentage


class SquadScores(AdditiveMetric):
    """The mean over questions of the agreement with the best of their right answers.

    A right answer of which the normalisation leaves nothing counts as none; no right answer at all is the empty text.
    With `unanswerable`, questions with an answer and those without have scores of their own, too.
    """

    kind = "squad"
    main = "f1"
    columns = ("questions", "exact", "f1", "answerable", "exact of answerable", "f1 of answerable")

    def __init__(self, unanswerable: bool = False) -> None:
        self._unanswerable = unanswerable

    def settings(self) -> dict[str, Any]:
        return {"unanswerable": self._unanswerable}

    def counts(self, gold: Sequence[Answered], predicted: Sequence[Answered]) -> Rows:
        if len(gold) != len(predicted):
            raise ValueError(f"{len(gold)} questions, {len(predicted)} predicted answers")
        rows = np.zeros((len(gold), len(self.columns)))
        for number, (right, given) in enumerate(zip(gold, predicted, strict=True)):
            said = given.texts[0] if given.texts else ""
            agreed = agreement(said, [text for text in right.texts if normalised(text)])
            rows[number, :3] = 1.0, *agreed
            if right.texts:
                rows[number, 3:] = 1.0, *agreed
        return rows

    def scores(self, totals: npt.ArrayLike) -> dict[str, Scores]:
        questions, exact, f1, answerable, own_exact, own_f1 = np.moveaxis(np.asarray(totals, np.float64), -1, 0)
        found = {"em": percentage(exact, questions), "f1": percentage(f1, questions)}
        if self._unanswerable:
            found["em_answerable"] = percentage(own_exact, answerable)
            found["f1_answerable"] = percentage(own_f1, answerable)
            found["unanswerable"] = percentage(exact - own_exact, questions - answerable)
        return found

    def label_scores(self, gold: Sequence[Answered], predicted: Sequence[Answered]) -> dict[str, dict[str, float]]:
        del gold, predicted
        return {}

    def pool(self, runs: Sequence[Rows]) -> Rows:
        """Sums over the models, shares of tokens included."""
        return np.asarray(np.sum(np.stack(runs), axis=0), np.float64)


METRIC = SquadScores
