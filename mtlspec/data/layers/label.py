"""One class for a whole example."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from mtlspec.data.layer import Kind

if TYPE_CHECKING:
    import pyarrow as pa


class Label(Kind[str]):
    about_words = False

    def columns(self) -> dict[str, pa.DataType]:
        import pyarrow as pa

        return {"": pa.string()}

    def cells(self, value: str) -> tuple[Any, ...]:
        return (value,)

    def value(self, cells: Sequence[Any]) -> str:
        return str(cells[0])

    def shows(self, value: object) -> bool:
        return isinstance(value, str)

    def labels(self, value: str) -> Iterable[str]:
        return (value,)

    def lines(self, words: Sequence[str], value: str) -> list[str]:
        del words
        return [value]


KIND = Label()
