"""Pins: the digests that a data card records, so that data cannot change in silence."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path

from mtlspec.data.files import card_files, split_files
from mtlspec.errors import DataError, MtlspecError, Place, Problems
from mtlspec.io.budget import Budget
from mtlspec.io.digest import digest_file
from mtlspec.io.project import Project
from mtlspec.io.write import write_text_if_changed
from mtlspec.spec.cards import DataCard
from mtlspec.spec.edit import plain_key

_VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+))(.*)", re.DOTALL)
_ROOT = re.compile(r"root\s*:\s*((?:['\"]?)([^'\"#]*?)['\"]?)\s*(?:\s#.*)?")


def resolve_root(card: DataCard, project: Project) -> Path:
    """The folder of a card's files: below the project, or where an environment variable points."""
    if card.root is None:
        raise DataError("E260", f"the files of '{card.name}' are made by a generator: it has no root")
    root = Path(card.root)
    if match := _VARIABLE.fullmatch(card.root):
        name, rest = match[1] or match[2], match[3].lstrip("/")
        value = os.environ.get(name, "")
        if not value:
            message = f"the root of '{card.name}' is {card.root}, but {name} is not set"
            raise DataError("E261", message, _root_place(card, project), f"set {name} to the folder of the data")
        root = Path(value) / rest
    root = project.root / root
    if not root.is_dir():
        message = f"the root of '{card.name}' is {card.root}, but there is no folder {root}"
        remedy = f"set {match[1] or match[2]} to another folder" if match else "correct `root`"
        raise DataError("E262", message, _root_place(card, project), f"put the data there, or {remedy}")
    return root


def _root_place(card: DataCard, project: Project) -> Place | None:
    """Where the card's file says the root; None for a card, or a root, that a spec or an override says."""
    file = project.data_cards / f"{card.name}.yaml"
    for number, line in enumerate(file.read_text("utf-8").splitlines() if file.is_file() else (), start=1):
        said = _ROOT.fullmatch(line)
        if said and said[2] == card.root:
            return Place(project.relative(file), number, said.start(1) + 1)
    return None


def locked(card: DataCard, root: Path) -> dict[str, str]:
    """Path -> sha256 of every file of a card, as they are now."""
    return {path: _digest(card, root, path) for path in card_files(card, root)}


def check_pins(card: DataCard, root: Path, card_file: Path, budget: Budget | None = None) -> None:
    """Every file is there and has its recorded digest; all that do not are named at once.

    A recorded file that is gone is one of them: a pattern would no longer find it. Nor may a file that is trained on
    belong to another split. Files over the budget need only be there and have a digest.
    """
    problems: list[MtlspecError] = [*_shared_files(card, root)]
    gone = (path for path in card.sha256 if not (root / path).is_file())
    for path in sorted({*card_files(card, root), *gone}):
        try:
            _check_pin(card, root, path, card_file, budget or Budget())
        except DataError as problem:
            problems.append(problem)
    if problems:
        raise problems[0] if len(problems) == 1 else Problems(problems)


def _shared_files(card: DataCard, root: Path) -> Iterator[DataError]:
    """Patterns, folders and links may lead to one file in two ways, which the card's text does not tell."""
    trained = {
        (root / path).resolve(): path for group in card.files for path in split_files(card, group, root, "train")
    }
    for group, split in product(card.files, card.splits[1:]):
        for path in split_files(card, group, root, split):
            other = trained.get((root / path).resolve())
            if other is not None:
                what = "this file" if other == path else f"this file, as '{other}'"
                message = f"the splits 'train' and '{split}' of '{card.name}' share {what}"
                hint = f"name {split} files that no model is trained on, under `paths` of the card"
                yield DataError("E266", message, _file_place(card, root, path), hint)


def _file_place(card: DataCard, root: Path, path: str) -> Place:
    """A file on disk by its path; a generated one as its card names it, because its folder goes away."""
    return Place(str(root / path) if card.generator is None else f"{card.name}/{path}")


def _check_pin(card: DataCard, root: Path, path: str, card_file: Path, budget: Budget) -> None:
    recorded = card.sha256.get(path)
    if recorded is not None and (root / path).is_file() and not budget.allows(root / path):
        return
    found = _digest(card, root, path)
    where, remedy = card_file.name, f"`mtlspec data lock {card.name}`"
    record = f"record it: {remedy}"
    if not card_file.is_file():
        where, remedy = "the card in the spec", f"write `{path}: {found}` under its `sha256`"
        record = remedy
    place = _file_place(card, root, path)
    if recorded is None:
        raise DataError("E264", f"{where} records no sha256 for this file, found {found}", place, record)
    if recorded != found:
        what = "the data file changed" if card.generator is None else "the generated file is not what the card recorded"
        message = f"{what}: recorded sha256 {recorded}, found {found}"
        raise DataError("E265", message, place, f"if the change is meant: {remedy}")


def _digest(card: DataCard, root: Path, path: str) -> str:
    if not (root / path).is_file():
        recorded = card.sha256.get(path, "none")
        message = f"a file of '{card.name}' is missing: recorded sha256 {recorded}, found none"
        put = "put it there, or " if card.generator is None else ""  # a generator makes what it makes
        remedy = "correct `paths` of the card" if path in card.paths else "take it out of the card's `sha256`"
        raise DataError("E263", message, _file_place(card, root, path), put + remedy)
    return digest_file(root / path)


def lock_card(card_file: Path, digests: Mapping[str, str]) -> bool:
    """Replace the `sha256` block of a card and nothing else; says whether the file changed."""
    return write_text_if_changed(card_file, pinned_text(card_file.read_text("utf-8"), digests))


def pinned_text(text: str, digests: Mapping[str, str]) -> str:
    """The text of a card with these digests as its `sha256` block."""
    before, after = _around_block(text.splitlines())
    block = ["sha256:", *(f"  {plain_key(path)}: {digest}" for path, digest in sorted(digests.items()))]
    return "\n".join([*before, *block, *after]) + "\n"


def _around_block(lines: list[str]) -> tuple[list[str], list[str]]:
    """The lines before and after the `sha256` block; without one, it goes to the end."""
    start = next((at for at, line in enumerate(lines) if re.match(r"sha256\s*:", line)), None)
    if start is None:
        return lines, []
    end = start + 1
    last = end
    while end < len(lines) and (not lines[end].strip() or lines[end][0] in " \t}"):
        end += 1
        last = end if lines[end - 1].strip() else last  # blank lines after the block are not its own
    return lines[:start], lines[last:]
