"""DeBERTa: content and position attend to each other; every head has queries, keys and values side by side."""

from __future__ import annotations

from mtlspec.model.encoder.families.family import EmptyContext, Family, Rows, linear

FAMILY = Family(
    model_types=("deberta",),
    embeddings=("embeddings",),
    layers=lambda config: [f"encoder.layer.{i}" for i in range(config.num_hidden_layers)],
    attention="attention",
    norms=("attention.output.LayerNorm", "output.LayerNorm"),
    feed_forward="output.dense",
    inner="self",
    output="output.dense",
    rows=(
        Rows("query", "self.in_proj.weight", part=0, parts=3, by_head=True),
        Rows("key", "self.in_proj.weight", part=1, parts=3, by_head=True),
        Rows("value", "self.in_proj.weight", part=2, parts=3, by_head=True),
        Rows("query", "self.q_bias"),
        Rows("value", "self.v_bias"),
        *linear("position_key", "self.pos_proj"),
        *linear("position_query", "self.pos_q_proj"),
    ),
    sizes={"num_attention_heads": "heads", "all_head_size": "width"},
    probabilities="dropout",
    empty=lambda inner: EmptyContext(),  # noqa: ARG005
    refuses=lambda config: "its heads are mixed (talking_head)" if getattr(config, "talking_head", False) else None,
)
