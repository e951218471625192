"""Texts with questions about them, as SQuAD and MRQA have them: a question is an example, its text the second one."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any

from mtlspec.data.answers import Answered, normalised
from mtlspec.data.blocks import Block
from mtlspec.data.readers._parted import PartedOptions
from mtlspec.data.readers._several import Record, Row
from mtlspec.errors import DataError
from mtlspec.spec.words import shorten, show


class ContextOptions(PartedOptions):
    """A reader of objects with a `context` and `qas`. A question that is malformed leaves the others as they are."""

    @abstractmethod
    def answered(self, asked: Record, context: str, wrong: list[str]) -> Answered | None:
        """The answers to a question; None where the file does not tell."""

    @abstractmethod
    def name(self, asked: Record) -> str:
        """The id of a question."""

    def together(self, found: Record) -> Any:
        return found.get("context")

    def column_names(self) -> tuple[str, ...]:
        return ("answer",)

    def asked(self, found: Record, wrong: list[str]) -> list[Any]:
        """The questions of an object."""
        questions = found.get("qas")
        if not isinstance(questions, list):
            wrong.append(f"'qas' must be a list, not {show(questions)}")
            return []
        return questions

    def count(self, found: Record, wrong: list[str]) -> int:
        return len(self.asked(found, wrong))

    def rows(self, found: Record, wrong: list[str]) -> Iterator[Row]:
        made = (self.row(found, number, wrong) for number in range(self.count(found, wrong)))
        return (row for row in made if row is not None)

    def row(self, found: Record, number: int, wrong: list[str]) -> Row | None:
        context, questions = found.get("context"), self.asked(found, wrong)
        if not isinstance(context, str) or not context.strip():
            wrong.append(f"'context' must be a text, not {show(context)}")
        asked = questions[number] if questions else None
        if questions and not isinstance(asked, dict):
            wrong.append(f"question {number + 1} must be an object, not {show(asked)}")
        if wrong or not isinstance(context, str) or not isinstance(asked, dict):
            return None
        defects: list[str] = []
        name, question = self.name(asked), asked.get("question")
        if not isinstance(question, str) or not question.strip():
            defects.append(f"'question' must be a text, not {show(question)}")
        value = self.answered(asked, context, defects)
        wrong += [f"question '{shorten(name or str(number + 1))}': {why}" for why in defects]
        return Row(name, (str(question).strip(), context), value)

    def malformed(self, why: str, block: Block) -> DataError:
        return DataError("E924", f"this is no question about a text: {why}", block.place(0, int(block.lines[2])))


def texts_of(said: Any, name: str, wrong: list[str]) -> list[str]:
    if not isinstance(said, list) or not all(isinstance(one, str) for one in said):
        wrong.append(f"'{name}' must be a list of texts, not {show(said)}")
        return []
    return said


def place_of(text: str, context: str, start: Any, end: Any, wrong: list[str]) -> tuple[int, int]:
    """The characters of an answer, if that is what stands there; blanks around it are not part of it."""
    numbers = isinstance(start, int) and isinstance(end, int) and not isinstance(start, bool)
    if not numbers or not 0 <= start < end <= len(context):
        where = f"{show(start)} to {show(end)} of {len(context)} characters"
        wrong.append(f"the answer '{shorten(text)}' would stand at {where}")
        return 0, 0
    there = context[start:end]
    if there != text and (normalised(there) != normalised(text) or not normalised(text)):
        wrong.append(f"the answer '{shorten(text)}' does not stand at {start}, where the text has '{shorten(there)}'")
    start += len(there) - len(there.lstrip())
    return start, start + len(there.strip())
