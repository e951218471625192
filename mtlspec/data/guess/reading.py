"""A way to read a file, and how well it fits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from mtlspec import kinds
from mtlspec.data.defects import renamed
from mtlspec.errors import DataError
from mtlspec.spec.card_families import ReaderOptions
from mtlspec.spec.families import READERS

SAMPLE = 3000  # lines or rows that are looked at
TASKS = {
    "label": "classification",
    "value": "regression",
    "tags": "tagging",
    "dep": "biaffine_dep",
    "con": "crf_con",
    "srl": "span_srl",
}
"""Kind of layer -> the task that learns it."""


def shown(path: Path) -> str:
    """A path for people: relative to where they are, if it lies below."""
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)


@dataclass(frozen=True)
class Reading:
    """What a file seems to be: the options of a reader, layers and their columns, and what should be looked at."""

    what: str  # such as `a table with a header`
    reader: dict[str, Any]
    layers: dict[str, str]  # layer -> column
    distinctive: bool  # hardly any file of another sort looks like this
    told: bool  # the file itself tells what its columns are: by names, or by what every file of the format has
    seen: dict[str, str] = field(default_factory=dict)  # what was guessed of the columns, in words
    doubts: tuple[str, ...] = ()

    def options(self) -> ReaderOptions:
        made: ReaderOptions = kinds.load(READERS, self.reader["type"]).Options.model_validate(self.reader)
        return made


def fits(options: dict[str, Any], path: Path) -> tuple[int, int]:
    """How many of the first sentences can be read, and how many cannot."""
    tried = list(_tried(options, path))
    good = tried.count(None)
    return good, len(tried) - good


def defects(options: dict[str, Any], path: Path) -> list[DataError]:
    """What is wrong with the first sentences."""
    return [renamed(defect, path, shown(path)) for defect in _tried(options, path) if defect is not None]


def _tried(options: dict[str, Any], path: Path) -> Iterator[DataError | None]:
    """For every sentence why it cannot be read, or None if it can."""
    reader: ReaderOptions = kinds.load(READERS, options["type"]).Options.model_validate(options)
    try:
        for block in islice(reader.blocks(path), SAMPLE):
            try:
                reader.parse(block)
            except DataError as defect:
                yield defect
            else:
                yield None
    except DataError as end:
        yield end
