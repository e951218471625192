"""A biGRU of torch over packed sequences: as torch computes it, or on a CPU faster."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence

from mtlspec.structs.gru import Weights, bigru_layer
from mtlspec.structs.packing import Packing


def read(module: nn.GRU, rows: Tensor, packing: Packing) -> Tensor:
    """States of all steps of all sequences: rows [T, I] -> [T, 2 H]; dropout between layers as the module has it."""
    if rows.device.type != "cpu" or rows.dtype != torch.float32:
        packed, _ = module(PackedSequence(rows, torch.tensor(packing.sizes)))
        states: Tensor = packed.data
        return states
    for layer in range(module.num_layers):
        if layer and module.dropout and module.training:
            rows = rows * _kept(rows, module.dropout)
        rows = bigru_layer(rows, _weights(module, f"_l{layer}"), _weights(module, f"_l{layer}_reverse"), packing)
    return rows


def ends(states: Tensor, packing: Packing) -> Tensor:
    """The last state of both directions: states [T, 2 H] -> [B, 2 H]."""
    onward, backward = states.chunk(2, 1)
    pick = nn.functional.embedding
    return torch.cat([pick(packing.last, onward), pick(packing.first, backward)], 1)


def _weights(module: nn.GRU, suffix: str) -> Weights:
    """As torch names them."""
    return Weights(*(getattr(module, name + suffix) for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")))


def _kept(rows: Tensor, share: float) -> Tensor:
    """What dropout multiplies with: 0 for a share of the numbers, which is exact to 2^-16, and 1 / (1 - share).

    Four of them are made of one random number of 64 bits; torch's own takes longer than a gate.
    """
    bits = torch.empty((rows.numel() + 3) // 4, dtype=torch.int64).random_(-(2**63), None)
    limit = round(share * 2**16) - 2**15
    kept = bits.view(torch.int16)[: rows.numel()].view(rows.shape) >= limit
    return kept.to(rows.dtype).mul_(1 / (1 - share))
