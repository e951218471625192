"""The first GPT (`openai-gpt`), which has attention code of its own."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from mtlspec.model.encoder.families.family import EmptyAttention, Family, fused


class EmptyListedAttention(EmptyAttention):
    """GPT's blocks expect a list."""

    def forward(self, hidden_states: Tensor, *_: Any, **__: Any) -> Any:
        return [self.left(hidden_states)]


FAMILY = Family(
    model_types=("openai-gpt",),
    embeddings=("drop",),
    layers=lambda config: [f"h.{i}" for i in range(config.num_hidden_layers)],
    attention="attn",
    norms=("ln_1", "ln_2"),
    feed_forward="mlp.c_proj",
    causal=True,
    output="c_proj",
    rows=fused("c_attn", axis=1),
    sizes={"n_head": "heads", "split_size": "width"},
    probabilities="attn_dropout",
    empty=lambda attention: EmptyListedAttention(attention, "c_proj", "resid_dropout"),
)
