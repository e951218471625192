"""From the states of an example to scores of where an answer starts and ends."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from mtlspec.data.batching import Batch
from mtlspec.model.encoder.states import States
from mtlspec.model.tasks._pooled_head import pooled


class SpanHead(nn.Module):
    """Two scores for every sub-token of the second text and, in the place of the first sub-token, for no answer."""

    def __init__(self, width: int, dropout: float, no_answer: bool) -> None:
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.scores = nn.Linear(width, 2)
        self._no_answer = no_answer

    def forward(self, states: States, batch: Batch) -> Tensor:
        """float32 [B, S, 2], minus infinity where nothing can start or end."""
        vectors, possible = states.pieces, batch.word_of_piece == 1
        if self._no_answer:
            none = pooled(states, batch, "auto").unsqueeze(1)  # of a text in several windows, the mean over them
            vectors = torch.cat([none, vectors[:, 1:]], 1)
            possible = torch.cat([torch.ones_like(possible[:, :1]), possible[:, 1:]], 1)
        scores: Tensor = self.scores(self.dropout(vectors)).float()
        return scores.masked_fill(~possible.unsqueeze(2), -torch.inf)
