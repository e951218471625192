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
    blocks=lambda config: [f"h.{i}.attn" for i in range(config.num_hidden_layers)],
    output="c_proj",
    rows=fused("c_attn", axis=1),
    sizes={"n_head": "heads", "split_size": "width"},
    probabilities="attn_dropout",
    empty=lambda attention: EmptyListedAttention(attention, "c_proj", "resid_dropout"),
)
