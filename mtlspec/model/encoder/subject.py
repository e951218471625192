"""An encoder under examination: a transformers model, its heads, and a batch."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from typing import Any

import torch
from torch import Tensor, nn

from mtlspec.model.encoder.heads import Heads


class Subject:
    """Works below the word level, so that encoders without [CLS] and [SEP] can be examined, too."""

    def __init__(self, model: nn.Module, config: Any, pieces: Tensor, mask: Tensor, seed: int = 0) -> None:
        self.model = model
        self.config = config
        self.pieces = pieces
        self.mask = mask
        self.seed = seed
        self.heads = Heads(model, config)

    def copy(self, dtype: torch.dtype) -> Subject:
        """The same encoder in another precision."""
        copied = deepcopy(self)
        copied.model.to(dtype)
        return copied

    def row(self, number: int) -> Subject:
        """The same encoder on one sentence, without its padding."""
        length = int(self.mask[number].sum())
        return self._on(self.pieces[number : number + 1, :length], self.mask[number : number + 1, :length])

    def repeated(self, rows: int) -> Subject:
        """The same encoder on so many times the same sentence."""
        return self._on(self.pieces.expand(rows, -1), self.mask.expand(rows, -1))

    def _on(self, pieces: Tensor, mask: Tensor) -> Subject:
        same = object.__new__(Subject)
        same.__dict__ = {**self.__dict__, "pieces": pieces, "mask": mask}
        return same

    def states(self) -> Tensor:
        """Last-layer states, zero on padding: [B, S, D]."""
        states: Tensor = self.model(input_ids=self.pieces, attention_mask=self.mask).last_hidden_state
        return states * self.mask.unsqueeze(2)

    def random_gates(self, seed: int = 0) -> Tensor:
        """Zeros and fractions [L, H]: every layer loses heads if it has two, and one in the middle loses all."""
        generator = torch.Generator().manual_seed(self.seed + seed)
        gates = 0.25 + torch.rand(self.heads.shape, generator=generator, dtype=torch.float64)
        for layer, count in enumerate(self.heads.counts):
            order = torch.randperm(count, generator=generator)
            gates[layer, order[: count // 2]] = 0
        filled = [layer for layer, count in enumerate(self.heads.counts) if count]
        if len(filled) > 1:
            gates[filled[len(filled) // 2]] = 0
        dtype = next(self.model.parameters()).dtype
        return gates.to(self.pieces.device, dtype)

    @contextmanager
    def implementation(self, name: str) -> Iterator[None]:
        """Another of transformers' attention functions."""
        before = self.config._attn_implementation
        self.config._attn_implementation = name
        try:
            yield
        finally:
            self.config._attn_implementation = before

    def traces(self) -> tuple[Any, ...]:
        """What a seam could leave behind: hooks of all modules, and the attention implementation."""
        hooks = sum(len(m._forward_hooks) + len(m._forward_pre_hooks) for m in self.model.modules())
        return hooks, self.config._attn_implementation
