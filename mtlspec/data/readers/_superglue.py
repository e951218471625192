"""The eight tasks of SuperGLUE: what examples an object of their files is."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeAlias

from mtlspec.data.choices import Choice
from mtlspec.data.layer import TextSpan
from mtlspec.data.marks import Marked
from mtlspec.data.readers._several import Record, Row, objects_of
from mtlspec.spec.words import shorten, show

_QUESTIONS = {"cause": "What was the cause of this?", "effect": "What happened as a result?"}  # as COPA asks them
_PLACEHOLDER = "@placeholder"
_HIGHLIGHT = "@highlight\n"
_WORD = re.compile(r"\S+")


Rows: TypeAlias = Callable[[Record, list[str]], Iterator[Row]]
"""Examples of an object; what is wrong with it is added to the list."""


class Found(NamedTuple):
    """How the objects of a task's files are read, and what must stay together when they are divided."""

    layer: str  # `label`, `choice` or `marked`
    labels: tuple[str, ...]  # all that a label can be
    rows: Rows
    together: str  # the field whose equal values belong to the same split


def text(record: Record, wrong: list[str], *path: str) -> str:
    """A text that must be there, at a path of fields."""
    found: Any = record
    for part in path:
        found = found.get(part) if isinstance(found, dict) else None
    if not isinstance(found, str) or not found.strip():
        wrong.append(f"'{'.'.join(path)}' must be a text, not {show(found)}")
        return ""
    return found


def _object(record: Record, name: str) -> Record:
    """The object of a field; whoever asks for what is in it says what is missing."""
    found = record.get(name)
    return found if isinstance(found, dict) else {}


def _id(record: Record) -> str:
    return str(record.get("idx", ""))


def _label(record: Record, labels: tuple[str, ...], wrong: list[str]) -> str | None:
    """A label as JSON writes it."""
    said = record.get("label")
    if said is None:
        return None
    label = str(said).lower() if isinstance(said, bool) else said
    if label not in labels:
        wrong.append(f"{shorten(show(said))} is no label; known: {', '.join(labels)}")
    return str(label)


def _number(said: Any, what: str, wrong: list[str]) -> int | None:
    """0 or 1, or None where the file does not tell."""
    if said is not None and said not in (0, 1):
        wrong.append(f"{what}, not {show(said)}")
    return None if said is None else int(said == 1)


def _pair(first: str, second: str, labels: tuple[str, ...]) -> Rows:
    def rows(record: Record, wrong: list[str]) -> Iterator[Row]:
        texts = (text(record, wrong, first), text(record, wrong, second))
        yield Row(_id(record), texts, _label(record, labels, wrong))

    return rows


def _copa(record: Record, wrong: list[str]) -> Iterator[Row]:
    asked = record.get("question")
    if not isinstance(asked, str) or asked not in _QUESTIONS:
        wrong.append(f"'question' must be cause or effect, not {show(asked)}")
    said, what = record.get("label"), "'label' must be the number of a choice, 0 or 1"
    if isinstance(said, bool):
        wrong.append(f"{what}, not {show(said)}")
    right = _number(said, what, wrong)
    first, question = f"{text(record, wrong, 'premise')} {_QUESTIONS.get(str(asked), '')}", _id(record)
    for number in (0, 1):
        answer = text(record, wrong, f"choice{number + 1}")
        value = None if right is None else Choice(question, answer, float(number == right))
        yield Row(f"{question}/{number}", (first, answer), value)


def _multirc(record: Record, wrong: list[str]) -> Iterator[Row]:
    first = text(record, wrong, "passage", "text")
    for asked in objects_of(_object(record, "passage").get("questions"), "passage.questions", wrong):
        question, words = f"{_id(record)}/{_id(asked)}", text(asked, wrong, "question")
        for given in objects_of(asked.get("answers"), "answers", wrong):
            right = _number(given.get("label"), "the label of an answer must be 0 or 1", wrong)
            answer = given.get("text")
            if not isinstance(answer, str):  # the published train file has an empty one
                wrong.append(f"'text' must be a text, not {show(answer)}")
                answer = ""
            value = None if right is None else Choice(question, answer, float(right))
            yield Row(f"{question}/{_id(given)}", (first, f"{words} {answer}" if answer else words), value)


def _record(record: Record, wrong: list[str]) -> Iterator[Row]:
    """Each distinct entity is a choice; an answer is an entity."""
    whole = text(record, wrong, "passage", "text")
    first = whole.replace(_HIGHLIGHT, "")
    entities = _entities(record, whole, wrong)
    known = not wrong
    for asked in objects_of(record.get("qas"), "qas", wrong):
        query = text(asked, wrong, "query")
        if query and _PLACEHOLDER not in query:
            wrong.append(f"the query has no {_PLACEHOLDER}")
        question = f"{_id(record)}/{_id(asked)}"
        answers, before = asked.get("answers"), len(wrong)
        right = None if answers is None else {text(one, wrong, "text") for one in objects_of(answers, "answers", wrong)}
        if known and right is not None and not right & entities.keys() and len(wrong) == before:
            wrong.append("none of the answers is an entity of the passage")
        for number, entity in enumerate(entities):
            value = None if right is None else Choice(question, entity, float(entity in right))
            yield Row(f"{question}/{number}", (first, query.replace(_PLACEHOLDER, entity)), value)


def _entities(record: Record, passage: str, wrong: list[str]) -> dict[str, None]:
    """Those of a passage, each once; ends are inclusive."""
    found: dict[str, None] = {}
    for one in objects_of(_object(record, "passage").get("entities"), "passage.entities", wrong):
        start, end = one.get("start"), one.get("end")
        if isinstance(start, int) and isinstance(end, int) and 0 <= start <= end < len(passage):
            found[passage[start : end + 1]] = None
        elif passage:
            wrong.append(f"an entity lies outside of the {len(passage)} characters of the passage")
    return found


def _wic_place(record: Record, segment: int, wrong: list[str]) -> TextSpan:
    """Where the word stands in one of the two sentences; all of it, where that is not known."""
    side = segment + 1
    sentence = text(record, wrong, f"sentence{side}")
    start, end = record.get(f"start{side}"), record.get(f"end{side}")
    if isinstance(start, int) and isinstance(end, int) and 0 <= start < end <= len(sentence):
        return TextSpan(segment, start, end)
    if sentence:
        wrong.append(f"'start{side}' and 'end{side}' give no characters of 'sentence{side}'")
    return TextSpan(segment, 0, len(sentence))


def _wic(record: Record, wrong: list[str]) -> Iterator[Row]:
    """The word is marked in both sentences: `to my * place * later`."""
    marked = []
    for segment, start, end in (_wic_place(record, 0, wrong), _wic_place(record, 1, wrong)):
        sentence = text(record, [], f"sentence{segment + 1}")
        marked.append(f"{sentence[:start]}* {sentence[start:end]} *{sentence[end:]}")
    yield Row(_id(record), (marked[0], marked[1]), _label(record, _TRUTH, wrong))


def _wic_places(record: Record, wrong: list[str]) -> Iterator[Row]:
    places = (_wic_place(record, 0, wrong), _wic_place(record, 1, wrong))
    texts = (text(record, [], "sentence1"), text(record, [], "sentence2"))
    yield Row(_id(record), texts, Marked(places, _label(record, _TRUTH, wrong)))


def _wsc_words(record: Record, side: str, count: int, wrong: list[str]) -> tuple[int, int]:
    """The first and the last word of a span; positions count what stands between blanks."""
    at = _object(record, "target").get(f"{side}_index")
    size = len(text(record, wrong, "target", f"{side}_text").split())
    if size and isinstance(at, int) and at >= 0 and at + size <= count:
        return at, at + size - 1
    if size and count:
        wrong.append(f"'target.{side}_index' gives no words of the text")
    return 0, 0


def _wsc(record: Record, wrong: list[str]) -> Iterator[Row]:
    """The noun phrase is marked by `*`, the pronoun by `#`."""
    words = text(record, wrong, "text").split()
    for side, mark in (("span2", "#"), ("span1", "*")):
        first, last = _wsc_words(record, side, len(words), wrong)
        if words:
            words[first] = f"{mark} {words[first]}"
            words[last] = f"{words[last]} {mark}"
    yield Row(_id(record), (" ".join(words),), _label(record, _TRUTH, wrong))


def _wsc_places(record: Record, wrong: list[str]) -> Iterator[Row]:
    """The noun phrase, then the pronoun; without the punctuation that a word has beside it."""
    whole = text(record, wrong, "text")
    words = [(word.start(), word.end()) for word in _WORD.finditer(whole)]
    spans = []
    for side in ("span1", "span2"):
        first, last = _wsc_words(record, side, len(words), wrong)
        if words:
            start, end = words[first][0], words[last][1]
            said = text(record, [], "target", f"{side}_text").strip()
            inside = whole[start:end].lower().find(said.lower())
            found = (start + inside, start + inside + len(said)) if inside >= 0 else (start, end)
            spans.append(TextSpan(0, *found))
    yield Row(_id(record), (whole,), Marked(tuple(spans), _label(record, _TRUTH, wrong)))


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
PLACES: dict[str, Found] = {
    "wic": Found("marked", _TRUTH, _wic_places, "word"),
    "wsc": Found("marked", _TRUTH, _wsc_places, "text"),
}
"""The tasks about words in context, their texts as they are and the places of the words beside them."""
