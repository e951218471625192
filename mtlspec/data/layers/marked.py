"""A class that is about marked words of raw text: the same ones of every example, such as a word and its twin."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from mtlspec.data.layer import Kind, TextSpan, transposed
from mtlspec.data.marks import Marked

if TYPE_CHECKING:
    import pyarrow as pa


class MarkedKind(Kind[Marked]):
    about_words = False
    in_text = given = True

    def columns(self) -> dict[str, pa.DataType]:
        import pyarrow as pa

        ints = pa.list_(pa.int32())
        return {".label": pa.string(), ".segment": ints, ".start": ints, ".end": ints}

    def cells(self, value: Marked) -> tuple[Any, ...]:
        return (value.label, *transposed(value.spans, 3))

    def value(self, cells: Sequence[Any]) -> Marked:
        label, *spans = cells
        return Marked(tuple(TextSpan(*span) for span in zip(*spans, strict=True)), label)

    def shows(self, value: object) -> bool:
        return isinstance(value, Marked)

    def labelled(self, value: Marked) -> bool:
        return value.label is not None

    def labels(self, value: Marked) -> Iterable[str]:
        return () if value.label is None else (value.label,)

    def lines(self, words: Sequence[str], value: Marked) -> list[str]:
        del words
        places = ", ".join(f"{start}–{end} of text {segment + 1}" for segment, start, end in value.spans)
        return [f"{value.label or '–'} (characters {places})"]

    def places(self, value: Marked) -> Iterable[TextSpan]:
        return value.spans


KIND = MarkedKind()
