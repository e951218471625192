"""BERT (so TinyBERT and MiniLM), and the families that kept its attention: RoBERTa, XLM-R, ELECTRA."""

from __future__ import annotations

from mtlspec.model.encoder.families.family import EmptyContext, Family, linear

FAMILY = Family(
    model_types=("bert", "roberta", "xlm-roberta", "camembert", "electra"),
    embeddings=("embeddings", "embeddings_project"),
    layers=lambda config: [f"encoder.layer.{i}" for i in range(config.num_hidden_layers)],
    attention="attention",
    norms=("attention.output.LayerNorm", "output.LayerNorm"),
    feed_forward="output.dense",
    inner="self",
    output="output.dense",
    rows=(*linear("query", "self.query"), *linear("key", "self.key"), *linear("value", "self.value")),
    sizes={"num_attention_heads": "heads", "all_head_size": "width"},
    empty=lambda inner: EmptyContext(),  # noqa: ARG005
)
