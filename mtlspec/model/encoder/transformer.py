"""Transformer: an encoder of transformers' behind our interface."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from inspect import signature
from pathlib import Path
from typing import Any

from torch import Tensor, nn

from mtlspec.data.batching import Specials
from mtlspec.data.length_limit import length_limit
from mtlspec.io.write import write_json
from mtlspec.model.encoder.encoder import Encoder, copy_tokenizer, ends_of
from mtlspec.model.encoder.families import FAMILIES
from mtlspec.model.encoder.first import can_narrow, narrowed
from mtlspec.model.encoder.heads import Heads
from mtlspec.model.encoder.layers import keep_layers
from mtlspec.model.encoder.loading import config_values, save_model
from mtlspec.model.encoder.places import Places
from mtlspec.model.encoder.states import Ends
from mtlspec.model.encoder.windows import Windows, cut
from mtlspec.spec.encoders import EncoderOptions


class Transformer(Encoder):
    """`model` is the transformers module itself, `config` its config."""

    def __init__(self, model: nn.Module, options: EncoderOptions, specials: Specials) -> None:
        config: Any = model.config
        super().__init__(options, specials, config.hidden_size, length_limit(model, config))
        self.model = model
        self.config = config
        self._heads: Heads | None = None
        self._places: Places | None = None
        self._windows: Windows | None = None  # set while the rows of the model's input are windows
        self._row_mask: Tensor | None = None  # set while the model computes
        named = signature(model.forward).parameters
        self._typed = "token_type_ids" in named and getattr(config, "type_vocab_size", 0) > 1

    @property
    def causal(self) -> bool:
        family = FAMILIES.get(self.config.model_type)  # others can be trained as well, without their heads
        return family is not None and family.causal

    @property
    def architecture(self) -> str:
        return str(self.config.model_type)

    @property
    def heads(self) -> Heads:
        """The attention heads; an error if the family is not supported."""
        if self._heads is None:
            self._heads = Heads(self.model, self.config)
        return self._heads

    @property
    def places(self) -> Places:
        if self._places is None:
            self._places = Places(self.model, self.config)
        return self._places

    def keep_layers(self, kept: Sequence[int]) -> None:
        keep_layers(self.model, self.config, self.places, kept)
        self._heads = self._places = None  # to be looked for again

    def hidden(self, pieces: Tensor, mask: Tensor, types: Tensor | None = None) -> Tensor:
        """Last-layer states, whatever the length: longer ones than the model reads go through it in windows."""
        return self.read(pieces, mask, types)[0]

    def read(
        self, pieces: Tensor, mask: Tensor, types: Tensor | None = None, repeated: Tensor | None = None
    ) -> tuple[Tensor, Ends | None]:
        if self.max_pieces is None or pieces.shape[1] <= self.max_pieces:
            return self._transform(pieces, mask, types), None
        windows = cut(pieces, mask, self.max_pieces, self.specials, repeated)
        with self._windowed(windows):
            own = None if types is None else windows.of_pieces(types)
            states = self._transform(windows.pieces, windows.mask, own)
        ends = Ends(*(windows.mean(end, len(pieces)) for end in ends_of(states, windows.mask)))
        return windows.stitch(states), ends

    def narrows(self, length: int) -> bool:
        """Where the family allows it, nobody looks into heads, and everything is read at once."""
        fits = self.max_pieces is None or length <= self.max_pieces
        return fits and can_narrow(self.config) and not self.heads.active

    def first(self, pieces: Tensor, mask: Tensor, types: Tensor | None = None) -> Tensor:
        with narrowed(self.config, self.places, self.heads.sites[-1]):
            return self._transform(pieces, mask, types)[:, 0]

    def per_row(self, tensor: Tensor) -> Tensor:
        return tensor if self._windows is None else tensor.index_select(0, self._windows.rows)

    @property
    def row_mask(self) -> Tensor:
        return super().row_mask if self._row_mask is None else self._row_mask

    @contextmanager
    def _windowed(self, windows: Windows) -> Iterator[None]:
        self._windows = windows
        try:
            if self._heads is None:
                yield
            else:
                with self._heads.windowed(windows):
                    yield
        finally:
            self._windows = None

    def _transform(self, pieces: Tensor, mask: Tensor, types: Tensor | None) -> Tensor:
        given = {"token_type_ids": types} if types is not None and self._typed else {}
        self._row_mask = mask
        try:
            states: Tensor = self.model(input_ids=pieces, attention_mask=mask, **given).last_hidden_state
        finally:
            self._row_mask = None
        return states

    def save_config(self, directory: Path) -> None:
        super().save_config(directory)
        write_json(directory / "config.json", config_values(self.config))

    def save(self, directory: str | Path, tokenizer: str | Path) -> None:
        """An encoder directory like any other: config, weights, and the tokenizer files of another directory."""
        copy_tokenizer(Path(tokenizer), Path(directory))
        save_model(self.model, self.config, Path(directory))
