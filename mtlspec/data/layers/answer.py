"""Where in the second text of a pair the answers to its first text, a question, stand."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from mtlspec.data.answers import Answered
from mtlspec.data.layer import Kind, TextSpan, transposed

if TYPE_CHECKING:
    import pyarrow as pa


class AnswerKind(Kind[Answered]):
    about_words = False
    in_text = whole_text = True

    def columns(self) -> dict[str, pa.DataType]:
        import pyarrow as pa

        ints = pa.list_(pa.int32())
        return {".text": pa.list_(pa.string()), ".start": ints, ".end": ints}

    def cells(self, value: Answered) -> tuple[Any, ...]:
        return (value.texts, *transposed(value.spans, 2))

    def value(self, cells: Sequence[Any]) -> Answered:
        texts, starts, ends = cells
        return Answered(tuple(texts), tuple(zip(starts, ends, strict=True)))

    def shows(self, value: object) -> bool:
        return isinstance(value, Answered)

    def labels(self, value: Answered) -> Iterable[str]:
        return ("answered" if value.texts else "unanswerable",)

    def lines(self, words: Sequence[str], value: Answered) -> list[str]:
        del words
        return [" ".join(text.split()) for text in dict.fromkeys(value.texts)] or ["–"]

    def figures(self, value: Answered) -> Mapping[str, int]:
        return {"right answers": len(value.texts), "places of answers": len(value.spans)}

    def places(self, value: Answered) -> Iterable[TextSpan]:
        return (TextSpan(1, *span) for span in value.spans)


KIND = AnswerKind()
