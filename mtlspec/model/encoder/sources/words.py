"""Whole words: the vocabulary of the experiment's own corpora, with word vectors from a file where one is named.

Every word of every split is an entry, so that an encoder can spell what it is evaluated on. A word has a vector if a
training split has it, or the file; all others share one. A word that no split has is read letter by letter.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import Field

from mtlspec.spec.card_families import SourceOptions
from mtlspec.spec.families import Sha256

if TYPE_CHECKING:
    from mtlspec.model.encoder.request import Request


class Options(SourceOptions):
    learns_from_data: ClassVar[bool] = True
    learns_from_all: ClassVar[bool] = True
    type: Literal["words"]
    vectors: str | None = Field(
        default=None,
        description="A text file in GloVe's layout, a word and its numbers a line (`.gz` as well), relative to the "
        "project; `$NAME/sub` reads an environment variable. Default: word vectors are learnt.",
    )
    sha256: Sha256 | None = Field(default=None, description="Digest of the file of vectors.")
    lowercase: bool = Field(
        default=True, description="Whether words that differ in case alone share a vector; characters keep their case."
    )

    def about(self) -> str:
        return "the words of the spec's data" + (f", vectors of {self.vectors}" if self.vectors else "")

    def pins(self) -> Mapping[str, str]:
        return {} if self.vectors is None or self.sha256 is None else {self.vectors: self.sha256}

    def fetch(self, request: Request) -> dict[str, Any]:
        """Write the tokenizer, and which word has which vector; facts: words, vectors, how many come from the file."""
        from mtlspec.model.encoder.word_list import collect_words, rows_of, save_words
        from mtlspec.model.encoder.word_table import write_rows
        from mtlspec.model.encoder.word_vectors import laid_out, read_vectors

        words = collect_words(request)
        entries = save_words(words, request.out)
        known: dict[str, Any] = {}
        if self.vectors is not None:
            needed = {self.key(word) for word in words.all}
            known = read_vectors(_pinned(self.vectors, self.sha256, request), needed)
        learnt = {self.key(word) for word in words.train}
        row = {key: number for number, key in enumerate(sorted(learnt | known.keys()), 1)}
        vectors = laid_out(known, row) if self.vectors is not None else None
        write_rows(request.out, rows_of(entries, row, self.key), vectors)
        return {
            "words": {"train": len(words.train), "all": len(words.all)},
            "word vectors": {"learnt": len(row) - len(known), "of the file": len(known)},
        }

    def key(self, word: str) -> str:
        """What words that share a vector have in common."""
        return word.lower() if self.lowercase else word


def _pinned(name: str, pin: str | None, request: Request) -> Path:
    """The file of vectors, which must be the one that the card means."""
    from mtlspec.errors import EncoderError
    from mtlspec.io.digest import digest_file
    from mtlspec.model.encoder.pinned_files import check_digest

    told = os.path.expandvars(name)
    if "$" in told:
        raise EncoderError("E975", f"'{name}' names an environment variable that is not set", request.card_file)
    path = request.project_root / told
    if not path.is_file():
        raise EncoderError(
            "E976", "the file of word vectors is missing", path, "`vectors` of the encoder card names it"
        )
    digest = digest_file(path)
    if pin is None:
        hint = f"if it is the right one, add to the card's source: sha256: {digest}"
        raise EncoderError("E977", "the file of word vectors has no digest", path, hint)
    check_digest(path, digest, pin)
    return path
