"""Encoder: what reads a batch of sub-tokens. A kind of it is one file in `kinds/`."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import torch
from torch import Tensor, nn

from mtlspec.data.batching import Batch, Specials
from mtlspec.errors import EncoderError
from mtlspec.io.write import write_bytes, write_json
from mtlspec.kinds import options_class, parse
from mtlspec.model.encoder.states import Ends, States
from mtlspec.spec.encoders import DEFAULT, EncoderOptions
from mtlspec.spec.families import ENCODERS

if TYPE_CHECKING:
    from mtlspec.model.encoder.heads import Heads
    from mtlspec.model.encoder.places import Places

SETTINGS, WEIGHTS = "encoder.json", "model.safetensors"
TOKENIZER_FILES = ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json")


class Encoder(nn.Module):
    """Sub-tokens in, a vector of `width` for each sub-token, word and sentence out.

    A kind gives `hidden`, and what it has of `heads` and `places`; `limit` is the number of sub-tokens, special ones
    included, that it can read at once (None: any).
    """

    def __init__(self, options: EncoderOptions, specials: Specials, width: int, limit: int | None = None) -> None:
        super().__init__()
        self.options = options
        self.specials = specials
        self.width = width
        self.subword_dropout = options.subword_dropout
        if options.max_pieces is not None and limit is not None and options.max_pieces > limit:
            message = f"max_pieces is {options.max_pieces}, but the encoder reads at most {limit} sub-tokens"
            raise EncoderError("E309", message)
        self.max_pieces = options.max_pieces if options.max_pieces is not None else limit

    @abstractmethod
    def hidden(self, pieces: Tensor, mask: Tensor, types: Tensor | None = None) -> Tensor:
        """States of sub-tokens: pieces int64, mask bool, types int64 (token types), all [B, S] -> [B, S, D]."""

    def forward(self, batch: Batch) -> States:
        pieces = self.drop_subwords(batch) if self.training and self.subword_dropout > 0 else batch.pieces
        if batch.first_only and self.narrows(pieces.shape[1]):
            return States.of_first(self.first(pieces, batch.piece_mask, batch.types))
        hidden, windows = self.read(pieces, batch.piece_mask, batch.types, batch.repeated)
        ends = ends_of(hidden, batch.piece_mask)
        words = pool_words(hidden, batch.word_of_piece, batch.word_mask.shape[1])
        return States(words, ends.first, ends.last, hidden, self.causal, windows)

    def read(
        self, pieces: Tensor, mask: Tensor, types: Tensor | None = None, repeated: Tensor | None = None
    ) -> tuple[Tensor, Ends | None]:
        """`hidden`, and the ends of windows where it has read in several; they begin with `repeated` sub-tokens."""
        del repeated
        return self.hidden(pieces, mask, types), None

    def narrows(self, length: int) -> bool:
        """Whether `first` saves anything, for so many sub-tokens."""
        del length
        return False

    def first(self, pieces: Tensor, mask: Tensor, types: Tensor | None = None) -> Tensor:
        """The state of every example's first sub-token alone, without what only others need: [B, D]."""
        return self.hidden(pieces, mask, types)[:, 0]

    @property
    def architecture(self) -> str:
        """For people: what sort of encoder this is."""
        return self.options.type

    def drop_subwords(self, batch: Batch) -> Tensor:
        """Sub-tokens with a random share of them masked, never a special one: int64 [B, S]."""
        dropped = torch.rand(batch.pieces.shape, device=batch.pieces.device) < self.subword_dropout
        return batch.pieces.masked_fill(dropped & (batch.word_of_piece >= 0), self.specials.mask)

    @property
    def causal(self) -> bool:
        """Whether a sub-token sees only those before it."""
        return False

    @property
    def heads(self) -> Heads:
        """The attention heads; an error if there are none that can be reached."""
        self._lacks("E365", "attention heads")

    @property
    def places(self) -> Places:
        """Where modules can be put into the encoder; an error if it names no such places."""
        self._lacks("E366", "named places for further modules")

    def keep_layers(self, kept: Sequence[int]) -> None:
        """Leave only these layers, from 1 and ascending, before anything is built on it."""
        del kept
        self._lacks("E880", "layers to leave out")

    def per_row(self, tensor: Tensor) -> Tensor:
        """Values of examples [B, ...] -> of the rows that are in flight [R, ...], while the encoder computes.

        These are the examples themselves, or the windows that long ones were cut into.
        """
        return tensor

    @property
    def row_mask(self) -> Tensor:
        """Where the rows in flight have sub-tokens, bool [R, S]; an error while the encoder computes nothing."""
        self._lacks("E985", "rows in flight at the moment")

    @property
    def front_width(self) -> int:
        """Of the vectors that `fronted` takes."""
        return self.width

    def fronted(self, vectors: Tensor) -> AbstractContextManager[object]:
        """While it is open, vectors [B, front_width] stand in front of the examples, for a strategy to tell them apart.

        They are added to what the encoder would read first anyway: the special sub-token of every example and window.
        """

        def add(read: Tensor) -> Tensor:
            first = read[:, :1] + self.per_row(vectors).unsqueeze(1).to(read.dtype)
            return torch.cat([first, read[:, 1:]], 1)

        return self.places.after(self.places.embeddings, add)

    def _lacks(self, code: str, what: str) -> NoReturn:
        raise EncoderError(code, f"an encoder of type '{self.options.type}' has no {what}")

    @staticmethod
    def load(directory: str | Path, subword_dropout: float = 0.0, max_pieces: int | None = None) -> Encoder:
        """The encoder of a directory, in evaluation mode: a transformer with `config.json`, or what `save` wrote."""
        directory = Path(directory)
        if (directory / SETTINGS).is_file() and not (directory / "config.json").is_file():
            encoder = Encoder.empty(directory)
            encoder.load_state_dict(_read_weights(directory / WEIGHTS))
            return encoder
        settings = {"subword_dropout": subword_dropout, "max_pieces": max_pieces}
        options = parse(ENCODERS, EncoderOptions, {"type": DEFAULT, "card": "directory", **settings})
        return options.build(directory).eval()

    @staticmethod
    def empty(directory: Path) -> Encoder:
        """The same architecture from what `save_config` wrote; the weights come from a checkpoint of ours."""
        path = directory / SETTINGS
        try:
            settings = json.loads(path.read_bytes())
            specials = Specials(**settings.pop("specials"))
            kind = settings.pop("type", DEFAULT)  # older models say nothing: they are transformers
            options = options_class(ENCODERS, kind).model_validate({"type": kind, "card": "saved", **settings})
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            reason = f"{type(error).__name__}: {(str(error).splitlines() or [''])[0]}"
            raise EncoderError("E358", f"this is not a record of an encoder's settings ({reason})", path) from None
        assert isinstance(options, EncoderOptions)
        return options.rebuild(directory, specials).eval()

    def save_config(self, directory: Path) -> None:
        """Everything but the weights."""
        settings = self.options.model_dump(mode="json", exclude={"card"})
        write_json(directory / SETTINGS, {**settings, "max_pieces": self.max_pieces, "specials": asdict(self.specials)})

    def save(self, directory: str | Path, tokenizer: str | Path) -> None:
        """A directory that `load` reads: settings, weights, and the tokenizer files of another directory."""
        from safetensors.torch import save

        directory = Path(directory)
        copy_tokenizer(Path(tokenizer), directory)
        self.save_config(directory)
        weights = {name: value.detach().cpu().contiguous() for name, value in self.state_dict().items()}
        write_bytes(directory / WEIGHTS, save(weights, metadata={"format": "pt"}))


def _read_weights(path: Path) -> dict[str, Tensor]:
    from safetensors import SafetensorError
    from safetensors.torch import load

    try:
        weights: dict[str, Tensor] = load(path.read_bytes())
    except (OSError, SafetensorError) as error:
        raise EncoderError("E367", f"the weights cannot be read: {error}", path) from None
    return weights


def copy_tokenizer(source: Path, directory: Path) -> None:
    """The tokenizer files of an encoder's directory go with what is saved; an error if there are none."""
    if not (source / TOKENIZER_FILES[0]).is_file():
        hint = "name the directory of the encoder that the model was made of"
        raise EncoderError("E359", f"there is no {TOKENIZER_FILES[0]} to save with the model", source, hint)
    for name in TOKENIZER_FILES:
        if (source / name).is_file():
            write_bytes(directory / name, (source / name).read_bytes())


def ends_of(hidden: Tensor, mask: Tensor) -> Ends:
    """First and last of the sub-tokens that are there: hidden [B, S, D], mask bool [B, S]."""
    last = mask.sum(1, keepdim=True) - 1
    return Ends(hidden[:, 0], hidden.gather(1, last.unsqueeze(2).expand(-1, -1, hidden.shape[2])).squeeze(1))


def pool_words(hidden: Tensor, word_of_piece: Tensor, words: int) -> Tensor:
    """Mean of each word's sub-tokens: hidden [B, S, D], word_of_piece int64 [B, S] (-1: none) -> [B, W, D].

    A matrix product, because its backward pass adds up in a fixed order on every device.
    """
    belongs = word_of_piece.unsqueeze(1) == torch.arange(words, device=hidden.device).view(1, -1, 1)  # [B, W, S]
    weight = belongs.to(hidden.dtype)
    return torch.bmm(weight / weight.sum(2, keepdim=True).clamp(min=1), hidden)
