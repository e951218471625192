"""Everything that can go wrong, in one tree.

    MtlspecError            exit 1   base: a message, a place, a hint
    ├── SpecError           exit 2   E1xx  the spec, a card or an option says something wrong (E8xx: cards, corpora)
    ├── DataError           exit 3   E2xx  a data file is malformed, missing or changed (E7xx: a table, JSON, Arrow)
    ├── EncoderError        exit 3   E3xx  an encoder cannot be loaded or is not what its card says
    ├── StageError          exit 4   E4xx  a stage failed, or its inputs changed while it ran
    ├── IntegrityError      exit 5   E5xx  bytes on disk are not the bytes that were recorded
    └── SetupError          exit 6   E6xx  the machine or the project is not set up for this

New text and exported models have E53x (data errors) and E54x to E557 (what a command line asks for) of their own.
Several problems of one file travel together in a `Problems` group. Interrupted runs exit with 130.
Every class has one number range, every raise one number: `grep E103` finds the only place that says it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

_UNSEEN = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")


def visible(text: str) -> str:
    """A text that a terminal shows as it is: what would steer it (escapes, bells, directions of writing, halves of
    characters) is written out, such as `\\x1b`. Files, labels and names are others', and any of them may hold such."""
    return _UNSEEN.sub(lambda sign: ascii(sign[0])[1:-1], text) if _UNSEEN.search(text) else text


def visible_json(text: str) -> str:
    """The same for JSON, which means the same afterwards."""
    return _UNSEEN.sub(lambda sign: f"\\u{ord(sign[0]):04x}", text)


@dataclass(frozen=True, order=True)
class Place:
    """Where: a file (or an option such as `--set`), and 1-based line and column if known."""

    file: str
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        parts = [self.file]
        if self.line:
            parts.append(str(self.line))
            if self.column:
                parts.append(str(self.column))
        return ":".join(parts)


class MtlspecError(Exception):
    """One clear line: `place: error E103: message; hint`."""

    exit_code: ClassVar[int] = 1

    def __init__(self, code: str, message: str, place: Place | Path | None = None, hint: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.place = Place(str(place)) if isinstance(place, Path) else place
        self.hint = hint

    def __str__(self) -> str:
        where = f"{self.place}: " if self.place else ""
        hint = f"; {self.hint}" if self.hint else ""
        text = f"{where}error {self.code}: {self.message}{hint}"
        return visible(" ".join(text.split()))

    @property
    def problems(self) -> Sequence[MtlspecError]:
        return (self,)


class SpecError(MtlspecError):
    exit_code = 2


class DataError(MtlspecError):
    exit_code = 3
    lines: int = 1  # of a table that are lost with the row: more than one where a quote swallows them


class EncoderError(MtlspecError):
    exit_code = 3


class StageError(MtlspecError):
    exit_code = 4


class IntegrityError(MtlspecError):
    exit_code = 5


class SetupError(MtlspecError):
    exit_code = 6


class Problems(MtlspecError):  # noqa: N818  # a group, not one error
    """Several problems at once, in the order of their places."""

    def __init__(self, problems: Iterable[MtlspecError]) -> None:
        def order(problem: MtlspecError) -> tuple[str, int, int]:
            place = problem.place or Place("")
            return (place.file, place.line, place.column)

        self._problems = tuple(sorted((one for problem in problems for one in problem.problems), key=order))
        if not self._problems:
            raise ValueError("a group of problems needs at least one")
        first = self._problems[0]
        super().__init__(first.code, first.message, first.place, first.hint)
        # A group exits as its members do; where they differ, what is wrong with the spec comes before the rest.
        self.exit_code = min(problem.exit_code for problem in self._problems)  # type: ignore[misc]

    def __str__(self) -> str:
        return "\n".join(str(problem) for problem in self._problems)

    @property
    def problems(self) -> Sequence[MtlspecError]:
        return self._problems


def did_you_mean(word: str, known: Iterable[str]) -> str | None:
    """A hint that names the nearest known word, or the known words if they are few."""
    from difflib import get_close_matches

    names = sorted(known)
    close = get_close_matches(word, names, n=1, cutoff=0.6)
    if close:
        return f"did you mean '{close[0]}'?"
    if names and len(names) <= 12:
        return "known: " + ", ".join(names)
    return None
