"""The encoder: sub-tokens in, one vector a word out."""

from __future__ import annotations

import json
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from mtlspec.data.batching import Batch, Specials
from mtlspec.data.tokenizer import read_specials
from mtlspec.errors import EncoderError
from mtlspec.io.write import write_bytes, write_json
from mtlspec.model.encoder.heads import Heads
from mtlspec.model.encoder.loading import (
    build_model,
    config_values,
    first_line,
    length_limit,
    load_config,
    load_model,
    save_model,
)
from mtlspec.model.encoder.states import States
from mtlspec.model.encoder.windows import cut

SETTINGS = "encoder.json"
TOKENIZER_FILES = ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json")


class Encoder(nn.Module):
    """A transformer behind a word-level interface; `model` is the transformers module itself."""

    def __init__(
        self, model: nn.Module, config: Any, specials: Specials, subword_dropout: float, max_pieces: int | None
    ) -> None:
        super().__init__()
        self.model = model
        self.config = config
        self.specials = specials
        self.subword_dropout = subword_dropout
        self.width: int = config.hidden_size
        limit = length_limit(model, config)
        if max_pieces is not None and limit is not None and max_pieces > limit:
            raise EncoderError("E309", f"max_pieces is {max_pieces}, but the encoder reads at most {limit} sub-tokens")
        self.max_pieces = max_pieces if max_pieces is not None else limit
        self._heads: Heads | None = None

    @property
    def heads(self) -> Heads:
        """The attention heads; an error if the family is not supported."""
        if self._heads is None:
            self._heads = Heads(self.model, self.config)
        return self._heads

    @classmethod
    def load(cls, directory: str | Path, subword_dropout: float = 0.0, max_pieces: int | None = None) -> Encoder:
        """The pre-trained encoder of an encoder artifact, in evaluation mode."""
        directory = Path(directory)
        model = load_model(directory)
        encoder = cls(model, model.config, read_specials(directory), subword_dropout, max_pieces)
        return encoder.eval()

    @classmethod
    def empty(cls, directory: Path) -> Encoder:
        """The same architecture from what `save_config` wrote; the weights come from a checkpoint of ours."""
        config = load_config(directory)
        path = directory / SETTINGS
        try:
            settings = json.loads(path.read_bytes())
            specials = Specials(**settings["specials"])
            subword_dropout, max_pieces = settings["subword_dropout"], settings["max_pieces"]
        except (OSError, ValueError, KeyError, TypeError) as error:
            reason = f"{type(error).__name__}: {first_line(error)}"
            raise EncoderError("E358", f"this is not a record of an encoder's settings ({reason})", path) from None
        return cls(build_model(config), config, specials, subword_dropout, max_pieces).eval()

    def save_config(self, directory: Path) -> None:
        """Everything but the weights."""
        write_json(directory / "config.json", config_values(self.config))
        settings = {
            "specials": asdict(self.specials),
            "subword_dropout": self.subword_dropout,
            "max_pieces": self.max_pieces,
        }
        write_json(directory / SETTINGS, settings)

    def save(self, directory: str | Path, tokenizer: str | Path) -> None:
        """An encoder directory like any other: config, weights, and the tokenizer files of another directory."""
        copy_tokenizer(Path(tokenizer), Path(directory))
        save_model(self.model, self.config, Path(directory))

    def forward(self, batch: Batch) -> States:
        pieces = self.drop_subwords(batch) if self.training and self.subword_dropout > 0 else batch.pieces
        hidden = self.hidden(pieces, batch.piece_mask)
        last = batch.piece_mask.sum(1, keepdim=True) - 1
        sep = hidden.gather(1, last.unsqueeze(2).expand(-1, -1, hidden.shape[2])).squeeze(1)
        words = pool_words(hidden, batch.word_of_piece, batch.word_mask.shape[1])
        return States(words, hidden[:, 0], sep, hidden)

    def hidden(self, pieces: Tensor, mask: Tensor) -> Tensor:
        """Last-layer states of sub-tokens: pieces int64 [B, S], mask bool [B, S] -> [B, S, D], whatever the length."""
        if self.max_pieces is None or pieces.shape[1] <= self.max_pieces:
            return self._transform(pieces, mask)
        windows = cut(pieces, mask, self.max_pieces, self.specials.pad)
        with self._heads.windowed(windows) if self._heads is not None else nullcontext():
            return windows.stitch(self._transform(windows.pieces, windows.mask))

    def drop_subwords(self, batch: Batch) -> Tensor:
        """Sub-tokens with a random share of them masked, never a special one: int64 [B, S]."""
        dropped = torch.rand(batch.pieces.shape, device=batch.pieces.device) < self.subword_dropout
        return batch.pieces.masked_fill(dropped & (batch.word_of_piece >= 0), self.specials.mask)

    def _transform(self, pieces: Tensor, mask: Tensor) -> Tensor:
        states: Tensor = self.model(input_ids=pieces, attention_mask=mask).last_hidden_state
        return states


def copy_tokenizer(source: Path, directory: Path) -> None:
    """The tokenizer files of an encoder's directory go with what is saved; an error if there are none."""
    if not (source / TOKENIZER_FILES[0]).is_file():
        hint = "name the directory of the encoder that the model was made of"
        raise EncoderError("E359", f"there is no {TOKENIZER_FILES[0]} to save with the model", source, hint)
    for name in TOKENIZER_FILES:
        if (source / name).is_file():
            write_bytes(directory / name, (source / name).read_bytes())


def pool_words(hidden: Tensor, word_of_piece: Tensor, words: int) -> Tensor:
    """Mean of each word's sub-tokens: hidden [B, S, D], word_of_piece int64 [B, S] (-1: none) -> [B, W, D].

    A matrix product, because its backward pass adds up in a fixed order on every device.
    """
    belongs = word_of_piece.unsqueeze(1) == torch.arange(words, device=hidden.device).view(1, -1, 1)  # [B, W, S]
    weight = belongs.to(hidden.dtype)
    return torch.bmm(weight / weight.sum(2, keepdim=True).clamp(min=1), hidden)
