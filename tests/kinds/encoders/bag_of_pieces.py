"""A toy encoder without attention: a sub-token's vector, and the mean of its sentence's."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from mtlspec.spec.encoders import EncoderOptions

if TYPE_CHECKING:
    from mtlspec.model.encoder.encoder import Encoder


class Options(EncoderOptions):
    type: Literal["bag_of_pieces"]
    size: int = Field(default=16, description="Width of a sub-token's vector.")

    def build(self, directory: Path) -> Encoder:
        import json

        from torch import Tensor, nn

        from mtlspec.data.tokenizer import read_specials
        from mtlspec.model.encoder.encoder import Encoder

        vocabulary = json.loads((directory / "tokenizer.json").read_bytes())["model"]["vocab"]

        class BagOfPieces(Encoder):
            def __init__(self, options: Options) -> None:
                super().__init__(options, read_specials(directory), 2 * options.size)
                self.vectors = nn.Embedding(len(vocabulary), options.size)

            def hidden(self, pieces: Tensor, mask: Tensor, types: Tensor | None = None) -> Tensor:
                """pieces int64 [B, S], mask bool [B, S] -> [B, S, D]"""
                import torch

                vectors = self.vectors(pieces) * mask.unsqueeze(2)
                mean = vectors.sum(1, keepdim=True) / mask.sum(1).view(-1, 1, 1)
                return torch.cat([vectors, mean.expand_as(vectors)], 2)

        return BagOfPieces(self)
