"""The signatures of all scores of a study: in the report for readers, in its facts for records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mtlspec.report.section import Section
from mtlspec.results.evaluations import Evaluation, Evaluations
from mtlspec.results.score_names import spoken
from mtlspec.results.signatures import signature
from mtlspec.results.tables import Cell, Table
from mtlspec.results.variants import Variant


@dataclass(frozen=True)
class Signatures:
    """Those of `split/task/score`, as most models have them; models whose metric is told otherwise have their own."""

    of_scores: Mapping[str, str]
    of_models: Mapping[str, Mapping[str, str]]  # model -> those that differ

    @property
    def facts(self) -> dict[str, Any]:
        """For the record."""
        own = {"models": {model: dict(found) for model, found in self.of_models.items()}} if self.of_models else {}
        return {"scores": dict(self.of_scores), **own}

    def section(self) -> Section:
        rows = [(score, "", text) for score, text in self.of_scores.items()]
        rows += [(score, model, text) for model, own in self.of_models.items() for score, text in own.items()]
        caption = (
            "How each score was made: the metric with its options, the layer, the split with the sha256 of its file, "
            "the reader, and version and code of mtlspec. Scores with the same signature may be compared."
        )
        cells = tuple(
            (Cell(_shown(score), score), Cell(model or "all", model), Cell(text, text)) for score, model, text in rows
        )
        table = Table("signatures", "Signatures", caption, ("score", "models", "signature"), (("", cells),))
        return Section("signatures", "Signatures of scores", (), (table,), (), folded=True)


def read_signatures(
    spec: Mapping[str, Any], cards: Mapping[str, Any], models: Sequence[Variant], evaluations: Evaluations
) -> Signatures:
    """`cards` are those of the corpora, by their names in the spec."""
    found: dict[str, str] = {}
    others: dict[str, dict[str, str]] = {}
    for variant in models:
        evaluation = evaluations[variant.runs[0].evaluate]
        for task in variant.tasks:
            card = cards[spec["tasks"][task].get("data") or next(iter(cards))]
            for score, text in _of_task(task, evaluation, card).items():
                if found.setdefault(score, text) != text:
                    others.setdefault(variant.slug, {})[score] = text
    return Signatures(found, others)


def _of_task(task: str, evaluation: Evaluation, card: Mapping[str, Any]) -> dict[str, str]:
    about, metric = evaluation.scores[task], evaluation.metrics[task]
    return {
        f"{split}/{task}/{name}": signature(name, metric, card, about["layer"], split)
        for split in evaluation.splits(task)
        for name in about[split]
    }


def _shown(score: str) -> str:
    split, task, name = score.split("/")
    return f"{task} on {split}: {spoken(name)}"
