"""What every kind of layer says of itself."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, TypeVar

if TYPE_CHECKING:
    import pyarrow as pa

V = TypeVar("V")


class Kind(ABC, Generic[V]):
    """A kind of layer; V is what readers give and metrics compare. Each kind's file holds one of these as `KIND`.

    It is light at import, like all kinds. A sentence that lacks the layer has a null in all of its columns.
    """

    per_word: ClassVar[bool] = False  # True: one label a word
    about_words: ClassVar[bool] = True  # False: about the whole example, so raw text may carry it
    in_text: ClassVar[bool] = False  # True: it points into raw text, so sub-tokens are stored with their characters
    given: ClassVar[bool] = False  # True: part of it is given, also where there are no labels: `labelled` tells them
    whole_text: ClassVar[bool] = False  # True: it may lie anywhere in raw text, of which nothing is cut, however long

    @abstractmethod
    def columns(self) -> dict[str, pa.DataType]:
        """Suffix of a column's name -> its Arrow type; all of them are null where the layer is missing."""

    @abstractmethod
    def cells(self, value: V) -> tuple[Any, ...]:
        """A value as the cells of its columns, in their order."""

    @abstractmethod
    def value(self, cells: Sequence[Any]) -> V:
        """The inverse of `cells`."""

    @abstractmethod
    def shows(self, value: object) -> bool:
        """Whether an object is a value of this kind."""

    @abstractmethod
    def labels(self, value: V) -> Iterable[str]:
        """What people count: tags, relations, constituent labels, roles or classes."""

    def labelled(self, value: V) -> bool:
        """Whether it says what is to be learnt; one of which only a part is given has a null in its first column."""
        del value
        return True

    def targets(self, value: V) -> Iterable[str]:
        """What a decoder of this layer chooses from."""
        return self.labels(value)

    @abstractmethod
    def lines(self, words: Sequence[str], value: V) -> list[str]:
        """A value as lines that people read, at least one."""

    def figures(self, value: V) -> Mapping[str, int]:
        """Further numbers that are added up for each split: what is counted -> how many there are."""
        del value
        return {}

    def problem(self, value: V, words: int) -> str | None:
        """Why a value cannot belong to a sentence of so many words, or None."""
        del value, words
        return None

    def places(self, value: V) -> Iterable[TextSpan]:
        """What of the raw text it points at; sub-tokens of all of it must be there."""
        del value
        return ()


class TextSpan(NamedTuple):
    """Characters of one of an example's texts."""

    segment: int  # 0 or 1
    start: int
    end: int  # behind the last


def transposed(rows: Iterable[Sequence[Any]], width: int) -> tuple[Sequence[Any], ...]:
    """Rows of so many items as that many columns, empty ones if there are no rows."""
    columns = tuple(zip(*rows, strict=True))
    return columns if columns else ((),) * width
