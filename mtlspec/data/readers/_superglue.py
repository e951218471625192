"""The eight tasks of SuperGLUE: what examples an object of their files is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from mtlspec.data.choices import Choice
from mtlspec.data.readers._several import MalformedError, Record, Row
from mtlspec.spec.words import shorten, show

_QUESTIONS = {"cause": "What was the cause of this?", "effect": "What happened as a result?"}  # as COPA asks them
_PLACEHOLDER = "@placeholder"
_HIGHLIGHT = "@highlight\n"


class Found(NamedTuple):
    """How the objects of a task's files are read, and what must stay together when they are divided."""

    layer: str  # `label` or `choice`
    labels: tuple[str, ...]  # all that a label can be
    rows: Callable[[Record], Iterator[Row]]
    together: str  # the field whose equal values belong to the same split


def text(record: Record, *path: str) -> str:
    """A text that must be there, at a path of fields."""
    found: Any = record
    for part in path:
        found = found.get(part) if isinstance(found, dict) else None
    if not isinstance(found, str) or not found.strip():
        raise MalformedError(f"'{'.'.join(path)}' must be a text, not {show(found)}")
    return found


def _objects(found: Any, name: str) -> list[Record]:
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        raise MalformedError(f"'{name}' must be a list of objects, not {show(found)}")
    return found


def _id(record: Record) -> str:
    return str(record.get("idx", ""))


def _label(record: Record, labels: tuple[str, ...]) -> str | None:
    """A label as JSON writes it."""
    said = record.get("label")
    if said is None:
        return None
    label = str(said).lower() if isinstance(said, bool) else said
    if label not in labels:
        raise MalformedError(f"{shorten(show(said))} is no label; known: {', '.join(labels)}")
    return str(label)


def _pair(first: str, second: str, labels: tuple[str, ...]) -> Callable[[Record], Iterator[Row]]:
    def rows(record: Record) -> Iterator[Row]:
        yield Row(_id(record), (text(record, first), text(record, second)), _label(record, labels))

    return rows


def _copa(record: Record) -> Iterator[Row]:
    asked = record.get("question")
    if asked not in _QUESTIONS:
        raise MalformedError(f"'question' must be cause or effect, not {show(asked)}")
    right = record.get("label")
    if right not in (0, 1, None) or isinstance(right, bool):
        raise MalformedError(f"'label' must be the number of a choice, 0 or 1, not {show(right)}")
    first, question = f"{text(record, 'premise')} {_QUESTIONS[asked]}", _id(record)
    for number in (0, 1):
        answer = text(record, f"choice{number + 1}")
        value = None if right is None else Choice(question, answer, float(number == right))
        yield Row(f"{question}/{number}", (first, answer), value)


def _multirc(record: Record) -> Iterator[Row]:
    passage = record.get("passage") or {}
    first = text(record, "passage", "text")
    for asked in _objects(passage.get("questions"), "passage.questions"):
        question = f"{_id(record)}/{_id(asked)}"
        for given in _objects(asked.get("answers"), "answers"):
            right = given.get("label")
            if right not in (0, 1, None):
                raise MalformedError(f"the label of an answer must be 0 or 1, not {show(right)}")
            answer = text(given, "text")
            value = None if right is None else Choice(question, answer, float(right))
            yield Row(f"{question}/{_id(given)}", (first, f"{text(asked, 'question')} {answer}"), value)


def _record(record: Record) -> Iterator[Row]:
    """Each distinct entity is a choice; ends are inclusive, and an answer is an entity."""
    passage = record.get("passage") or {}
    whole = text(record, "passage", "text")
    first = whole.replace(_HIGHLIGHT, "")
    entities: dict[str, None] = {}
    for one in _objects(passage.get("entities"), "passage.entities"):
        start, end = one.get("start"), one.get("end")
        if not (isinstance(start, int) and isinstance(end, int) and 0 <= start <= end < len(whole)):
            raise MalformedError(f"an entity lies outside of the {len(whole)} characters of the passage")
        entities[whole[start : end + 1]] = None
    for asked in _objects(record.get("qas"), "qas"):
        query = text(asked, "query")
        if _PLACEHOLDER not in query:
            raise MalformedError(f"the query has no {_PLACEHOLDER}")
        question = f"{_id(record)}/{_id(asked)}"
        answers = asked.get("answers")
        right = None if answers is None else {text(one, "text") for one in _objects(answers, "answers")}
        if right is not None and not right & entities.keys():
            raise MalformedError("none of the answers is an entity of the passage")
        for number, entity in enumerate(entities):
            value = None if right is None else Choice(question, entity, float(entity in right))
            yield Row(f"{question}/{number}", (first, query.replace(_PLACEHOLDER, entity)), value)


def _wic(record: Record) -> Iterator[Row]:
    """The word is marked in both sentences: `to my * place * later`."""
    marked = []
    for side in ("1", "2"):
        sentence = text(record, f"sentence{side}")
        start, end = record.get(f"start{side}"), record.get(f"end{side}")
        if not (isinstance(start, int) and isinstance(end, int) and 0 <= start < end <= len(sentence)):
            raise MalformedError(f"'start{side}' and 'end{side}' give no characters of 'sentence{side}'")
        marked.append(f"{sentence[:start]}* {sentence[start:end]} *{sentence[end:]}")
    yield Row(_id(record), (marked[0], marked[1]), _label(record, _TRUTH))


def _wsc(record: Record) -> Iterator[Row]:
    """The noun phrase is marked by `*`, the pronoun by `#`; positions count what stands between blanks."""
    words = text(record, "text").split()
    target = record.get("target") or {}
    for side, mark in (("span2", "#"), ("span1", "*")):
        at = target.get(f"{side}_index")
        size = len(text(record, "target", f"{side}_text").split())
        if not (isinstance(at, int) and at >= 0 and at + size <= len(words)):
            raise MalformedError(f"'target.{side}_index' gives no words of the text")
        words[at] = f"{mark} {words[at]}"
        words[at + size - 1] = f"{words[at + size - 1]} {mark}"
    yield Row(_id(record), (" ".join(words),), _label(record, _TRUTH))


_TRUTH = ("false", "true")
_RTE, _CB = ("entailment", "not_entailment"), ("contradiction", "entailment", "neutral")
TASKS: dict[str, Found] = {
    "boolq": Found("label", _TRUTH, _pair("question", "passage", _TRUTH), "passage"),
    "cb": Found("label", _CB, _pair("premise", "hypothesis", _CB), "premise"),
    "copa": Found("choice", (), _copa, "premise"),
    "multirc": Found("choice", (), _multirc, "passage"),
    "record": Found("choice", (), _record, "passage"),
    "rte": Found("label", _RTE, _pair("premise", "hypothesis", _RTE), "premise"),
    "wic": Found("label", _TRUTH, _wic, "word"),
    "wsc": Found("label", _TRUTH, _wsc, "text"),
}
