"""DeBERTa v2 and v3."""

from __future__ import annotations

from mtlspec.model.encoder.families.family import EmptyContext, Family, linear

FAMILY = Family(
    model_types=("deberta-v2",),
    embeddings=("embeddings",),
    layers=lambda config: [f"encoder.layer.{i}" for i in range(config.num_hidden_layers)],
    attention="attention",
    norms=("attention.output.LayerNorm", "output.LayerNorm"),
    feed_forward="output.dense",
    inner="self",
    output="output.dense",
    rows=(
        *linear("query", "self.query_proj"),
        *linear("key", "self.key_proj"),
        *linear("value", "self.value_proj"),
        *linear("position_key", "self.pos_key_proj"),
        *linear("position_query", "self.pos_query_proj"),
    ),
    sizes={"num_attention_heads": "heads", "all_head_size": "width"},
    probabilities="dropout",
    empty=lambda inner: EmptyContext(),  # noqa: ARG005
)
