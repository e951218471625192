"""Small random encoders of every supported family, and a batch for them."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from transformers.models.bert import modeling_bert

from mtlspec.model.encoder.loading import build_model

LAYERS, HEADS, VOCABULARY = 3, 4, 50
_SIZES = {
    "vocab_size": VOCABULARY,
    "hidden_size": 32,
    "num_hidden_layers": LAYERS,
    "num_attention_heads": HEADS,
    "intermediate_size": 48,
    "max_position_embeddings": 40,
    "pad_token_id": 0,
}
_GPT = {"vocab_size": VOCABULARY, "n_positions": 40, "n_embd": 32, "n_layer": LAYERS, "n_head": HEADS}
_ENDS = {"bos_token_id": 2, "eos_token_id": 3}
_RELATIVE = {"relative_attention": True, "pos_att_type": ["c2p", "p2c"]}
FAMILIES: dict[str, tuple[str, dict[str, Any]]] = {
    "bert": ("BertConfig", _SIZES),
    "roberta": ("RobertaConfig", _SIZES),
    "xlm-roberta": ("XLMRobertaConfig", _SIZES),
    "electra": ("ElectraConfig", {**_SIZES, "embedding_size": 16}),
    "distilbert": (
        "DistilBertConfig",
        {"vocab_size": VOCABULARY, "dim": 32, "n_layers": LAYERS, "n_heads": HEADS, "hidden_dim": 48},
    ),
    "albert": ("AlbertConfig", {**_SIZES, "embedding_size": 16}),
    "deberta": ("DebertaConfig", {**_SIZES, **_RELATIVE, "type_vocab_size": 0, "position_biased_input": False}),
    "deberta-v2": ("DebertaV2Config", {**_SIZES, **_RELATIVE, "position_buckets": 8}),
    "deberta-v3": (
        "DebertaV2Config",
        {**_SIZES, **_RELATIVE, "position_buckets": 8, "share_att_key": True, "norm_rel_ebd": "layer_norm"},
    ),
    "modernbert": (
        "ModernBertConfig",
        {**_SIZES, **_ENDS, "cls_token_id": 2, "sep_token_id": 3, "local_attention": 6},
    ),
    "openai-gpt": ("OpenAIGPTConfig", _GPT),
    "gpt2": ("GPT2Config", {**_GPT, **_ENDS}),
}


def build(family: str, **changes: Any) -> Any:
    """A model in evaluation mode whose biases are not zero."""
    import transformers

    name, values = FAMILIES[family]
    torch.manual_seed(0)
    model = build_model(getattr(transformers, name)(**{**values, **changes}))
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() == 1:
                parameter.add_(torch.randn_like(parameter) * 0.1)
    return model.eval()


def batch() -> tuple[torch.Tensor, torch.Tensor]:
    """pieces int64 [3, 10], mask bool [3, 10]"""
    pieces = torch.randint(5, VOCABULARY, (3, 10), generator=torch.Generator().manual_seed(1))
    return pieces, torch.arange(10) < torch.tensor([[10], [6], [8]])


def states(model: Any) -> torch.Tensor:
    """Last-layer states of real sub-tokens [N, D]."""
    pieces, mask = batch()
    return model(input_ids=pieces, attention_mask=mask).last_hidden_state[mask]


def permute_heads(monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on transformers' BERT hands contexts on in another order than its parameters have."""
    usual = modeling_bert.BertSelfAttention.forward

    def forward(self: Any, *arguments: Any, **named: Any) -> Any:
        contexts, weights = usual(self, *arguments, **named)
        return contexts.unflatten(-1, (-1, self.attention_head_size)).flip(2).flatten(2), weights

    monkeypatch.setattr(modeling_bert.BertSelfAttention, "forward", forward)
