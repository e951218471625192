"""Question answering: which part of a text answers a question about it, or that none does."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, NamedTuple

from pydantic import Field

from mtlspec.errors import StageError
from mtlspec.model.task import Task
from mtlspec.spec.families import LabelProblem, LayerKind, TaskOptions

if TYPE_CHECKING:
    from torch import Tensor

    from mtlspec.data.answers import Answered
    from mtlspec.data.batching import Batch
    from mtlspec.data.prepared import PreparedSplit
    from mtlspec.model.encoder.states import States


class Options(TaskOptions):
    """An answer starts and ends at a sub-token of the second text. Texts of any length are read: in windows that all
    begin with the question, whose centres are put together again, so that one distribution spans the whole text."""

    reads: ClassVar[frozenset[LayerKind]] = frozenset({"answer"})
    type: Literal["qa_span"]
    no_answer: bool = Field(
        default=False,
        description="Whether a text may leave its question without an answer, as in SQuAD 2.0: then an example's first "
        "vector competes with all answers, and questions with and without an answer have scores of their own, too.",
    )
    margin: float = Field(
        default=0.0,
        description="With `no_answer`: how much better the best answer must be than none; less gives more answers.",
    )
    longest: Annotated[int, Field(gt=0)] = Field(
        default=30, description="Sub-tokens of the longest answer that is predicted."
    )
    dropout: Annotated[float, Field(ge=0, lt=1)] = Field(default=0.1, description="On the vectors of sub-tokens.")

    def build(self, name: str, labels: Mapping[str, int], width: int) -> Task:
        return QaSpan(name, self, labels, width)

    def label_problem(self, labels: Sequence[str]) -> LabelProblem | None:
        if "unanswerable" in labels and not self.no_answer:
            message = f"the training data of '{self.layer}' have questions without an answer"
            return LabelProblem("no_answer", message, "write `no_answer: true`")
        return None


class SpanGold(NamedTuple):
    """Of every example the first and the last sub-token of its first right answer, counted from its own start.

    Both are 0, where no answer starts, for a question without an answer, and for one whose answer is not known.
    """

    first: Tensor  # int64 [N]
    last: Tensor  # int64 [N]


class QaSpan(Task):
    """Two scores a sub-token: that an answer starts there, and that it ends there."""

    extension = "jsonl"

    def __init__(self, name: str, options: Options, labels: Mapping[str, int], width: int) -> None:
        from mtlspec.metrics.own.squad import SquadScores
        from mtlspec.model.tasks._span_head import SpanHead

        super().__init__(name, options, labels)
        problem = options.label_problem(list(labels))
        if problem is not None:
            raise StageError("E923", f"task '{name}': {problem.message}", hint=problem.hint)
        self.metric = SquadScores(options.no_answer)
        self.module = SpanHead(width, options.dropout, options.no_answer)
        self._options = options

    def encode(self, split: PreparedSplit) -> SpanGold:
        from mtlspec.model.tasks._span_places import first_places

        return SpanGold(*first_places(split, self.layer))

    def loss(self, states: States, batch: Batch, gold: SpanGold) -> Tensor:
        """Cross-entropy of the right start and of the right end, their mean."""
        from torch.nn.functional import cross_entropy

        from mtlspec.data.transfer import to_device

        scores = self.module(states, batch)  # [B, S, 2]
        losses = [
            cross_entropy(scores[:, :, side], to_device(right[batch.rows], scores.device))
            for side, right in enumerate(gold)
        ]
        found: Tensor = (losses[0] + losses[1]) / 2
        return found

    def decode(self, states: States, batch: Batch) -> list[Answered]:
        from mtlspec.model.tasks._span_places import answer_at, best_spans

        assert batch.split is not None
        margin = self._options.margin if self._options.no_answer else None
        spans = best_spans(self.module(states, batch).float().cpu(), self._options.longest, margin)
        rows = batch.rows.tolist()
        return [answer_at(batch.split, row, *span) for row, span in zip(rows, spans.tolist(), strict=True)]

    def uncertainty(self, states: States, batch: Batch) -> Tensor:
        """The mean of the entropies of start and end, each a share of that of an even distribution."""
        import torch

        scores = self.module(states, batch).detach().float()
        likely = scores.softmax(1)
        places = scores.isfinite().sum(1).float()  # [B, 2]
        entropy = torch.special.entr(likely).sum(1)
        share = torch.where(places > 1, entropy / places.clamp(min=2).log(), 0.0)
        return share.mean(1).clamp(0.0, 1.0)

    def gold_values(self, split: PreparedSplit) -> Sequence[Answered | None]:
        return split.values(self.layer)

    def write_predictions(self, split: PreparedSplit, predictions: Sequence[Answered | None], path: Path) -> None:
        """A JSON object a question: its number and id, its text, the right answers, and the prediction with its place.

        `prediction` is the empty text where the text does not answer it, as SQuAD's own script wants it.
        """
        from mtlspec.io.write import write_text

        rows = zip(split.ids(), split.all_texts(), self.gold_values(split), predictions, strict=True)
        lines = []
        for number, (name, texts, gold, predicted) in enumerate(rows):
            if predicted is not None:
                start, end = predicted.spans[0] if predicted.spans else (None, None)
                lines.append(
                    {
                        "index": number,
                        "id": name,
                        "question": texts[0],
                        "gold": None if gold is None else list(gold.texts),
                        "prediction": predicted.texts[0] if predicted.texts else "",
                        "start": start,
                        "end": end,
                    }
                )
        write_text(path, "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))
