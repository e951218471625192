"""The files of a card as they lie on disk: single ones, lists, whole folders and patterns, always in one order."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from mtlspec.errors import DataError, Place
from mtlspec.spec.cards import DataCard, FileGroup, is_pattern


def card_files(card: DataCard, root: Path) -> tuple[str, ...]:
    """Every file of a card, relative to its root; a file named in the card is listed even if it is missing."""
    found = {path for group in card.files for split in group.paths for path in split_files(card, group, root, split)}
    return tuple(sorted(found, key=_order))


def split_files(card: DataCard, group: FileGroup, root: Path, split: str) -> list[str]:
    """The files of one split of a group, in the order they are read: as listed, and sorted within an entry."""
    found: list[str] = []
    for entry in group.entries(split):
        matched = _matching(root, entry)
        if not matched:
            message = f"no file of '{card.name}' matches the {split} entry '{entry}'"
            place = root if card.generator is None else Place(card.name)  # generated files lie anywhere
            raise DataError("E255", message, place, "see `paths` of the card")
        twice = sorted(set(matched) & set(found))
        if twice:
            message = f"the {split} files of '{card.name}' name '{twice[0]}' twice"
            raise DataError("E256", message, Place(card.name), "see `paths` of the card")
        found += matched
    return found


def _matching(root: Path, entry: str) -> list[str]:
    """Files for one entry of a card. Hidden files are never data: editors and file managers leave them."""
    if is_pattern(entry):
        matched = [path for path in root.glob(entry.rstrip("/")) if path.is_file()]
    elif (root / entry).is_dir():
        matched = [path for path in (root / entry).rglob("*") if path.is_file()]
    else:
        return [str(PurePosixPath(entry))]
    names = (path.relative_to(root).as_posix() for path in matched)
    return sorted((name for name in set(names) if not _hidden(name)), key=_order)


def _hidden(name: str) -> bool:
    return any(part.startswith(".") for part in PurePosixPath(name).parts)


def _order(name: str) -> tuple[str, ...]:
    """Folder by folder, so that parallel folders with other endings have their files in the same order."""
    return PurePosixPath(name).parts
