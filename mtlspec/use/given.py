"""What is given to a model from Python, or by MLflow: texts, words, pairs of texts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from mtlspec.data.sentence import Sentence
from mtlspec.errors import DataError, Place
from mtlspec.use.documents import Sentences, sentences_of_text

Given = str | Sequence[str] | tuple[str, str]
"""A text, words, or a pair of texts."""


def examples_of(inputs: Iterable[Given], sentences: Sentences | None) -> list[Sentence]:
    """Examples with numbers from 1; with `sentences`, a text is a document and gives those of its sentences."""
    examples = [one for number, value in enumerate(inputs, 1) for one in _extracts(_given(value, number), sentences)]
    if len({bool(example.texts) for example in examples}) > 1:
        raise DataError("E552", "texts and lists of words are mixed", None, "predict them one after the other")
    return examples


def _given(value: Given, number: int) -> Sentence:
    parts = (value,) if isinstance(value, str) else tuple(value)
    if not parts or not all(part.strip() for part in parts):
        raise DataError("E553", "an empty text, or an empty word", Place("input", number), "leave it out")
    raw = isinstance(value, str | tuple)
    return Sentence(str(number), () if raw else parts, {}, ("input", number), texts=parts if raw else ())


def _extracts(given: Sentence, sentences: Sentences | None) -> Iterator[Sentence]:
    """The sentences of a document, or what was given."""
    if sentences is None or len(given.texts) != 1:
        yield given
        return
    for found in sentences_of_text(given.texts[0], given.id, sentences):
        if isinstance(found, DataError):
            raise found
        yield found
