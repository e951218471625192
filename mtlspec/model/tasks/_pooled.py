"""What tasks about whole examples have in common: their options, and their file of predictions."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from mtlspec.model.task import Task
from mtlspec.spec.families import TaskOptions

if TYPE_CHECKING:
    from mtlspec.data.prepared import PreparedSplit

Pooling = Literal["auto", "cls", "mean", "last"]
GlueTask = Literal["CoLA", "SST-2", "MRPC", "STS-B", "MNLI", "QNLI", "QQP", "RTE", "WNLI"]


class PooledOptions(TaskOptions):
    """Options of every task that reads one vector of an example, be it words or raw text."""

    pooling: Pooling = Field(
        default="auto",
        description=(
            "The vector of an example: that of the first sub-token (`cls`), of the last one (`last`), or the mean of "
            "all but special ones. `auto`: `last` for an encoder that reads from left to right, else `cls`."
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

    @abstractmethod
    def shown(self, value: Any) -> str:
        """A gold value or prediction in the file of predictions."""

    def gold_values(self, split: PreparedSplit) -> Sequence[Any]:
        return split.values(self.layer)

    def write_predictions(self, split: PreparedSplit, predictions: Sequence[Any], path: Path) -> None:
        """A table: number of the example in its split, gold value (`_`: none), prediction, and the text in one cell."""
        from mtlspec.io.write import write_text

        lines = ["index\tgold\tprediction\ttext"]
        for row, (gold, predicted) in enumerate(zip(self.gold_values(split), predictions, strict=True)):
            if predicted is not None:
                right = "_" if gold is None else self.shown(gold)
                lines.append("\t".join([str(row), right, self.shown(predicted), " ".join(split.words(row))]))
        write_text(path, "".join(f"{line}\n" for line in lines))
