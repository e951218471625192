"""JSON lines with a question and its choices: every choice is an example, beside the question as a second text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from pydantic import Field

from mtlspec.data.blocks import Block
from mtlspec.data.choices import Choice
from mtlspec.data.readers._json import field
from mtlspec.data.readers._several import Record, Row, SeveralOptions
from mtlspec.errors import DataError
from mtlspec.kinds import Sequence_
from mtlspec.spec.words import show

_LONGEST_NUMBER = 9  # digits: no question has as many choices


class Options(SeveralOptions):
    """For HellaSwag: `{question: [ctx], choices: [endings], right: label}`; for SWAG: `{question: [sent1, sent2],
    choices: [ending0, ending1, ending2, ending3], right: label}`."""

    type: Literal["choices"]
    question: Sequence_[str] = Field(
        min_length=1, description="Fields that are the question, by dotted names; several are joined by a blank."
    )
    choices: Sequence_[str] = Field(
        min_length=1, description="The field that holds the list of choices, or a field for each of them."
    )
    right: str = Field(description="The field with the number of the right choice, counted from 0.")
    id: str | None = Field(default=None, description="Where the question's name stands; default: its texts.")

    def column_names(self) -> tuple[str, ...]:
        return ("choice",)

    def named_by(self, column: str) -> str:
        del column
        return f"`right: {self.right}` of the reader"

    def rows(self, found: Record, wrong: list[str]) -> Iterator[Row]:
        record = dict(found)
        parts = [field(record, place) for place in self.question]
        first = " ".join(part for part in parts if isinstance(part, str) and part.strip())
        if not first:
            wrong.append(f"'{self.question[0]}' must be a text, not {show(parts[0])}")
        answers = self._answers(record, wrong)
        right = self._right(record, len(answers), wrong)
        said = None if self.id is None else field(record, self.id)
        question = str(said) if said is not None else f"{first} {' '.join(answers)}"
        for number, answer in enumerate(answers):
            value = None if right is None else Choice(question, answer, float(number == right))
            yield Row(f"{said}/{number}" if said is not None else "", (first, answer), value)

    def _answers(self, record: dict[str, Any], wrong: list[str]) -> list[str]:
        """All of them, those that are no texts as they would be shown."""
        found = [field(record, place) for place in self.choices]
        if len(found) == 1:
            (found,) = found if isinstance(found[0], list) else ([found[0]],)
        if len(found) < 2:
            given = f"not {show(found[0])}" if found else "not an empty list"
            wrong.append(f"'{self.choices[0]}' must give two texts or more, {given}")
        for number, one in enumerate(found if len(found) > 1 else ()):
            if not (isinstance(one, str) and one.strip()):
                wrong.append(f"choice {number} (counted from 0) must be a text, not {show(one)}")
        return [one if isinstance(one, str) else show(one) for one in found]

    def _right(self, record: dict[str, Any], count: int, wrong: list[str]) -> int | None:
        said = field(record, self.right)
        if said is None or said == "":
            return None
        text = str(said)
        number = int(text) if text.isascii() and text.isdigit() and len(text) <= _LONGEST_NUMBER else None
        if isinstance(said, bool) or number is None or (count > 1 and number >= count):
            last = f", 0 to {count - 1}" if count > 1 else ""
            wrong.append(f"'{self.right}' must be the number of a choice{last}, not {show(said)}")
        return number

    def malformed(self, why: str, block: Block) -> DataError:
        hint = "see `question`, `choices` and `right` of the reader"
        return DataError("E569", f"this is no question with choices: {why}", block.place(), hint)
