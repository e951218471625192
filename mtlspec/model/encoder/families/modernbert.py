"""ModernBERT: one projection for queries, keys and values; rotary positions; local attention in most layers."""

from __future__ import annotations

from mtlspec.model.encoder.families.family import EmptyAttention, Family, fused

FAMILY = Family(
    model_types=("modernbert",),
    embeddings=("embeddings",),
    layers=lambda config: [f"layers.{i}" for i in range(config.num_hidden_layers)],
    attention="attn",
    norms=("attn_norm", "mlp_norm"),
    feed_forward="mlp.Wo",
    pre_norm=True,
    output="Wo",
    rows=fused("Wqkv"),
    empty=lambda attention: EmptyAttention(attention, "Wo", "out_drop"),
)
