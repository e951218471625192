"""Brain data as users have them: a matrix of numbers in a file, its rows those of the sentences that were read."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mtlspec.analyses._similarity.representations import Floats
from mtlspec.errors import DataError, Place
from mtlspec.io.digest import digest_file

if TYPE_CHECKING:
    from mtlspec.analyses.task_similarity import BrainFile

_CELL = re.compile(r"[^,;\s]+")


def read_brain(said: BrainFile, root: Path, sentences: int, where: str) -> Floats:
    """float64 [sentences, voxels]; `where` names the sentences in messages, as `the split test of passages`."""
    path, place = root / said.file, Place(said.file)
    if not path.is_file():
        raise DataError("E890", "there is no such file of brain data", place, "correct `brain`")
    found = digest_file(path)
    if found != said.sha256:
        hint = f"if it is the right file, write `sha256: {found}`"
        raise DataError("E891", "the brain data are not those whose digest the spec has", place, hint)
    values = _binary(path, place) if path.suffix == ".npy" else _text(path, said.file)
    if len(values) != sentences:
        message = f"the brain data have {len(values)} rows, and {where} has {sentences} sentences"
        raise DataError("E895", message, place, "there must be a row for each sentence, in the same order")
    return values


def _binary(path: Path, place: Place) -> Floats:
    try:
        values = np.load(path, allow_pickle=False)
    except (ValueError, OSError, EOFError):
        raise _no_matrix("numpy cannot read it", place) from None
    if not isinstance(values, np.ndarray) or values.ndim != 2 or not values.size or values.dtype.kind not in "fiu":
        shape, kind = np.shape(values), getattr(values, "dtype", "several arrays")
        raise _no_matrix(f"it has the shape {list(shape)} and the type {kind}", place)
    wrong = np.argwhere(~np.isfinite(values))
    if len(wrong):
        row, column = (int(number) + 1 for number in wrong[0])
        raise _no_number(f"row {row}, column {column}", str(values[row - 1, column - 1]), place)
    return np.asarray(values, np.float64)


def _text(path: Path, name: str) -> Floats:
    """Numbers between commas, semicolons, tabs or blanks; blank lines are passed over."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError:
        raise _no_matrix("it is no text, and its name does not end in `.npy`", Place(name)) from None
    rows: list[Floats] = []
    for number, line in enumerate(lines, start=1):
        row = _numbers(line, name, number)
        if rows and len(row) not in (0, len(rows[0])):
            message = f"this line has {len(row)} numbers, and the first one has {len(rows[0])}"
            raise DataError("E894", message, Place(name, number), "every sentence needs a number for each voxel")
        if len(row):
            rows.append(row)
    if not rows:
        raise _no_matrix("it is empty", Place(name))
    return np.stack(rows)


def _numbers(line: str, name: str, number: int) -> Floats:
    cells = list(_CELL.finditer(line))
    try:
        row = np.array([cell[0] for cell in cells], np.float64)
    except ValueError:
        row = np.array([_number(cell[0]) for cell in cells])
    for cell, value in zip(cells, row, strict=True):
        if not np.isfinite(value):
            raise _no_number("this cell", cell[0], Place(name, number, cell.start() + 1))
    return row


def _number(cell: str) -> float:
    try:
        return float(cell)
    except ValueError:
        return float("nan")


def _no_matrix(why: str, place: Place) -> DataError:
    return DataError("E893", f"brain data are a matrix of numbers, and this file is none: {why}", place)


def _no_number(what: str, cell: str, place: Place) -> DataError:
    shown = cell if len(cell) <= 40 else f"{cell[:40]}..."
    return DataError("E892", f"{what} of the brain data is no number: '{shown}'", place, "no headings, names or gaps")
