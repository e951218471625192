"""GPT-2: one transposed projection for queries, keys and values."""

from __future__ import annotations

from mtlspec.model.encoder.families.family import EmptyAttention, Family, fused

FAMILY = Family(
    model_types=("gpt2",),
    embeddings=("drop",),
    layers=lambda config: [f"h.{i}" for i in range(config.num_hidden_layers)],
    attention="attn",
    norms=("ln_1", "ln_2"),
    feed_forward="mlp.c_proj",
    pre_norm=True,
    causal=True,
    output="c_proj",
    rows=fused("c_attn", axis=1),
    sizes={"num_heads": "heads", "split_size": "width"},
    empty=lambda attention: EmptyAttention(attention, "c_proj", "resid_dropout"),
    refuses=lambda config: "it has cross-attention" if config.add_cross_attention else None,
)
