"""What an encoder computes on its way: the outputs of embeddings and layers, and attention scores."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

import torch
from torch import Tensor

from mtlspec.model.encoder.encoder import Encoder


@dataclass
class Inside:
    """Of the last forward pass; R rows are examples, or the windows that long ones were read in."""

    mask: Tensor | None = None  # bool [R, S]: where there are sub-tokens
    states: dict[int, Tensor] = field(default_factory=dict)  # [R, S, D] behind layer 1, 2 ...; behind the embeddings: 0
    scores: dict[int, Tensor] = field(default_factory=dict)  # [R, H, S, S] of layer 1, 2 ..., before any mask

    @property
    def tokens(self) -> Tensor:
        assert self.mask is not None, "nothing was encoded"
        return self.mask

    @property
    def pairs(self) -> Tensor:
        """Queries and keys that are there, bool [R, 1, S, S]."""
        return (self.tokens.unsqueeze(2) & self.tokens.unsqueeze(1)).unsqueeze(1)


@contextmanager
def inside(encoder: Encoder, states: bool, scores: bool) -> Iterator[Inside]:
    """Look into an encoder while it computes."""
    found = Inside()
    with ExitStack() as open_:
        if states or scores:
            places = encoder.places
            for number, place in enumerate((places.embeddings, *places.layers)):
                open_.enter_context(places.after(place, _note(encoder, found, number)))
        if scores:
            captured = open_.enter_context(encoder.heads.captured(attention=False, contexts=False, scores=True))
        yield found
        if scores:
            found.scores = {layer + 1: own for layer, own in enumerate(captured.scores)}


def _note(encoder: Encoder, found: Inside, number: int) -> Callable[[Tensor], Tensor]:
    """Keeps what comes out of a place, and leaves it as it is."""

    def keep(output: Tensor) -> Tensor:
        found.states[number], found.mask = output, encoder.row_mask
        return output

    return keep


def mean_square(ours: Tensor, theirs: Tensor, there: Tensor) -> Tensor:
    """The mean of squared differences [] where `there` (broadcast to both) is true."""
    squares = (ours.float() - theirs.float()) ** 2
    where = there.expand_as(squares)
    return torch.where(where, squares, 0.0).sum() / where.sum()
