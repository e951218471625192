"""BiRnn: biGRUs over words and over their characters.

A token's vector is its word vector beside the last states of a biGRU over its characters; a biGRU over these reads the
sentence. Special sub-tokens are not read: in their places stands what the sentence as a whole gives, the last state of
both directions.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from mtlspec.errors import EncoderError
from mtlspec.model.encoder import bigru
from mtlspec.model.encoder.encoder import Encoder
from mtlspec.model.encoder.word_table import UNKNOWN, WordTable, write_rows
from mtlspec.structs.packing import Packing

if TYPE_CHECKING:
    from mtlspec.model.encoder.kinds.birnn import Options


class BiRnn(Encoder):
    """`words` are the word vectors, `chars` those of characters, `speller` and `reader` the two biGRUs."""

    def __init__(self, options: Options, table: WordTable) -> None:
        super().__init__(options, table.specials, 2 * options.hidden)
        self._token_size = options.word_size + 2 * options.char_hidden
        self.words = nn.Embedding(table.count, options.word_size)
        self.chars = nn.Embedding(table.alphabet, options.char_size)
        self.speller = _bigru(options.char_size, options.char_hidden, options.layers, options.char_dropout)
        self.reader = _bigru(self._token_size, options.hidden, options.layers, options.dropout)
        for name in ("rows", "letters", "starts"):
            self.register_buffer(name, getattr(table, name), persistent=False)
        self._front: Tensor | None = None
        self._draw(table.vectors)

    @property
    def front_width(self) -> int:
        return self._token_size

    @contextmanager
    def fronted(self, vectors: Tensor) -> Iterator[None]:
        """Vectors [B, front_width] are a first token of their own, whose state nobody gets to see."""
        self._front = vectors
        try:
            yield
        finally:
            self._front = None

    def hidden(self, pieces: Tensor, mask: Tensor, types: Tensor | None = None) -> Tensor:
        """pieces int64 [B, S], mask bool [B, S] -> [B, S, D]"""
        del types
        read = mask & ~torch.isin(pieces, pieces.new_tensor((self.specials.cls, self.specials.sep)))
        read[:, 0] |= ~read.any(1)  # an example of specials alone is read as its first one
        lengths = read.sum(1)
        order = (~read).int().argsort(dim=1, stable=True)[:, : int(lengths.max())]  # [B, N]: what is read comes first
        tokens, chosen = self._tokens(pieces, read)
        where = chosen.gather(1, order)
        if self._front is not None:
            own = torch.arange(len(pieces), device=pieces.device) + len(tokens)
            tokens, where = torch.cat([tokens, self._front]), torch.cat([own.unsqueeze(1), where], 1)
        packing = Packing.of(lengths + (where.shape[1] - order.shape[1]))
        rows = nn.functional.embedding(where.flatten()[packing.source], tokens)
        states = bigru.read(self.reader, rows, packing)
        return nn.functional.embedding(self._sources(read, packing), torch.cat([states, bigru.ends(states, packing)]))

    def _sources(self, read: Tensor, packing: Packing) -> Tensor:
        """Which state each sub-token gets, int64 [B, S]: its own or, where it is not read, what the sentence gives."""
        count, front = len(packing.source), int(self._front is not None)
        steps = len(packing.sizes)
        packed = torch.empty(len(read) * steps, dtype=torch.int64, device=read.device)
        packed[packing.source] = torch.arange(count, device=read.device)
        step = (read.cumsum(1) - 1 + front).clamp(min=0)  # where a token stands among those that are read
        own = packed.view(len(read), steps).gather(1, step)
        sentence = torch.arange(count, count + len(read), device=read.device)
        return own.where(read, sentence.unsqueeze(1))

    def _tokens(self, pieces: Tensor, read: Tensor) -> tuple[Tensor, Tensor]:
        """Of pieces int64 [B, S]: word vectors beside states of characters, each word once, [U, token size]; and which
        of them each piece is, int64 [B, S], anything where it is not read."""
        distinct, found = torch.unique(pieces[read], return_inverse=True)
        where = torch.zeros_like(pieces).masked_scatter_(read, found)
        starts, letters = self.get_buffer("starts"), self.get_buffer("letters")
        packing = Packing.of(starts[distinct + 1] - starts[distinct])
        step = torch.arange(len(packing.sizes), device=pieces.device)
        place = (starts[distinct].unsqueeze(1) + step).flatten()[packing.source]
        spelt = bigru.read(self.speller, self.chars(letters[place]), packing)
        rows = self.get_buffer("rows")[distinct]
        return torch.cat([self.words(rows), bigru.ends(spelt, packing)], 1), where

    def _draw(self, vectors: Tensor | None) -> None:
        """Vectors uniform in ±sqrt(3 / their size) where no file has them, matrices by Glorot, biases zero."""
        for table in (self.words, self.chars):
            bound = (3 / table.embedding_dim) ** 0.5
            nn.init.uniform_(table.weight, -bound, bound)
        for module in (self.speller, self.reader):
            for name, parameter in module.named_parameters():
                nn.init.zeros_(parameter) if "bias" in name else nn.init.xavier_uniform_(parameter)
        with torch.no_grad():
            self.words.weight[UNKNOWN] = 0.0
            if vectors is None:
                return
            if vectors.shape[1] != self.words.embedding_dim:
                message = (
                    f"the word vectors have {vectors.shape[1]} numbers, and `word_size` is {self.words.embedding_dim}"
                )
                raise EncoderError("E974", message, hint=f"write `word_size: {vectors.shape[1]}`, or name another file")
            given = ~vectors.isnan().any(1)
            self.words.weight[given] = vectors[given]

    def save_config(self, directory: Path) -> None:
        super().save_config(directory)
        write_rows(directory, self.get_buffer("rows"))


def _bigru(size: int, hidden: int, layers: int, dropout: float) -> nn.GRU:
    between = dropout if layers > 1 else 0.0
    return nn.GRU(size, hidden, layers, batch_first=True, bidirectional=True, dropout=between)
