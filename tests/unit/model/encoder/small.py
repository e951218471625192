"""Small random encoders of several families, and batches for them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, models

from mtlspec.data.batching import Batch, Specials
from mtlspec.io.digest import digest_tree
from mtlspec.model.encoder.loading import quiet
from mtlspec.model.encoder.request import Request

SPECIALS = Specials(cls=2, sep=3, pad=0, mask=4, unk=1)
VOCABULARY = 50
SIZES = {
    "vocab_size": VOCABULARY,
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 64,
    "max_position_embeddings": 24,
    "pad_token_id": SPECIALS.pad,
}


def model(family: str) -> Any:
    """A model as people publish it: some with a head that an encoder does not need."""
    import transformers as t

    torch.manual_seed(0)
    if family == "bert":
        return t.BertForMaskedLM(t.BertConfig(**SIZES))
    if family == "roberta":
        return t.RobertaForMaskedLM(t.RobertaConfig(**SIZES, bos_token_id=2, eos_token_id=3))
    if family == "electra":
        return t.ElectraForPreTraining(t.ElectraConfig(**SIZES, embedding_size=16))
    if family == "gpt2":
        return t.GPT2Model(t.GPT2Config(vocab_size=VOCABULARY, n_positions=24, n_embd=32, n_layer=2, n_head=4))
    if family == "mpnet":  # none of those whose heads can be reached
        return t.MPNetModel(t.MPNetConfig(**SIZES | {"pad_token_id": 1, "max_position_embeddings": 26}))
    return t.DistilBertModel(
        t.DistilBertConfig(
            vocab_size=VOCABULARY, dim=32, n_layers=2, n_heads=4, hidden_dim=64, max_position_embeddings=24
        )
    )


def write(directory: Path, family: str = "bert", **settings: Any) -> Path:
    """An encoder directory: config, weights, tokenizer."""
    directory.mkdir(parents=True, exist_ok=True)
    with quiet():
        model(family).save_pretrained(directory, **settings)
    words = {"[PAD]": 0, "[UNK]": 1, "[CLS]": 2, "[SEP]": 3, "[MASK]": 4}
    words |= {f"w{i}": i for i in range(5, VOCABULARY)}
    Tokenizer(models.WordPiece(words, unk_token="[UNK]")).save(str(directory / "tokenizer.json"))
    (directory / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "PreTrainedTokenizerFast"}))
    return directory


def batch(*lengths: int, seed: int = 0) -> Batch:
    """Random sentences of so many sub-tokens; words have one, two, three, one, two ... of them."""
    generator = torch.Generator().manual_seed(seed)
    shape = (len(lengths), max(lengths) + 2)
    pieces, owners = torch.full(shape, SPECIALS.pad), torch.full(shape, -1)
    for row, length in enumerate(lengths):
        pieces[row, 0], pieces[row, length + 1] = SPECIALS.cls, SPECIALS.sep
        pieces[row, 1 : length + 1] = torch.randint(5, VOCABULARY, (length,), generator=generator)
        owners[row, 1 : length + 1] = torch.repeat_interleave(torch.arange(length), torch.arange(length) % 3 + 1)[
            :length
        ]
    words = owners.max(1).values + 1
    word_mask = torch.arange(int(words.max())) < words.unsqueeze(1)
    return Batch(torch.arange(len(lengths)), pieces, pieces != SPECIALS.pad, owners, word_mask)


def request(out: Path, project: Path, **changes: Any) -> Request:
    out.mkdir(parents=True, exist_ok=True)
    values: dict[str, Any] = {"inputs": {}, "data_card": None, "device": "cpu", "progress": lambda *_: None} | changes
    return Request(name="small", out=out, project_root=project, **values)


def pins(directory: Path) -> dict[str, str]:
    return {name: digest for name, digest in digest_tree(directory).items() if name != "generation_config.json"}
