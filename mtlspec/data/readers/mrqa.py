"""MRQA's JSON lines: a text with its questions a line, behind a line that names the data set."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from mtlspec.data.answers import Answered
from mtlspec.data.readers._contexts import ContextOptions, place_of, texts_of
from mtlspec.data.readers._several import Record, objects_of
from mtlspec.spec.words import shorten, show


class Options(ContextOptions):
    """A question is an example: the question, and the text. What counts as right are the `answers`, where they stand
    the `char_spans` of `detected_answers`, whose ends are inclusive. Files may be packed (`.gz`)."""

    type: Literal["mrqa"]

    def is_read(self, found: Record) -> bool:
        return "header" not in found and super().is_read(found)

    def name(self, asked: Record) -> str:
        return str(asked.get("qid") or asked.get("id") or "")

    def answered(self, asked: Record, context: str, wrong: list[str]) -> Answered | None:
        if asked.get("answers") is None and asked.get("detected_answers") is None:
            return None
        places = tuple(dict.fromkeys(_places(asked.get("detected_answers"), context, wrong)))
        texts = texts_of(asked.get("answers"), "answers", wrong)
        if texts and not places and not wrong:
            wrong.append(f"no place in the text is told for the answer '{shorten(texts[0])}'")
        return Answered(tuple(texts), places)


def _places(detected: Any, context: str, wrong: list[str]) -> Iterator[tuple[int, int]]:
    for one in objects_of(detected, "detected_answers", wrong):
        spans = one.get("char_spans")
        if not isinstance(spans, list) or not all(isinstance(span, list) and len(span) == 2 for span in spans):
            wrong.append(f"'char_spans' must be a list of pairs, not {show(spans)}")
            continue
        for text in texts_of([one.get("text")], "detected_answers.text", wrong):
            for start, last in spans:
                yield place_of(text, context, start, last + 1 if isinstance(last, int) else last, wrong)
