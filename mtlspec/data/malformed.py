"""All that is wrong with one sentence: readers go on behind a defect as long as what follows still means something."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from mtlspec.errors import DataError, MtlspecError, Problems

T = TypeVar("T")


class Malformed(DataError):  # noqa: N818  # a group, not one error
    """Several defects of a sentence, or of a file's header, in the order of places; alone it speaks of the first."""

    def __init__(self, defects: Iterable[DataError]) -> None:
        told = {str(defect): defect for one in defects for defect in one.problems}  # a tag may be wrong ten times
        self._defects = Problems(told.values()).problems
        first = self._defects[0]
        super().__init__(first.code, first.message, first.place, first.hint)

    @property
    def problems(self) -> Sequence[MtlspecError]:
        return self._defects


def refuse(defects: Sequence[DataError]) -> None:
    """Raise what was found, if anything was."""
    if len(defects) == 1:
        raise defects[0]
    if defects:
        raise Malformed(defects)


def tried(defects: list[DataError], make: Callable[[], T]) -> T | None:
    """What `make` gives, or None, and its defects are added to the others."""
    try:
        return make()
    except DataError as defect:
        defects.append(defect)
        return None
