"""The first sub-token alone: what a last layer need not compute when nobody reads the others.

A sentence's class is read off its first sub-token. In the last layer, then, one query is enough, and one position goes
through the feed-forward block; keys and values are still those of all. Every layer below works as ever.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from torch import Tensor, nn

from mtlspec.model.encoder.families import FAMILIES
from mtlspec.model.encoder.places import Places
from mtlspec.model.encoder.sites import Site

FIRST, USUAL = "mtlspec_first", "sdpa"
"""The names of our attention function and of transformers' usual one in its registry."""


def can_narrow(config: Any) -> bool:
    """Whether norms follow the addition, so that behind attention no position reads another one."""
    family = FAMILIES.get(config.model_type)
    return family is not None and not (family.causal or family.pre_norm or family.refuses(config))


@contextmanager
def narrowed(config: Any, places: Places, last: Site) -> Iterator[None]:
    """While it is open, the model's states are [B, 1, D]; `last` is the site of the last layer."""
    usual = config._attn_implementation
    with places.after(places.norms(len(places.layers) - 1)[0], lambda states: states[:, :1]):
        if usual == USUAL and last.family.probabilities is None and not places.shared:
            _register()
            last.inner.__dict__[FIRST] = True
            config._attn_implementation = FIRST
        try:
            yield
        finally:
            config._attn_implementation = usual
            last.inner.__dict__.pop(FIRST, None)


def first_attention(
    module: nn.Module, query: Tensor, key: Tensor, value: Tensor, attention_mask: Tensor | None, **named: Any
) -> tuple[Tensor, Tensor | None]:
    """transformers' usual attention; where only the first query counts, its context [B, 1, H, Dh] stands for all."""
    from transformers.integrations.sdpa_attention import sdpa_attention_forward

    length = query.shape[2]
    if FIRST in module.__dict__:
        query, attention_mask = query[:, :, :1], None if attention_mask is None else attention_mask[:, :, :1]
    contexts, weights = sdpa_attention_forward(module, query, key, value, attention_mask, **named)
    return contexts.expand(-1, length, -1, -1), weights


def _register() -> None:
    from transformers import AttentionInterface, AttentionMaskInterface
    from transformers.masking_utils import sdpa_mask

    AttentionInterface.register(FIRST, first_attention)
    AttentionMaskInterface.register(FIRST, sdpa_mask)
