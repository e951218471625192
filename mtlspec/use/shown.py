"""Answers as JSON: one object an example, all tasks side by side."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from mtlspec.data.sentence import Sentence
from mtlspec.use.documents import Extract
from mtlspec.use.predictor import Window


def objects(window: Window) -> Iterator[dict[str, Any]]:
    """`id` and `place` of each example, its `text` (or `texts`, if two) and `words`, and `tasks`: task -> prediction.

    Of a document, where in it sentence and words stand, too.

    With them `probabilities`, where they were asked for and the task's decoder has them.
    """
    tasks = [task for part in window.parts for task in part.answers]
    answers = {task: window.answers(task) for task in tasks}
    for row, example in enumerate(window.examples):
        found = {task: answers[task][row] for task in tasks}
        likely = {task: answer.probabilities for task, answer in found.items() if answer.probabilities is not None}
        yield {
            **_example(example),
            "tasks": {task: plain(answer.prediction) for task, answer in found.items()},
            **({"probabilities": likely} if likely else {}),
        }


def json_line(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False) + "\n"


def plain(prediction: Any) -> Any:
    """What JSON can say of a prediction: a tree or a frame is an object with its fields, a tuple a list."""
    if is_dataclass(prediction) and not isinstance(prediction, type):
        return {field.name: plain(getattr(prediction, field.name)) for field in fields(prediction)}
    if isinstance(prediction, list | tuple):
        return [plain(part) for part in prediction]
    return prediction


def _example(example: Sentence) -> dict[str, Any]:
    file, line = example.place
    where = {"place": f"{file}:{line}"} if file else {}
    texts = {"text": example.texts[0]} if len(example.texts) == 1 else {"texts": list(example.texts)}
    words = {"words": list(example.words)} if example.words else {}
    document = _in_document(example) if isinstance(example, Extract) else {}
    return {"id": example.id, **where, **document, **(texts if example.texts else {}), **words}


def _in_document(example: Extract) -> dict[str, Any]:
    """Where in its document a sentence stands, and each of its words: characters before it, and before its end."""
    text, at = example.texts[0], 0
    end = example.start + len(text)
    offsets = []
    for word in example.words:
        at = text.index(word, at) + len(word)
        offsets.append([example.start + at - len(word), example.start + at])
    place = {"document": example.document, "paragraph": example.paragraph, "start": example.start, "end": end}
    return place | ({"offsets": offsets} if offsets else {})
