"""Modules of graph-based parsers: perceptrons with shared dropout, and the biaffine product of pairs of words."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional


class SharedDropout(nn.Module):
    """Dropout whose mask is the same for all words of a sentence, so that a feature is there for all or for none."""

    def __init__(self, p: float) -> None:
        super().__init__()
        self.p = p

    def forward(self, words: Tensor) -> Tensor:
        """words [B, N, D]"""
        if not self.training or self.p == 0.0:
            return words
        mask = torch.empty(words.shape[0], 1, words.shape[2], dtype=words.dtype, device=words.device)
        return words * mask.bernoulli_(1 - self.p).div_(1 - self.p)

    def extra_repr(self) -> str:
        return f"p={self.p}"


class Mlp(nn.Module):
    """One linear layer, a leaky rectifier and shared dropout: [B, N, width_in] -> [B, N, width_out]."""

    def __init__(self, width_in: int, width_out: int, dropout: float, slope: float) -> None:
        super().__init__()
        self.linear = nn.Linear(width_in, width_out)
        self.activation = nn.LeakyReLU(slope)
        self.dropout = SharedDropout(dropout)
        nn.init.orthogonal_(self.linear.weight)
        nn.init.zeros_(self.linear.bias)

    def forward(self, words: Tensor) -> Tensor:
        result: Tensor = self.dropout(self.activation(self.linear(words)))
        return result


class Biaffine(nn.Module):
    """score[n, m] = left[n]ᵀ W right[m], a matrix W an output; a bias appends a one to the vectors of its side."""

    def __init__(self, left_width: int, right_width: int, outputs: int, bias_left: bool, bias_right: bool) -> None:
        super().__init__()
        self.outputs, self.bias_left, self.bias_right = outputs, bias_left, bias_right
        self.weight = nn.Parameter(torch.zeros(outputs, left_width + bias_left, right_width + bias_right))

    def forward(self, left: Tensor, right: Tensor) -> Tensor:
        """left [B, N, Dl], right [B, M, Dr] -> [B, N, M] for one output, else [B, N, M, O]"""
        if self.bias_left:
            left = functional.pad(left, (0, 1), value=1.0)
        if self.bias_right:
            right = functional.pad(right, (0, 1), value=1.0)
        batch, words, _ = left.shape
        by_output = self.weight.transpose(0, 1).reshape(left.shape[2], -1)  # [Dl, O * Dr]
        turned = (left @ by_output).view(batch, words * self.outputs, right.shape[2])
        scores = torch.bmm(turned, right.transpose(1, 2))  # [B, N * O, M]
        if self.outputs == 1:
            return scores
        return scores.view(batch, words, self.outputs, right.shape[1]).transpose(2, 3)

    def extra_repr(self) -> str:
        outputs, left, right = self.weight.shape
        return f"{left} x {right} -> {outputs}, bias_left={self.bias_left}, bias_right={self.bias_right}"
