"""The files beside a file that seem to be the other splits of its corpus."""

from __future__ import annotations

import re
from pathlib import Path

_WORDS = {
    "train": ("train", "training", "trn"),
    "dev": ("dev", "devel", "development", "valid", "validation", "val", "trial", "testa"),
    "test": ("test", "tst", "testb", "eval"),
}
_SPLIT_OF = {word: split for split, words in _WORDS.items() for word in words}
_WORD = re.compile(r"(?<![a-z])(" + "|".join(sorted(_SPLIT_OF, key=len, reverse=True)) + r")(?![a-z])", re.IGNORECASE)
_PART = re.compile(r"\d+-of-\d+")


def split_of(path: Path) -> str | None:
    """The split that a file's name speaks of, or its folder's."""
    folder = path.parent.name
    found = _WORD.findall(path.name) or ([folder] if _WORD.fullmatch(folder) else [])
    return _SPLIT_OF[found[-1].lower()] if found else None


def bare_name(path: Path) -> str:
    """The file's name without the word for its split, and without endings; empty if nothing is left."""
    stem = path.name.removesuffix(".gz")
    stem = stem.rsplit(".", 1)[0] if "." in stem and not _WORD.fullmatch(stem.rsplit(".", 1)[1]) else stem
    return re.sub(r"[^a-z0-9]+", "_", _PART.sub("", _WORD.sub("", stem)).lower()).strip("_")


def splits_beside(path: Path) -> dict[str, list[Path]]:
    """Split -> files, the given one among them; only names are looked at."""
    own = split_of(path)
    if own is None:
        return {"train": [path]}
    by_name = _WORD.search(path.name) is not None
    found: dict[str, list[Path]] = {}
    for other in sorted(_candidates(path, by_name)):
        split = split_of(other)
        if split is not None and _frame(other, by_name) == _frame(path, by_name):
            found.setdefault(split, []).append(other)
    if by_name:
        _look_wider(path, found)
    return {split: _one_corpus(found[split], path) for split in _WORDS if split in found}


def _candidates(path: Path, by_name: bool) -> list[Path]:
    if by_name:
        return [other for other in path.parent.iterdir() if other.is_file() and not other.name.startswith(".")]
    return [other for folder in path.parent.parent.iterdir() if (other := folder / path.name).is_file()]


def _frame(path: Path, by_name: bool) -> str:
    """What the names of a corpus's files have in common."""
    text = path.name if by_name else path.parent.name
    return _WORD.sub("*", _PART.sub("#", text)).lower()


def _look_wider(path: Path, found: dict[str, list[Path]]) -> None:
    """A split whose only file is called a little differently, such as `dev_matched.tsv` beside `train.tsv`."""
    for split in _WORDS:
        if split not in found:
            others = [
                other
                for other in sorted(path.parent.iterdir())
                if other.is_file() and other.suffix == path.suffix and split_of(other) == split
            ]
            if len(others) == 1:
                found[split] = others


def _one_corpus(files: list[Path], given: Path) -> list[Path]:
    """Parts of one split belong together; other files of the same frame do not."""
    parts = [file for file in files if _PART.search(file.name)]
    return parts or ([given] if given in files else files[:1])
