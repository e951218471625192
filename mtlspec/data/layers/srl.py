"""Predicates with the spans of their roles. A sentence without predicates has no frames, yet it has the layer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from mtlspec.data.layer import Kind, transposed
from mtlspec.data.sentence import Frame

if TYPE_CHECKING:
    import pyarrow as pa

Frames = tuple[Frame, ...]


class Srl(Kind[Frames]):
    def columns(self) -> dict[str, pa.DataType]:
        import pyarrow as pa

        ints, strings = pa.list_(pa.int32()), pa.list_(pa.string())
        frames = {".predicate": ints, ".sense": strings}
        return {**frames, ".frame": ints, ".start": ints, ".end": ints, ".role": strings}

    def cells(self, value: Frames) -> tuple[Any, ...]:
        roles = [(number, *role) for number, frame in enumerate(value) for role in frame.roles]
        return ([frame.predicate for frame in value], [frame.sense for frame in value], *transposed(roles, 4))

    def value(self, cells: Sequence[Any]) -> Frames:
        predicates, senses, *roles = cells
        spans: list[list[tuple[int, int, str]]] = [[] for _ in predicates]
        for number, start, end, role in zip(*roles, strict=True):
            spans[number].append((start, end, role))
        triples = zip(predicates, senses, spans, strict=True)
        return tuple(Frame(predicate, sense, tuple(span)) for predicate, sense, span in triples)

    def shows(self, value: object) -> bool:
        return isinstance(value, tuple) and all(isinstance(frame, Frame) for frame in value)

    def labels(self, value: Frames) -> Iterable[str]:
        return (role for frame in value for _, _, role in frame.roles)

    def lines(self, words: Sequence[str], value: Frames) -> list[str]:
        return [_line(words, frame) for frame in value] or ["–"]

    def problem(self, value: Frames, words: int) -> str | None:
        ends = [frame.predicate + 1 for frame in value] + [end for frame in value for _, end, _ in frame.roles]
        return f"a predicate or role ends at word {max(ends)} of {words}" if max(ends, default=0) > words else None


def _line(words: Sequence[str], frame: Frame) -> str:
    roles = (f"{role}: {' '.join(words[start:end])}" for start, end, role in frame.roles if role != "V")
    return f"{frame.sense} [{'; '.join(roles)}]"


KIND = Srl()
