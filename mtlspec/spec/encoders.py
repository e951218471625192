"""Encoders: what a spec says of the encoder, whatever its kind."""

from __future__ import annotations

from abc import abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

from pydantic import Field

from mtlspec.kinds import OneOf, Options
from mtlspec.spec.cards import EncoderCard, Name
from mtlspec.spec.families import ENCODERS

if TYPE_CHECKING:
    from mtlspec.data.batching import Specials
    from mtlspec.model.encoder.encoder import Encoder

DEFAULT = "transformer"


class EncoderOptions(Options):
    """What reads the sub-tokens of the card's tokenizer and gives a vector for each; `transformer` unless `type` says
    otherwise."""

    has_heads: ClassVar[bool] = False  # True: it has attention heads that can be gated, captured and removed
    reads_weights: ClassVar[bool] = False  # True: the card must bring weights, not a tokenizer alone

    card: Name | EncoderCard = Field(description="A card in `registry/encoders`, or an inline card.")
    subword_dropout: Annotated[float, Field(ge=0, lt=1)] = Field(
        default=0.2, description="Share of sub-tokens replaced by [MASK] in training; special tokens never are."
    )
    data: Name | None = Field(
        default=None,
        description="The corpus that the encoder is pre-trained on, where its source learns from data. Default: the "
        "only one; a source that collects words takes all.",
    )
    max_pieces: Annotated[int, Field(ge=8)] | None = Field(
        default=None,
        description="Length limit in sub-tokens; longer sentences use a sliding window. Default: the encoder's.",
    )
    long_text: Literal["error", "window", "longest_first", "only_second"] = Field(
        default="error",
        description="What to do with raw text over the length limit: stop, read it in a sliding window, or cut the "
        "longer segment, or the second one. What is cut is counted in the report.",
    )

    def reading(self) -> dict[str, Any]:
        """What decides how raw text becomes sub-tokens."""
        return {"max_pieces": self.max_pieces, "long_text": self.long_text}

    @abstractmethod
    def build(self, directory: Path) -> Encoder:
        """The encoder at the start of a training, from an encoder artifact: with its weights, or with weights drawn
        from torch's global generator."""

    def rebuild(self, directory: Path, specials: Specials) -> Encoder:
        """The same architecture from what `Encoder.save_config` wrote, beside the tokenizer's files; the weights come
        from a checkpoint."""
        del specials
        return self.build(directory)

    def named(self) -> Self:
        """The same, with the name of its card in place of an inline one."""
        return self.model_copy(update={"card": self.card if isinstance(self.card, str) else self.card.name})

    def of_training(self) -> dict[str, Any]:
        """The parameters of trainings: all but what decides about data."""
        return self.named().model_dump(mode="json", exclude={"data", "long_text"})

    def of_weights(self) -> dict[str, Any]:
        """The parameters of the stage that makes or fetches weights: only what can change them."""
        return self.named().model_dump(mode="json", exclude=set(EncoderOptions.model_fields) - {"type", "card"})


AnEncoder = Annotated[EncoderOptions, OneOf(ENCODERS, DEFAULT)]
"""The type of a field that holds the options of an encoder."""
