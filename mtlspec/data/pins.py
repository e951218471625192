"""Pins: the digests that a data card records, so that data cannot change in silence."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path

from mtlspec.data.files import card_files
from mtlspec.errors import DataError, MtlspecError, Problems
from mtlspec.io.digest import digest_file
from mtlspec.io.project import Project
from mtlspec.io.write import write_text_if_changed
from mtlspec.spec.cards import DataCard

_VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+))(.*)", re.DOTALL)
_PLAIN = re.compile(r"[A-Za-z][\w./-]*")


def resolve_root(card: DataCard, project: Project) -> Path:
    """The folder of a card's files: below the project, or where an environment variable points."""
    if card.root is None:
        raise DataError("E260", f"the files of '{card.name}' are made by a generator: it has no root")
    root = Path(card.root)
    if match := _VARIABLE.fullmatch(card.root):
        name, rest = match[1] or match[2], match[3].lstrip("/")
        value = os.environ.get(name, "")
        if not value:
            hint = f"set {name} to the folder of the data"
            raise DataError("E261", f"the root of '{card.name}' is {card.root}, but {name} is not set", hint=hint)
        root = Path(value) / rest
    root = project.root / root
    if not root.is_dir():
        raise DataError("E262", f"the folder of the data card '{card.name}' does not exist", root)
    return root


def locked(card: DataCard, root: Path) -> dict[str, str]:
    """Path -> sha256 of every file of a card, as they are now."""
    return {path: _digest(card, root, path) for path in card_files(card, root)}


def check_pins(card: DataCard, root: Path, card_file: Path) -> None:
    """Every file is there and has its recorded digest; all that do not are named at once.

    A recorded file that is gone is one of them: a pattern would no longer find it.
    """
    problems: list[MtlspecError] = []
    gone = (path for path in card.sha256 if not (root / path).is_file())
    for path in sorted({*card_files(card, root), *gone}):
        try:
            _check_pin(card, root, path, card_file)
        except DataError as problem:
            problems.append(problem)
    if problems:
        raise problems[0] if len(problems) == 1 else Problems(problems)


def _check_pin(card: DataCard, root: Path, path: str, card_file: Path) -> None:
    found, recorded = _digest(card, root, path), card.sha256.get(path)
    where, remedy = card_file.name, f"`mtlspec data lock {card.name}`"
    if not card_file.is_file():
        where, remedy = "the card in the spec", f"write `{path}: {found}` under its `sha256`"
    if recorded is None:
        raise DataError("E264", f"{where} records no sha256 for this file, found {found}", root / path, remedy)
    if recorded != found:
        message = f"the data file changed: recorded sha256 {recorded}, found {found}"
        raise DataError("E265", message, root / path, f"if the change is meant: {remedy}")


def _digest(card: DataCard, root: Path, path: str) -> str:
    if not (root / path).is_file():
        recorded = card.sha256.get(path, "none")
        raise DataError(
            "E263", f"a file of '{card.name}' is missing: recorded sha256 {recorded}, found none", root / path
        )
    return digest_file(root / path)


def lock_card(card_file: Path, digests: Mapping[str, str]) -> bool:
    """Replace the `sha256` block of a card and nothing else; says whether the file changed."""
    before, after = _around_block(card_file.read_text("utf-8").splitlines())
    block = ["sha256:", *(f"  {_key(path)}: {digest}" for path, digest in sorted(digests.items()))]
    return write_text_if_changed(card_file, "\n".join([*before, *block, *after]) + "\n")


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


def _key(path: str) -> str:
    return path if _PLAIN.fullmatch(path) else json.dumps(path, ensure_ascii=False)
