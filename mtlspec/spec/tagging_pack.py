"""The published figures of the study of sequence tagging: rows of cells as they are printed, arrows included."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from pydantic import Field, field_validator

from mtlspec.kinds import Sequence_
from mtlspec.spec.packs import Published

Arrow = Literal["up", "down", ""]
_ARROWS: Mapping[str, Arrow] = {"↑": "up", "↓": "down", "": ""}
_CELL = re.compile(r"(\d+(?:\.\d+)?)([↑↓]?)")
_NOTHING = "–"


class Printed(NamedTuple):
    """A cell: the mean of three seeds, and whether the paper calls it higher or lower than what it is compared with."""

    mean: float
    arrow: Arrow


class PrintedRow(NamedTuple):
    """Task -> cell, and the numbers of arrows that the paper prints for the row, if it does."""

    cells: Mapping[str, Printed]
    up: int | None
    down: int | None


class PrintedStatistics(NamedTuple):
    """A row of Table 1; of training data alone, and of all splits."""

    sentences: tuple[int, int]
    tokens_per_type: tuple[float, float]
    labels: int
    label_entropy: float


class TaggingPack(Published):
    """Scores of one way of sharing. Rows are kept as text; `row` reads them."""

    study: Literal["sequence_tagging"]
    sharing: Literal["hard", "task_embedding/decoder", "task_embedding/encoder"] = Field(
        description="How the paper's models share, as specs say it."
    )
    tasks: Sequence_[str] = Field(description="The columns of all rows.")
    statistics: dict[str, str] = Field(description="Table 1, by task.")
    pairs: dict[str, str] = Field(description="The task that is added -> a row; on the diagonal stands STL.")
    up: str = Field(description="Numbers of arrows of the columns of `pairs`.")
    down: str
    average: str = Field(description="Of the pairs of each task.")
    all: str
    oracle: str
    without: dict[str, str] = Field(default_factory=dict, description="The task that is left out of all -> a row.")
    without_up: str = ""
    without_down: str = ""

    @field_validator("pairs", "without")
    @classmethod
    def _cells(cls, rows: dict[str, str]) -> dict[str, str]:
        for name, row in rows.items():
            if any(not _CELL.fullmatch(cell) for cell in row.partition("|")[0].split() if cell != _NOTHING):
                raise ValueError(f"the row '{name}' has a cell that is no number with an arrow or without")
        return rows

    def row(self, text: str) -> PrintedRow:
        """One of the rows of cells."""
        printed, _, counts = text.partition("|")
        cells = dict(zip(self.tasks, printed.split(), strict=True))
        found = {task: _printed(cell) for task, cell in cells.items() if cell != _NOTHING}
        up, down = map(int, counts.split()) if counts else (None, None)
        return PrintedRow(found, up, down)

    def numbers(self, text: str) -> dict[str, float]:
        """One of the rows of numbers."""
        return dict(zip(self.tasks, map(float, text.split()), strict=True))

    def printed_statistics(self, task: str) -> PrintedStatistics:
        sentences, types, labels, entropy = self.statistics[task].split()
        train, every = map(int, sentences.split("/"))
        of_train, of_every = map(float, types.split("/"))
        return PrintedStatistics((train, every), (of_train, of_every), int(labels), float(entropy))

    def stored(self) -> dict[str, Any]:
        """As a stage's parameters hold it; the order of rows is that of `tasks`."""
        return self.model_dump(mode="json")


def _printed(cell: str) -> Printed:
    found = _CELL.fullmatch(cell)
    assert found is not None, "the pack was validated"
    return Printed(float(found[1]), _ARROWS[found[2]])
