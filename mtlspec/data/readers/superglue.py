"""SuperGLUE's JSON lines as they are downloaded: eight tasks, whose objects may be several examples."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field

from mtlspec.data.blocks import Block
from mtlspec.data.readers._several import Record, Row, SeveralOptions
from mtlspec.data.readers._superglue import TASKS, Found
from mtlspec.errors import DataError


class Options(SeveralOptions):
    """Boolean questions, entailment and words in context (marked by `*` and `#`) have a `label`; every choice of COPA,
    MultiRC and ReCoRD is an example with a `choice`. SuperGLUE keeps the labels of its test files, so that its `val`
    files serve as dev and as test: `part` cuts them in two, and what is about the same text stays together."""

    type: Literal["superglue"]
    task: Literal["boolq", "cb", "copa", "multirc", "record", "rte", "wic", "wsc"] = Field(
        description="Which task the files are of."
    )
    part: Literal["all", "dev", "test"] = Field(
        default="all", description="Which part of the file is read; `dev` and `test` are the two that it is cut into."
    )
    dev_share: Annotated[float, Field(gt=0, lt=1)] = Field(
        default=0.5,
        description=(
            "About this share of the file is the part `dev`; a hash of passages, premises or texts (of WiC, of the "
            "words) decides."
        ),
    )

    def _found(self) -> Found:
        return TASKS[self.task]

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

    def is_read(self, found: Record) -> bool:
        if self.part == "all":
            return True
        key = json.dumps(found.get(self._found().together), sort_keys=True)
        share = int.from_bytes(hashlib.sha256(key.encode()).digest()[:8], "big") / 2**64  # even in [0, 1)
        return (share < self.dev_share) == (self.part == "dev")
