"""SQuAD's JSON, 1.1 and 2.0: articles with paragraphs with questions, or a flat list of questions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from mtlspec.data.answers import Answered
from mtlspec.data.readers._contexts import ContextOptions, place_of, texts_of
from mtlspec.data.readers._json_lists import elements, readable, skipped, value_of, whole_text
from mtlspec.data.readers._several import Record, objects_of
from mtlspec.errors import DataError, Place
from mtlspec.spec.words import show


class Options(ContextOptions):
    """A question is an example: the question, and the text. The file is `{"data": [...]}`, of articles with
    `paragraphs` or of single questions with their `context`, or such a list alone; it may be packed (`.gz`). Questions
    that are impossible, as SQuAD 2.0 has them, have no answers."""

    type: Literal["squad"]

    def objects(self, path: Path) -> Iterator[tuple[Place, str]]:
        text = whole_text(path)
        line, counted, before = 1, 0, 0  # before: the first character of the line
        with readable(path):
            for at, end in _texts(text, path):
                line, counted = line + text.count("\n", counted, at), at
                before = text.rfind("\n", before, at) + 1 or before
                yield Place(str(path), line, at - before + 1), text[at:end]

    def asked(self, found: Record, wrong: list[str]) -> list[Any]:
        return [found] if "question" in found else super().asked(found, wrong)

    def name(self, asked: Record) -> str:
        return str(asked.get("id") or "")

    def answered(self, asked: Record, context: str, wrong: list[str]) -> Answered | None:
        said = asked.get("answers")
        if said is None:
            return None
        pairs = _flat(said, wrong) if isinstance(said, dict) else _listed(said, wrong)
        if asked.get("is_impossible") is True:
            pairs = []
        places = [
            place_of(text, context, at, at + len(text) if isinstance(at, int) else at, wrong) for text, at in pairs
        ]
        return Answered(tuple(text for text, _ in pairs), tuple(places))


def _texts(text: str, path: Path) -> Iterator[tuple[int, int]]:
    """Where each text with its questions starts and ends: the paragraphs, or the elements of a flat list."""
    at: int | None = skipped(text, 0)
    if at is not None and text[at : at + 1] == "{":
        at = value_of("data", text, at)
    if at is None or text[at : at + 1] != "[":
        raise DataError(
            "E925", "the file has no list 'data'", path, "is this SQuAD's JSON? MRQA's has the reader `mrqa`"
        )
    for start, end in elements(text, at):
        inner = value_of("paragraphs", text, start)
        if inner is None:
            yield start, end
        elif text[inner : inner + 1] == "[":
            yield from elements(text, inner)
        else:
            place = Place(str(path), text.count("\n", 0, inner) + 1, inner - text.rfind("\n", 0, inner))
            raise DataError("E926", "'paragraphs' of an article is not a list", place)


def _flat(said: Record, wrong: list[str]) -> list[tuple[str, Any]]:
    texts, starts = texts_of(said.get("text"), "answers.text", wrong), said.get("answer_start")
    if not isinstance(starts, list) or len(starts) != len(texts):
        wrong.append(f"'answers.answer_start' must have a number for every text, not {show(starts)}")
        return []
    return list(zip(texts, starts, strict=True))


def _listed(said: Any, wrong: list[str]) -> list[tuple[str, Any]]:
    found = objects_of(said, "answers", wrong)
    texts = texts_of([one.get("text") for one in found], "answers.text", wrong)
    return list(zip(texts, (one.get("answer_start") for one in found), strict=False))
