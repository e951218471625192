"""One number for a whole example."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from mtlspec.data.layer import Kind

if TYPE_CHECKING:
    import pyarrow as pa


LARGEST = 1e290  # so that sums over a corpus stay numbers


class Value(Kind[float]):
    about_words = False

    def columns(self) -> dict[str, pa.DataType]:
        import pyarrow as pa

        return {"": pa.float64()}

    def cells(self, value: float) -> tuple[Any, ...]:
        return (value,)

    def value(self, cells: Sequence[Any]) -> float:
        return float(cells[0])

    def shows(self, value: object) -> bool:
        return isinstance(value, float)

    def labels(self, value: float) -> Iterable[str]:
        """There is nothing to count."""
        del value
        return ()

    def targets(self, value: float) -> Iterable[str]:
        """A number is its own target, as text: what a decoder learns the scale from."""
        return (repr(value),)

    def lines(self, words: Sequence[str], value: float) -> list[str]:
        del words
        return [str(value)]

    def problem(self, value: float, words: int) -> str | None:
        del words
        if abs(value) <= LARGEST:
            return None
        return f"{value} is not a number to learn (they reach from -{LARGEST:g} to {LARGEST:g}; divide them all)"


KIND = Value()
