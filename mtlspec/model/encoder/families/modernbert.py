"""ModernBERT: one projection for queries, keys and values; rotary positions; local attention in most layers."""

from __future__ import annotations

from mtlspec.model.encoder.families.family import EmptyAttention, Family, fused

FAMILY = Family(
    model_types=("modernbert",),
    blocks=lambda config: [f"layers.{i}.attn" for i in range(config.num_hidden_layers)],
    output="Wo",
    rows=fused("Wqkv"),
    empty=lambda attention: EmptyAttention(attention, "Wo", "out_drop"),
)
