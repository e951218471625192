"""Two-layer biGRUs over words and their characters: an encoder without attention that learns from the task's data."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from mtlspec.spec.encoders import EncoderOptions

if TYPE_CHECKING:
    from mtlspec.model.encoder.birnn import BiRnn

Positive = Annotated[int, Field(ge=1)]
Share = Annotated[float, Field(ge=0, lt=1)]


class Options(EncoderOptions):
    """A token is what the card's tokenizer makes of a word: the word itself with a card of source `words`."""

    type: Literal["birnn"]
    subword_dropout: Share = Field(
        default=0.0, description="Share of words replaced by [MASK] in training; special tokens never are."
    )
    word_size: Positive = Field(
        default=50, description="Of a word's vector; a file of word vectors must have this size."
    )
    char_size: Positive = Field(default=25, description="Of a character's vector.")
    char_hidden: Positive = Field(default=25, description="State of the character biGRU in each direction.")
    hidden: Positive = Field(default=300, description="State of the word biGRU in each direction.")
    layers: Positive = Field(default=2, description="Of both biGRUs.")
    char_dropout: Share = Field(default=0.25, description="Between the layers of the character biGRU.")
    dropout: Share = Field(default=0.5, description="Between the layers of the word biGRU.")

    def build(self, directory: Path) -> BiRnn:
        from mtlspec.model.encoder.birnn import BiRnn
        from mtlspec.model.encoder.word_table import WordTable

        return BiRnn(self, WordTable.read(directory))
