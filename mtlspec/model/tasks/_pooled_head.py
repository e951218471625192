"""From the states of an example to its scores."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from mtlspec.data.batching import Batch
from mtlspec.errors import EncoderError
from mtlspec.model.encoder.states import States
from mtlspec.model.tasks._pooled import PooledOptions, Pooling


class PooledHead(nn.Module):
    """One vector an example, dropout, a hidden layer if there is one, and a linear layer."""

    def __init__(self, width: int, outputs: int, options: PooledOptions) -> None:
        super().__init__()
        self.pooling: Pooling = options.pooling
        self.dropout = nn.Dropout(options.dropout)
        self.hidden = nn.Linear(width, options.hidden) if options.hidden is not None else None
        self.scores = nn.Linear(options.hidden or width, outputs)

    def forward(self, states: States, batch: Batch) -> Tensor:
        """float32 [B, outputs]"""
        vectors = self.dropout(self.vectors(states, batch))
        if self.hidden is not None:
            vectors = self.dropout(torch.tanh(self.hidden(vectors)))
        scores: Tensor = self.scores(vectors)
        return scores.float()

    def vectors(self, states: States, batch: Batch) -> Tensor:
        """What stands for an example: [B, width]."""
        return pooled(states, batch, self.pooling)


def pooled(states: States, batch: Batch, pooling: Pooling) -> Tensor:
    """One vector an example: [B, D]."""
    if pooling == "auto":
        pooling = "last" if states.causal else "cls"
    if pooling == "mean":
        content = (batch.word_of_piece >= 0).to(states.pieces.dtype).unsqueeze(1)  # [B, 1, S]
        return torch.bmm(content / content.sum(2, keepdim=True).clamp(min=1), states.pieces).squeeze(1)
    if pooling == "cls" and states.causal:
        message = "this encoder reads from left to right: its first sub-token knows nothing of the text behind it"
        raise EncoderError("E371", message, hint="use `pooling: last`, or `mean`")
    return states.ends.first if pooling == "cls" else states.ends.last
