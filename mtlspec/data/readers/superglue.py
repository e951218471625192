"""SuperGLUE's JSON lines as they are downloaded: eight tasks, whose objects may be several examples."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from pydantic import Field

from mtlspec.data.blocks import Block
from mtlspec.data.readers._parted import PartedOptions
from mtlspec.data.readers._several import Record, Row
from mtlspec.data.readers._superglue import PLACES, TASKS, Found
from mtlspec.errors import DataError


class Options(PartedOptions):
    """Boolean questions, entailment and words in context have a `label`; every choice of COPA, MultiRC and ReCoRD is an
    example with a `choice`. SuperGLUE keeps the labels of its test files, so that its `val` files serve as dev and as
    test: `part` cuts them in two, and what is about the same text stays together."""

    type: Literal["superglue"]
    task: Literal["boolq", "cb", "copa", "multirc", "record", "rte", "wic", "wsc"] = Field(
        description="Which task the files are of."
    )
    marks: Literal["signs", "places"] = Field(
        default="signs",
        description="How the words that WiC and WSC are about are marked: by `*` and `#` in the text, for tasks that "
        "read text only, or by their places in texts that stay as they are, a column `marked` for `word_in_context`.",
    )

    def problem(self) -> str | None:
        if self.marks == "places" and self.task not in PLACES:
            return f"`marks: places` is for {' and '.join(PLACES)}, whose words are marked"
        return super().problem()

    def _found(self) -> Found:
        return PLACES[self.task] if self.marks == "places" else TASKS[self.task]

    def column_names(self) -> tuple[str, ...]:
        return (self._found().layer,)

    def known_labels(self, column: str) -> tuple[str, ...] | None:
        found = self._found()
        return found.labels if column == found.layer and found.labels else None

    def rows(self, found: Record, wrong: list[str]) -> Iterator[Row]:
        return self._found().rows(found, wrong)

    def malformed(self, why: str, block: Block) -> DataError:
        message = f"this is no example of {self.task}: {why}"
        return DataError("E562", message, block.place(), "is `task` of the reader right?")

    def together(self, found: Record) -> Any:
        return found.get(self._found().together)
