"""DistilBERT."""

from __future__ import annotations

from mtlspec.model.encoder.families.family import EmptyAttention, Family, linear

FAMILY = Family(
    model_types=("distilbert",),
    embeddings=("embeddings",),
    layers=lambda config: [f"transformer.layer.{i}" for i in range(config.num_hidden_layers)],
    attention="attention",
    norms=("sa_layer_norm", "output_layer_norm"),
    feed_forward="ffn.lin2",
    output="out_lin",
    rows=(*linear("query", "q_lin"), *linear("key", "k_lin"), *linear("value", "v_lin")),
    sizes={"n_heads": "heads", "dim": "width"},
    empty=lambda attention: EmptyAttention(attention, "out_lin"),
)
