"""What is wrong with the files of a split, all of it at once, under names that their user knows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from mtlspec.data.malformed import Malformed
from mtlspec.data.pins import resolve_root
from mtlspec.data.sentence import Sentence
from mtlspec.errors import DataError, MtlspecError, Problems
from mtlspec.io.project import Project
from mtlspec.spec.cards import DataCard

NAMED = 20  # defects of a split; of the others only their number is told
_UNALIGNED = ("E253", "E297")  # to leave sentences out would hide that files do not belong together
_REMEDY = "leave such sentences out with `on_invalid: drop` in the card"


@dataclass
class Defects:
    """Malformed sentences of a split and all that is wrong with them, of which the first are kept."""

    card: str
    split: str
    sentences: int = 0
    count: int = 0
    first: list[MtlspecError] = field(default_factory=list)

    def add(self, sentence: DataError) -> None:
        """What is wrong with one of them."""
        self.sentences += 1
        self.count += len(sentence.problems)
        self.first += sentence.problems[: NAMED - len(self.first)]

    def error(self, end: DataError | None = None) -> MtlspecError:
        """All of them; `end` is what made the rest of the files unreadable, if anything did."""
        ends = [end] if end is not None else []
        if end is not None and not self.count:
            return end if len(end.problems) == 1 else Problems([end])
        if self.count + len(ends) == 1:
            return _with_remedy(self.first[0])
        shown = f"; the first {NAMED} are named" if self.count > NAMED else ""
        verb = "sentence is" if self.sentences == 1 else "sentences are"
        several = f", with {self.count:,} defects" if self.count > self.sentences else ""
        message = f"{self.sentences:,} {verb} malformed in the {self.split} files of '{self.card}'{several}{shown}"
        helps = any(defect.code not in _UNALIGNED for defect in self.first)
        hint = f"mend them, or {_REMEDY}" if helps else "their files do not have the same sentences"
        return Problems([DataError("E740", message, None, hint), *self.first, *ends])


def _with_remedy(defect: MtlspecError) -> MtlspecError:
    if defect.code in _UNALIGNED or (defect.hint is not None and "on_invalid" in defect.hint):
        return defect
    hint = _REMEDY
    if defect.hint:
        hint = f"{defect.hint} Or {_REMEDY}" if defect.hint.endswith("?") else f"{defect.hint}, or {_REMEDY}"
    return DataError(defect.code, defect.message, defect.place, hint)


def own_folder(card: DataCard, project: Project) -> str:
    """How messages name the folder of a card's files, wherever a copy of them is read."""
    if card.generator is not None:
        return card.name
    try:
        return str(resolve_root(card, project))
    except DataError:
        return card.root or card.name


def renamed(defect: DataError, path: Path, name: str) -> DataError:
    """The same defect, of a file that its user knows under another name."""
    told = [
        DataError(one.code, one.message, replace(one.place, file=name), one.hint)
        for one in defect.problems
        if one.place is not None and one.place.file == str(path)
    ]
    if len(told) < len(defect.problems):
        return defect
    return told[0] if len(told) == 1 else Malformed(told)


def check_splits(
    card: DataCard,
    root: Path,
    see: Callable[[str, Sentence], None] = lambda _split, _sentence: None,
) -> None:
    """Read everything once; an error that has all defects of all splits. `see` is told of every sentence."""
    from mtlspec.data.corpus import read_split

    problems: list[MtlspecError] = []
    held_out = card.hold_out.shares if card.hold_out is not None else {}
    for split in card.splits:
        if split in held_out and problems:
            continue  # its sentences come from the training files
        try:
            for sentence in read_split(card, root, split, []):
                see(split, sentence)
        except MtlspecError as error:
            problems.extend(error.problems)
    if problems:
        raise problems[0] if len(problems) == 1 else Problems(problems)
