"""What tasks about whole examples have in common: their options, and their file of predictions."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import Field

from mtlspec.model.task import Task
from mtlspec.spec.families import TaskOptions

if TYPE_CHECKING:
    from mtlspec.data.prepared import PreparedSplit

Pooling = Literal["auto", "cls", "mean", "last"]
GlueTask = Literal["CoLA", "SST-2", "MRPC", "STS-B", "MNLI", "QNLI", "QQP", "RTE", "WNLI"]


class PooledOptions(TaskOptions):
    """Options of every task that reads one vector of an example, be it words or raw text."""

    has_classes: ClassVar[bool] = True
    distils: ClassVar[bool] = True
    pooling: Pooling = Field(
        default="auto",
        description=(
            "The vector of an example: that of the first sub-token (`cls`), of the last one (`last`), or the mean of "
            "all but special ones. `auto`: `last` for an encoder that reads from left to right, else `cls`. Of a text "
            "that is read in several windows, the mean of their vectors."
        ),
    )
    dropout: Annotated[float, Field(ge=0, lt=1)] = Field(
        default=0.1, description="On that vector, and behind the hidden layer."
    )
    hidden: Annotated[int, Field(gt=0)] | None = Field(
        default=None,
        description="Width of a layer with tanh before the scores, as BERT's pooler is; by default none.",
    )
    glue: GlueTask | None = Field(
        default=None,
        description=(
            "Which task of the GLUE benchmark this is. Where models have all nine, with GLUE's test files as splits "
            "`glue_test`, `glue_test_mismatched` and `glue_ax`, the report makes the zip that the GLUE server takes."
        ),
    )


class PooledTask(Task):
    """A task about whole examples."""

    extension = "tsv"

    def __init__(self, name: str, options: PooledOptions, labels: Mapping[str, int]) -> None:
        super().__init__(name, options, labels)
        self.first_only = options.pooling in ("auto", "cls")

    @abstractmethod
    def shown(self, value: Any) -> str:
        """A gold value or prediction in a table of predictions."""

    def gold_values(self, split: PreparedSplit) -> Sequence[Any]:
        return split.values(self.layer)

    def extension_for(self, split: PreparedSplit) -> str:
        return split.layout

    def write_predictions(self, split: PreparedSplit, predictions: Sequence[Any], path: Path) -> None:
        """In the layout of the corpus, with the same fields: a table, or JSON lines.

        The fields are the example's number in its split from 0, its id, its text (and the second one), the gold value
        (`_` in a table, null in JSON: none) and the prediction.
        """
        from mtlspec.io.write import write_text

        texts = split.all_texts()
        segments = ("text", "text2")[: max(map(len, texts), default=1)]
        examples = zip(split.ids(), texts, self.gold_values(split), predictions, strict=True)
        rows = [
            [number, name, *shown, *[""] * (len(segments) - len(shown)), gold, predicted]
            for number, (name, shown, gold, predicted) in enumerate(examples)
            if predicted is not None
        ]
        names = ("index", "id", *segments, "gold", "prediction")
        write_text(path, _json_lines(names, rows) if split.layout == "jsonl" else self._table(names, rows))

    def _table(self, names: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
        lines = ["\t".join(names)]
        for *given, gold, predicted in rows:
            values = ("_" if gold is None else self.shown(gold), self.shown(predicted))
            lines.append("\t".join(_cell(str(one)) for one in (*given, *values)))
        return "".join(f"{line}\n" for line in lines)


def _cell(text: str) -> str:
    """A text without what would end a cell or a row."""
    return " ".join(text.replace("\t", " ").splitlines())


def _json_lines(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    return "".join(json.dumps(dict(zip(names, row, strict=True)), ensure_ascii=False) + "\n" for row in rows)
