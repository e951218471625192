"""Word vectors from a text file in GloVe's layout: a word and its numbers a line, one blank between them."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from mtlspec.errors import EncoderError, Place
from mtlspec.spec.words import shorten

Vector = npt.NDArray[np.float32]


def read_vectors(path: Path, words: Collection[str]) -> dict[str, Vector]:
    """The vectors of those words that the file has, float32 [D] each; of a word that stands twice, the first.

    Every line must have as many numbers as the first. word2vec's first line, the numbers of words and of dimensions, is
    passed over. A word may hold blanks, as some of GloVe's do.
    """
    wanted, found = set(words), dict[str, Vector]()
    size: int | None = None
    for number, line in _lines(path):
        cells = line.rstrip(" ").split(" ")
        if number == 1 and len(cells) == 2 and all(cell.isdecimal() for cell in cells):
            size = int(cells[1])
            continue
        if size is None:
            size = len(cells) - 1
        if size < 1 or len(cells) <= size:
            message = f"{max(len(cells) - 1, 0)} numbers follow the word, and {max(size, 1)} should"
            raise EncoderError("E978", message, Place(str(path), number), "is the file complete, in GloVe's layout?")
        word = " ".join(cells[:-size])
        if word in wanted and word not in found:
            found[word] = _numbers(cells[-size:], path, number)
    if size is None:
        raise EncoderError("E979", "there are no word vectors in this file", path)
    return found


def laid_out(vectors: Mapping[str, Vector], row: Mapping[str, int]) -> Tensor:
    """float32 [R, D], rows from 1: the vectors in their rows, not a number in all others."""
    size = len(next(iter(vectors.values()), ()))
    if not size:
        raise EncoderError("E980", "the file of word vectors has none of the words of the data")
    table = np.full((max(row.values()) + 1, size), np.nan, np.float32)
    for word, vector in vectors.items():
        table[row[word]] = vector
    return torch.from_numpy(table)


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    number = 0
    try:
        with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as stream:
            for number, line in enumerate(stream, 1):
                yield number, line.rstrip(b"\r\n").decode()
    except UnicodeDecodeError as error:
        message = f"this line is not UTF-8: {error.reason} at byte {error.start + 1}"
        raise EncoderError("E981", message, Place(str(path), number), "save the word vectors as UTF-8") from None
    except (OSError, EOFError, zlib.error) as error:
        raise EncoderError("E982", f"the file of word vectors cannot be read: {error}", path) from None


def _numbers(cells: list[str], path: Path, number: int) -> Vector:
    try:
        vector = np.array(cells, np.float32)
    except ValueError:
        vector = np.array([np.nan], np.float32)
    if not np.isfinite(vector).all():
        message = f"not a vector of numbers: {shorten(' '.join(cells))}"
        raise EncoderError("E983", message, Place(str(path), number))
    return vector
