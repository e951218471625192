"""WordTable: what an encoder that reads words and characters knows of every entry of its tokenizer's vocabulary."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor

from mtlspec.data.batching import Specials
from mtlspec.data.tokenizer import read_specials, read_tokenizer
from mtlspec.errors import EncoderError
from mtlspec.io.write import write_bytes

FILE = "words.safetensors"
UNKNOWN = 0  # row of every word that training does not have and no file of vectors knows; also a character of its own
_MARK = re.compile("^(?:##|\u0120|\u2581)(?=.)|(?<=.)</w>$")  # how tokenizers mark where in a word a piece stands


@dataclass(frozen=True)
class WordTable:
    """V entries of a vocabulary, R word vectors, K characters.

    rows int64 [V]: the word vector of each entry, several may share one; vectors float32 [R, D]: those that come from a
    file, not a number in the rows that are to be learnt; None where there is no file. letters int64 [total]: the
    characters of all entries end to end, from 1; starts int64 [V + 1].
    """

    specials: Specials
    rows: Tensor
    vectors: Tensor | None
    letters: Tensor
    starts: Tensor
    alphabet: int  # K, the unknown one included

    @property
    def count(self) -> int:
        """R"""
        return int(self.rows.max()) + 1

    @classmethod
    def read(cls, directory: Path) -> WordTable:
        """Of an encoder's directory: rows as `FILE` has them or, of any other tokenizer, one for each entry."""
        tokenizer, specials = read_tokenizer(directory), read_specials(directory)
        vocabulary = tokenizer.get_vocab(with_added_tokens=True)
        size = max(vocabulary.values(), default=-1) + 1
        texts = [""] * size
        for text, number in vocabulary.items():
            texts[number] = _MARK.sub("", text)
        for number in vars(specials).values():
            texts[number] = ""
        known = {letter: number for number, letter in enumerate(sorted(set("".join(texts))), 1)}
        letters = [[known[letter] for letter in text] or [UNKNOWN] for text in texts]
        ends = torch.tensor([len(word) for word in letters]).cumsum(0)
        flat = torch.tensor([letter for word in letters for letter in word])
        rows, vectors = torch.arange(size) + 1, None
        if (directory / FILE).is_file():
            rows, vectors = _read(directory / FILE, size)
        return cls(specials, rows, vectors, flat, torch.cat([torch.zeros(1, dtype=torch.int64), ends]), len(known) + 1)


def write_rows(directory: Path, rows: Tensor, vectors: Tensor | None = None) -> None:
    """`FILE`: rows int64 [V] and vectors float32 [R, D], the same bytes for the same values."""
    parts = {"rows": rows.cpu().contiguous(), **({} if vectors is None else {"vectors": vectors.contiguous()})}
    write_bytes(directory / FILE, save(parts))


def _read(path: Path, size: int) -> tuple[Tensor, Tensor | None]:
    try:
        parts: dict[str, Tensor] = load(path.read_bytes())
    except (OSError, SafetensorError) as error:
        raise EncoderError("E972", f"the words of the encoder cannot be read: {error}", path) from None
    rows, vectors = parts.get("rows"), parts.get("vectors")
    if rows is None or rows.shape != (size,) or (vectors is not None and len(vectors) <= int(rows.max())):
        raise EncoderError("E973", "the words of the encoder do not fit its tokenizer", path)
    return rows, vectors
