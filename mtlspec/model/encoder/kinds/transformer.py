"""A pre-trained transformer of the card, of any architecture that transformers knows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

from mtlspec.spec.encoders import EncoderOptions

if TYPE_CHECKING:
    from mtlspec.data.batching import Specials
    from mtlspec.model.encoder.transformer import Transformer


class Options(EncoderOptions):
    has_heads: ClassVar[bool] = True
    reads_weights: ClassVar[bool] = True

    type: Literal["transformer"] = "transformer"

    def build(self, directory: Path) -> Transformer:
        from mtlspec.data.tokenizer import read_specials
        from mtlspec.model.encoder.loading import load_model
        from mtlspec.model.encoder.transformer import Transformer

        return Transformer(load_model(directory), self, read_specials(directory))

    def rebuild(self, directory: Path, specials: Specials) -> Transformer:
        from mtlspec.model.encoder.loading import build_model, load_config
        from mtlspec.model.encoder.transformer import Transformer

        return Transformer(build_model(load_config(directory)), self, specials)
