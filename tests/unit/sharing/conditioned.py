"""Strategies on small random encoders of every family, and batches whose rows are meant for several tasks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from mtlspec.data.batching import Batch
from mtlspec.kinds import options_class
from mtlspec.model.encoder.kinds.transformer import Options as TransformerOptions
from mtlspec.model.encoder.loading import build_model
from mtlspec.model.encoder.transformer import Transformer
from mtlspec.model.sharing import Sharing
from mtlspec.spec.families import SHARING
from tests.unit.model.encoder import many, small

TASKS = ("a", "b", "c")


def encoder(family: str = "bert", **changes: Any) -> Transformer:
    return Transformer(many.build(family, **changes), TransformerOptions(card="small"), small.SPECIALS).eval()


def strategy(kind: str, on: Transformer | None = None, **options: Any) -> Any:
    torch.manual_seed(5)
    chosen: Any = options_class(SHARING, kind).model_validate({"type": kind, **options})
    return chosen.build(on or encoder(), TASKS)


def batch(*tasks: int) -> Batch:
    """Three sentences of different lengths, for these tasks."""
    return replace(small.batch(8, 5, 7), tasks=torch.tensor(tasks))


def alone(whole: Batch, row: int) -> Batch:
    """A row of a batch by itself, without padding."""
    length, words = int(whole.piece_mask[row].sum()), int(whole.word_mask[row].sum())
    assert whole.tasks is not None
    own = slice(row, row + 1)
    return Batch(
        whole.rows[own],
        whole.pieces[own, :length],
        whole.piece_mask[own, :length],
        whole.word_of_piece[own, :length],
        whole.word_mask[own, :words],
        tasks=whole.tasks[own],
    )


def pieces(sharing: Sharing, of: Batch) -> Tensor:
    """States of all real sub-tokens [N, D]."""
    return sharing.encode(of).pieces[of.piece_mask]


@torch.no_grad()
def shake(sharing: Sharing, spread: float = 0.1) -> None:
    """Move all parameters of a strategy away from where they start."""
    generator = torch.Generator().manual_seed(7)
    for parameter in sharing.module.parameters():
        parameter.add_(torch.randn(parameter.shape, generator=generator) * spread)


def bert(large: bool = False) -> Transformer:
    """BERT's shapes, without memory."""
    from transformers import BertConfig

    sizes = {"hidden_size": 1024, "num_hidden_layers": 24, "num_attention_heads": 16, "intermediate_size": 4096}
    config = BertConfig(vocab_size=28996, **(sizes if large else {}))  # the cased models, which the paper's code takes
    return Transformer(build_model(config), TransformerOptions(card="bert", max_pieces=128), small.SPECIALS)


def count(module: nn.Module) -> int:
    return sum(parameter.numel() for parameter in module.parameters())
