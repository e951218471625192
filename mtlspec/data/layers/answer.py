"""Where in the second text of a pair the answers to its first text, a question, stand."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from mtlspec.data.answers import Answer, Answered
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
        return transposed([(one.text, one.start, one.end) for one in value.answers], 3)

    def value(self, cells: Sequence[Any]) -> Answered:
        return Answered(tuple(Answer(*one) for one in zip(*cells, strict=True)))

    def shows(self, value: object) -> bool:
        return isinstance(value, Answered)

    def labels(self, value: Answered) -> Iterable[str]:
        return ("answered" if value.answers else "unanswerable",)

    def lines(self, words: Sequence[str], value: Answered) -> list[str]:
        del words
        return list(dict.fromkeys(one.text for one in value.answers)) or ["–"]

    def figures(self, value: Answered) -> Mapping[str, int]:
        return {"right answers": len(value.answers)}

    def places(self, value: Answered) -> Iterable[TextSpan]:
        return (TextSpan(1, one.start, one.end) for one in value.answers)


KIND = AnswerKind()
