"""Splits that share files: what a model is trained on must not choose or judge it."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import PurePosixPath

from mtlspec.errors import SpecError
from mtlspec.spec.cards import DataCard, is_pattern
from mtlspec.spec.nodes import Node
from mtlspec.spec.words import shorten


def check_splits(card: DataCard, node: Node) -> Iterator[SpecError]:
    """Entries of other splits that share files with an entry of train, as far as their texts tell.

    Where only the files can tell, `mtlspec.data.pins` asks them: `*train*` and `*dev*` need not overlap. That dev and
    test are the same is no error, because some corpora have only two splits.
    """
    trained = _Entries([entry for group in card.files for entry in group.entries("train")])
    for index, group in enumerate(card.files):
        for split in card.splits[1:]:
            for number, entry in enumerate(group.entries(split)):
                shared = trained.sharing(entry)
                if shared is None:
                    continue
                both = f"both name '{shorten(entry)}'"
                if shared != entry:
                    both = f"'{shorten(entry)}' and '{shorten(shared)}' overlap"
                place = node.near(("files", index, "paths", split, number)).place
                hint = f"name {split} files that no model is trained on"
                yield SpecError("E147", f"the splits 'train' and '{split}' share files: {both}", place, hint)


class _Entries:
    """The entries of a split, to be asked about many others."""

    def __init__(self, entries: list[str]) -> None:
        self.named = {PurePosixPath(entry): entry for entry in entries}
        self.above = {folder: path for path in self.named for folder in path.parents}

    def sharing(self, entry: str) -> str | None:
        """An entry that shares files with this one."""
        path = PurePosixPath(entry)
        if path in self.named:
            return self.named[path]
        around = next((folder for folder in path.parents if folder in self.named), None)
        if around is not None and not is_pattern(str(around)):
            return self.named[around]
        if path in self.above and not is_pattern(entry):
            return self.named[self.above[path]]
        covered = (other for named, other in self.named.items() if _covers(path, named) or _covers(named, path))
        return next(covered, None)


def _covers(pattern: PurePosixPath, path: PurePosixPath) -> bool:
    """Whether a pattern finds everything that a file's name or another pattern finds."""
    signs = str(pattern)
    if not is_pattern(signs):
        return False
    if is_pattern(str(path)) and ({"?", "["} & set(signs) or "**" in path.parts):
        return False  # they may or may not
    if not path.suffix:
        return False  # it may be a folder, which patterns do not look into
    return _matches(pattern.parts, path.parts)


def _matches(wanted: tuple[str, ...], parts: tuple[str, ...]) -> bool:
    """Whether a path has the form of a pattern; `**` stands for any number of folders, also for none."""
    reached = _past_folders({0}, wanted)  # how many parts of the pattern may be used up
    for part in parts:
        staying = {at for at in reached if at < len(wanted) and wanted[at] == "**"}
        moving = {at + 1 for at in reached - staying if at < len(wanted) and fnmatchcase(part, wanted[at])}
        reached = _past_folders(staying | moving, wanted)
    return len(wanted) in reached and wanted[-1:] != ("**",)


def _past_folders(reached: set[int], wanted: tuple[str, ...]) -> set[int]:
    """With what is reached by letting `**` stand for no folder."""
    found = set(reached)
    for start in reached:
        at = start
        while at < len(wanted) and wanted[at] == "**":
            at += 1
            found.add(at)
    return found
