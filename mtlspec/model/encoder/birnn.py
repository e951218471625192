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
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from mtlspec.errors import EncoderError
from mtlspec.model.encoder.encoder import Encoder
from mtlspec.model.encoder.word_table import UNKNOWN, WordTable, write_rows

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
        place = read.cumsum(1) - 1  # [B, S]: where a token stands among those that are read
        lengths = read.sum(1)
        step = torch.arange(int(lengths.max()), device=pieces.device)
        order = (~read).int().argsort(dim=1, stable=True)[:, : len(step)]  # [B, N]: what is read comes first
        chosen = pieces.gather(1, order)
        tokens = self._tokens(
            chosen.where(step < lengths.unsqueeze(1), chosen[:, :1])
        )  # padding has no words of its own
        if self._front is not None:
            tokens, lengths = torch.cat([self._front.unsqueeze(1), tokens], 1), lengths + 1
        states, sentence = _run(self.reader, tokens, lengths)
        if self._front is not None:
            states = states[:, 1:]
        found = torch.cat([states, sentence.unsqueeze(1)], 1)
        source = place.masked_fill(~read, states.shape[1])
        return found.gather(1, source.unsqueeze(2).expand(-1, -1, self.width))

    def _tokens(self, pieces: Tensor) -> Tensor:
        """pieces int64 [B, N] -> word vectors beside states of characters [B, N, token size]; a word is spelt once."""
        distinct, where = torch.unique(pieces, return_inverse=True)
        starts, letters = self.get_buffer("starts"), self.get_buffer("letters")
        lengths = starts[distinct + 1] - starts[distinct]
        step = torch.arange(int(lengths.max()), device=pieces.device)
        place = (starts[distinct].unsqueeze(1) + step).clamp(max=len(letters) - 1)
        _, spelt = _run(self.speller, self.chars(letters[place]), lengths)
        rows = self.get_buffer("rows")[distinct]
        known = torch.cat([self.words(rows), spelt], 1)  # [U, token size]
        return nn.functional.embedding(where, known)

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


def _run(gru: nn.GRU, vectors: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
    """vectors [B, N, I] of lengths int64 [B] -> states [B, N, D], and the last of both directions [B, D]."""
    packed = pack_padded_sequence(vectors, lengths.cpu(), batch_first=True, enforce_sorted=False)
    states, last = gru(packed)
    padded, _ = pad_packed_sequence(states, batch_first=True)
    return padded, torch.cat([last[-2], last[-1]], 1)
