"""SuperGLUE's JSON lines as they are downloaded: eight tasks, whose objects may be several examples."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field

from mtlspec.data.blocks import Block, lines
from mtlspec.data.readers._json import record
from mtlspec.data.readers._superglue import TASKS, Found, MalformedError, Row
from mtlspec.data.sentence import Sentence
from mtlspec.errors import DataError
from mtlspec.spec.card_families import ReaderOptions
from mtlspec.spec.families import LayerKind, Layout


class Options(ReaderOptions):
    """Boolean questions, entailment and words in context (marked by `*` and `#`) have a `label`; every choice of COPA,
    MultiRC and ReCoRD is an example with a `choice`. SuperGLUE keeps the labels of its test files, so that its `val`
    files serve as dev and as test: `part` cuts them in two, and what is about the same text stays together."""

    layout: ClassVar[Layout] = "jsonl"
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
    labelled: bool = Field(default=True, description="Whether labels are read, where the file has them.")

    def _found(self) -> Found:
        return TASKS[self.task]

    def layer_kind(self, column: str) -> LayerKind | None:
        return column if column in self.column_names() else None

    def column_names(self) -> tuple[str, ...]:
        return (self._found().layer,)

    def known_labels(self, column: str) -> tuple[str, ...] | None:
        found = self._found()
        return found.labels if column == found.layer and found.labels else None

    def unlabelled(self) -> Self:
        return self.model_copy(update={"labelled": False})

    def blocks(self, path: Path) -> Iterator[Block]:
        """One an example: the line of its object, and its number in it."""
        number = 0
        for at, line in enumerate(lines(path), 1):
            if not line.strip(" \t"):
                continue
            whole = Block(str(path), number + 1, at, (line, "0"))
            try:
                found = record(whole)
                count = sum(1 for _ in self._found().rows(found)) if self._is_read(found) else 0
            except (DataError, MalformedError):
                count = 1  # whoever parses it says what is wrong
            for row in range(count):
                number += 1
                yield Block(str(path), number, at, (line, str(row)))

    def parse(self, block: Block) -> Sentence:
        try:
            row = list(self._found().rows(record(block)))[int(block.lines[1])]
        except MalformedError as error:
            message = f"this is no example of {self.task}: {error}"
            raise DataError("E562", message, block.place(), "is `task` of the reader right?") from None
        return self._sentence(row, block)

    def _sentence(self, row: Row, block: Block) -> Sentence:
        layers: dict[str, Any] = {}
        if self.labelled and row.value is not None:
            layers[self._found().layer] = row.value
        return Sentence(row.id or str(block.number), (), layers, (block.file, block.first), texts=row.texts)

    def _is_read(self, found: dict[str, Any]) -> bool:
        if self.part == "all":
            return True
        key = json.dumps(found.get(self._found().together), sort_keys=True)
        share = int.from_bytes(hashlib.sha256(key.encode()).digest()[:8], "big") / 2**64  # even in [0, 1)
        return (share < self.dev_share) == (self.part == "dev")
