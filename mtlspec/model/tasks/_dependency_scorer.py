"""Scores of dependency arcs and of their relations, by biaffine products of words (Dozat and Manning)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from mtlspec.model.biaffine import Biaffine, Mlp
from mtlspec.model.encoder.states import States

SLOPE = 0.1  # of the leaky rectifier


class DependencyScorer(nn.Module):
    """B sentences, W words, D features, R relations; the [CLS] state stands for ROOT, head number 0."""

    def __init__(self, width: int, arc_size: int, rel_size: int, relations: int, dropout: float) -> None:
        super().__init__()
        self.arc_dependent = Mlp(width, arc_size, dropout, SLOPE)
        self.arc_head = Mlp(width, arc_size, dropout, SLOPE)
        self.rel_dependent = Mlp(width, rel_size, dropout, SLOPE)
        self.rel_head = Mlp(width, rel_size, dropout, SLOPE)
        self.arc = Biaffine(arc_size, arc_size, 1, bias_left=True, bias_right=False)
        self.rel = Biaffine(rel_size, rel_size, relations, bias_left=True, bias_right=True)

    def arcs(self, states: States, mask: Tensor) -> Tensor:
        """Scores float32 [B, W, W + 1], dependent x head; -inf for heads outside mask bool [B, W]."""
        scores: Tensor = self.arc(self.arc_dependent(states.words), self.arc_head(_nodes(states)))
        heads = nn.functional.pad(mask, (1, 0), value=True)
        return scores.float().masked_fill(~heads.unsqueeze(1), float("-inf"))

    def relations(self, states: States, owner: Tensor, word: Tensor, head: Tensor) -> Tensor:
        """Scores float32 [M, R] of the relations of M arcs: sentence, dependent (0-based) and head, int64 [M] each.

        Only these pairs are scored: a table of all pairs and relations would be W times as large.
        """
        dependents, heads = self.rel_dependent(states.words), self.rel_head(_nodes(states))
        left = dependents.flatten(0, 1).index_select(0, owner * dependents.shape[1] + word)
        right = heads.flatten(0, 1).index_select(0, owner * heads.shape[1] + head)
        scores: Tensor = self.rel(left.unsqueeze(1), right.unsqueeze(1))
        return scores.view(len(word), self.rel.outputs).float()


def _nodes(states: States) -> Tensor:
    """ROOT and the words: [B, W + 1, D]."""
    return torch.cat([states.cls.unsqueeze(1), states.words], 1)
