"""DistilBERT."""

from __future__ import annotations

from mtlspec.model.encoder.families.family import EmptyAttention, Family, linear

FAMILY = Family(
    model_types=("distilbert",),
    blocks=lambda config: [f"transformer.layer.{i}.attention" for i in range(config.num_hidden_layers)],
    output="out_lin",
    rows=(*linear("query", "q_lin"), *linear("key", "k_lin"), *linear("value", "v_lin")),
    sizes={"n_heads": "heads", "dim": "width"},
    empty=lambda attention: EmptyAttention(attention, "out_lin"),
)
