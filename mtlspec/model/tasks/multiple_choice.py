"""Multiple choice: which of several answers to a question is right; every choice is an example of its own."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal
from weakref import WeakKeyDictionary

from pydantic import Field

from mtlspec.errors import StageError
from mtlspec.model.tasks._pooled import PooledOptions, PooledTask
from mtlspec.spec.families import LabelProblem, LayerKind

if TYPE_CHECKING:
    from torch import Tensor

    from mtlspec.data.batching import Batch
    from mtlspec.data.choices import Choice
    from mtlspec.data.prepared import PreparedSplit
    from mtlspec.model.encoder.states import States
    from mtlspec.model.task import Task
    from mtlspec.model.tasks._questions import Questions


class Options(PooledOptions):
    """Questions may have any number of choices and of right ones. By default choices are judged one by one, as right or
    wrong, wherever batches put them; the best of a question is chosen when all are judged."""

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

    loss: Literal["each", "softmax"] = Field(
        default="each",
        description=(
            "`each`: whether a choice is right, whatever the others are. `softmax`: which choices of a question are "
            "right rather than the others, as is usual for COPA and SWAG. Then training draws questions, and all "
            "choices of a question stand in one batch, which is that many times larger than `batch` says."
        ),
    )

    def label_problem(self, labels: Sequence[str]) -> LabelProblem | None:
        del labels
        if self.loss == "softmax" and self.metric == "f1a_em":
            message = "`f1a_em` asks of every choice whether it is right, and `loss: softmax` only compares them"
            return LabelProblem("loss", message, "use `loss: each`")
        return None

    def build(self, name: str, labels: Mapping[str, int], width: int) -> Task:
        return MultipleChoice(name, self, labels, width)


class MultipleChoice(PooledTask):
    """One score an example, the log-odds that it is right."""

    extension = "jsonl"

    def __init__(self, name: str, options: Options, labels: Mapping[str, int], width: int) -> None:
        from mtlspec.metrics.own.choices import ChoiceScores
        from mtlspec.model.tasks._pooled_head import PooledHead

        super().__init__(name, options, labels)
        problem = options.label_problem(list(labels))
        if problem is not None:
            raise StageError("E922", f"task '{name}': {problem.message}", hint=problem.hint)
        if set(labels) != {"right", "wrong"}:
            found = " and ".join(sorted(labels)) or "no"
            message = f"task '{name}': the training data of layer '{self.layer}' have {found} choices only"
            raise StageError("E561", message, hint="it takes right and wrong ones to learn the difference")
        self.metric = ChoiceScores(options.metric)
        self.module = PooledHead(width, 1, options)
        self._together = options.loss == "softmax"
        self._known: WeakKeyDictionary[PreparedSplit, Questions] = WeakKeyDictionary()

    def drawn(self, split: PreparedSplit) -> Tensor:
        """Where choices are compared, the first one of every question stands for all of them."""
        return self._questions(split).first if self._together else super().drawn(split)

    def completed(self, split: PreparedSplit, rows: Tensor) -> Tensor:
        return self._questions(split).with_others(rows) if self._together else rows

    def _questions(self, split: PreparedSplit) -> Questions:
        from mtlspec.model.tasks._questions import Questions

        if split not in self._known:
            self._known[split] = Questions.of(split.column(f"{self.layer}.question").to_pylist())
        return self._known[split]

    def encode(self, split: PreparedSplit) -> Tensor:
        """float64 [N]: 1 for right choices, 0 for wrong ones."""
        return split.numbers(f"{self.layer}.score")

    def loss(self, states: States, batch: Batch, gold: Tensor) -> Tensor:
        """Cross-entropy: of right and wrong, the mean over examples, or of the choices of each question."""
        from torch.nn.functional import binary_cross_entropy_with_logits

        from mtlspec.data.transfer import to_device
        from mtlspec.model.tasks._questions import comparison_loss

        scores = self._scores(states, batch)
        right = to_device(gold[batch.rows].float(), scores.device)
        if self._together:
            return comparison_loss(scores, self._asked(batch), right > 0.5)
        found: Tensor = binary_cross_entropy_with_logits(scores, right)
        return found

    def _asked(self, batch: Batch) -> Tensor:
        """bool [questions, B]: which choices of a batch belong to each of its questions."""
        from mtlspec.data.transfer import to_device

        assert batch.split is not None
        return to_device(self._questions(batch.split).members(batch.rows), batch.pieces.device)

    def decode(self, states: States, batch: Batch) -> list[Choice]:
        """Questions and answers are not told again: who compares has those of the gold values."""
        from mtlspec.data.choices import Choice

        return [Choice("", "", score) for score in self._scores(states, batch).double().sigmoid().tolist()]

    def uncertainty(self, states: States, batch: Batch) -> Tensor:
        import torch

        from mtlspec.model.entropy import normalised_entropy
        from mtlspec.model.tasks._questions import comparison_entropy

        if self._together:
            return comparison_entropy(self._scores(states, batch).detach(), self._asked(batch))
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
