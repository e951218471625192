"""Whether an example is the right one of several choices for a question, which are examples side by side."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from mtlspec.data.choices import Choice
from mtlspec.data.layer import Kind

if TYPE_CHECKING:
    import pyarrow as pa


class ChoiceKind(Kind[Choice]):
    about_words = False

    def columns(self) -> dict[str, pa.DataType]:
        import pyarrow as pa

        return {".question": pa.string(), ".answer": pa.string(), ".score": pa.float64()}

    def cells(self, value: Choice) -> tuple[Any, ...]:
        return value.question, value.answer, value.score

    def value(self, cells: Sequence[Any]) -> Choice:
        return Choice(*cells)

    def shows(self, value: object) -> bool:
        return isinstance(value, Choice)

    def labels(self, value: Choice) -> Iterable[str]:
        return ("right" if value.score else "wrong",)

    def lines(self, words: Sequence[str], value: Choice) -> list[str]:
        del words
        return [f"{value.question}: {next(iter(self.labels(value)))}"]


KIND = ChoiceKind()
