"""One string a word, None for a word that has none."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from mtlspec.data.layer import Kind

if TYPE_CHECKING:
    import pyarrow as pa

Values = tuple[str | None, ...]


class Tags(Kind[Values]):
    per_word = True

    def columns(self) -> dict[str, pa.DataType]:
        import pyarrow as pa

        return {"": pa.list_(pa.string())}

    def cells(self, value: Values) -> tuple[Any, ...]:
        return (value,)

    def value(self, cells: Sequence[Any]) -> Values:
        return tuple(cells[0])

    def shows(self, value: object) -> bool:
        return isinstance(value, tuple) and bool(value) and all(isinstance(tag, str | None) for tag in value)

    def labels(self, value: Values) -> Iterable[str]:
        return (tag for tag in value if tag is not None)

    def lines(self, words: Sequence[str], value: Values) -> list[str]:
        """`word/tag`, without the words that are outside of all spans or have no tag."""
        told = (f"{word}/{tag}" for word, tag in zip(words, value, strict=True) if tag is not None and tag != "O")
        return [" ".join(told) or "–"]

    def problem(self, value: Values, words: int) -> str | None:
        return f"{len(value)} tags for {words} words" if len(value) != words else None


KIND = Tags()
