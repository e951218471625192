"""Multiple choice: which of several answers to a question is right; every choice is an example of its own."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field

from mtlspec.errors import StageError
from mtlspec.model.tasks._pooled import PooledOptions, PooledTask
from mtlspec.spec.families import LayerKind

if TYPE_CHECKING:
    from torch import Tensor

    from mtlspec.data.batching import Batch
    from mtlspec.data.choices import Choice
    from mtlspec.data.prepared import PreparedSplit
    from mtlspec.model.encoder.states import States
    from mtlspec.model.task import Task


class Options(PooledOptions):
    """Choices are judged one by one, as right or wrong, wherever batches put them; the best of a question is chosen
    when all are judged. So questions may have any number of choices and of right ones."""

    reads: ClassVar[frozenset[LayerKind]] = frozenset({"choice"})
    type: Literal["multiple_choice"]
    metric: Literal["accuracy", "f1a_em", "em_f1"] = Field(
        default="accuracy",
        description=(
            "The score that decides. `accuracy`: of the best choices (COPA, SWAG). `f1a_em`: F1 of the choices "
            "that are called right, and the share of questions all of whose choices are judged rightly (MultiRC). "
            "`em_f1`: how well the text of the best choice agrees with a right one, as SQuAD compares texts (ReCoRD). "
            "The last two are means of a pair, which is reported, too."
        ),
    )

    def build(self, name: str, labels: Mapping[str, int], width: int) -> Task:
        return MultipleChoice(name, self, labels, width)


class MultipleChoice(PooledTask):
    """One score an example, the log-odds that it is right."""

    extension = "jsonl"

    def __init__(self, name: str, options: Options, labels: Mapping[str, int], width: int) -> None:
        from mtlspec.metrics.own.choices import ChoiceScores
        from mtlspec.model.tasks._pooled_head import PooledHead

        super().__init__(name, options, labels)
        if set(labels) != {"right", "wrong"}:
            found = " and ".join(sorted(labels)) or "no"
            message = f"task '{name}': the training data of layer '{self.layer}' have {found} choices only"
            raise StageError("E561", message, hint="it takes right and wrong ones to learn the difference")
        self.metric = ChoiceScores(options.metric)
        self.module = PooledHead(width, 1, options)

    def encode(self, split: PreparedSplit) -> Tensor:
        """float64 [N]: 1 for right choices, 0 for wrong ones."""
        return split.numbers(f"{self.layer}.score")

    def loss(self, states: States, batch: Batch, gold: Tensor) -> Tensor:
        """Cross-entropy of right and wrong, the mean over examples."""
        from torch.nn.functional import binary_cross_entropy_with_logits

        from mtlspec.data.transfer import to_device

        scores = self._scores(states, batch)
        found: Tensor = binary_cross_entropy_with_logits(scores, to_device(gold[batch.rows].float(), scores.device))
        return found

    def decode(self, states: States, batch: Batch) -> list[Choice]:
        """Questions and answers are not told again: who compares has those of the gold values."""
        from mtlspec.data.choices import Choice

        return [Choice("", "", score) for score in self._scores(states, batch).sigmoid().tolist()]

    def uncertainty(self, states: States, batch: Batch) -> Tensor:
        import torch

        from mtlspec.model.entropy import normalised_entropy

        right = self._scores(states, batch).detach().sigmoid()
        return normalised_entropy(torch.stack([right, 1 - right], 1))

    def _scores(self, states: States, batch: Batch) -> Tensor:
        scores: Tensor = self.module(states, batch).squeeze(1)  # [B]
        return scores

    def shown(self, value: Choice) -> str:
        return repr(round(value.score, 6))

    def extension_for(self, split: PreparedSplit) -> str:
        del split
        return self.extension

    def write_predictions(self, split: PreparedSplit, predictions: Sequence[Choice | None], path: Path) -> None:
        """A JSON object a choice: its number, id and question, its texts, whether it is right, and how likely so."""
        from mtlspec.io.write import write_text

        rows = zip(split.ids(), split.all_texts(), self.gold_values(split), predictions, strict=True)
        lines = [
            {
                "index": number,
                "id": name,
                "question": None if gold is None else gold.question,
                "texts": texts,
                "gold": None if gold is None else gold.score,
                "prediction": round(predicted.score, 6),
            }
            for number, (name, texts, gold, predicted) in enumerate(rows)
            if predicted is not None
        ]
        write_text(path, "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))
