"""Small real tokenizers of every supported family, written as their own classes write them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import transformers
from transformers import AutoTokenizer

WORDS = ["the", "cat", "saw", "a", "dog", "is", "it", "good", "very", "old", ".", "?", "mask"]
_PIECES = sorted({letter for word in WORDS for letter in word})
_WORDPIECE = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS, *_PIECES, *(f"##{letter}" for letter in _PIECES)]
_BYTES = ["Ġ", *_PIECES, "[", "]", "M", "A", "S", "K", "Ġt", "he", "Ġthe"]
_MERGES = [("Ġ", "t"), ("h", "e"), ("Ġt", "he")]
_UNIGRAMS = [("▁", -2.0), *((f"▁{word}", -3.0) for word in WORDS), *((letter, -5.0) for letter in _PIECES)]
_SIZES = {"hidden_size": 8, "num_attention_heads": 2, "num_hidden_layers": 1, "intermediate_size": 8}
_LIMIT = {"max_position_embeddings": 40}


def _numbered(tokens: list[str]) -> dict[str, int]:
    return {token: number for number, token in enumerate(dict.fromkeys(tokens))}


def _byte_level(specials: list[str]) -> dict[str, Any]:
    return {"vocab": _numbered([*specials, *_BYTES]), "merges": _MERGES}


def _unigram(specials: list[str]) -> dict[str, Any]:
    return {"vocab": [*((token, 0.0) for token in specials), *_UNIGRAMS]}


_SEPARATED = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
_GPT_ROLES = dict.fromkeys(("cls_token", "sep_token", "pad_token"), "<unk>")
FAMILIES: dict[str, tuple[str, str, dict[str, Any]]] = {  # family -> tokenizer class, config class, what makes it
    "bert": ("BertTokenizer", "BertConfig", {"vocab": _numbered(_WORDPIECE)}),
    "electra": ("ElectraTokenizer", "ElectraConfig", {"vocab": _numbered(_WORDPIECE)}),
    "distilbert": ("DistilBertTokenizer", "DistilBertConfig", {"vocab": _numbered(_WORDPIECE)}),
    "roberta": ("RobertaTokenizer", "RobertaConfig", _byte_level(_SEPARATED)),
    "xlm-roberta": ("XLMRobertaTokenizer", "XLMRobertaConfig", _unigram(_SEPARATED)),
    "camembert": ("CamembertTokenizer", "CamembertConfig", _unigram(_SEPARATED)),
    "albert": ("AlbertTokenizer", "AlbertConfig", _unigram(["<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]"])),
    "deberta": ("DebertaTokenizer", "DebertaConfig", _byte_level(["[CLS]", "[PAD]", "[SEP]", "[UNK]", "[MASK]"])),
    "deberta-v2": ("DebertaV2Tokenizer", "DebertaV2Config", _unigram(["[PAD]", "[CLS]", "[SEP]", "[UNK]", "[MASK]"])),
    "openai-gpt": (
        "OpenAIGPTTokenizer",
        "OpenAIGPTConfig",
        {"vocab": _numbered(["<unk>", *_PIECES, *(f"{letter}</w>" for letter in _PIECES)]), "merges": [], **_GPT_ROLES},
    ),
    "gpt2": ("GPT2Tokenizer", "GPT2Config", _byte_level(["<|endoftext|>"])),
    "modernbert": ("PreTrainedTokenizerFast", "ModernBertConfig", {}),
}


def write(family: str, directory: Path) -> Path:
    """An encoder's directory without weights."""
    kind, config, made = FAMILIES[family]
    getattr(transformers, config)(**_config(family)).save_pretrained(directory)
    tokenizer = _modernbert() if family == "modernbert" else getattr(transformers, kind)(**made)
    tokenizer.save_pretrained(directory)
    return directory


def own(directory: Path) -> Any:
    """What transformers makes of the directory: the family's own tokenizer."""
    return AutoTokenizer.from_pretrained(directory, local_files_only=True)


def _config(family: str) -> dict[str, Any]:
    if family == "distilbert":
        return {"dim": 8, "n_heads": 2, "n_layers": 1, "hidden_dim": 8, **_LIMIT}
    if family in ("openai-gpt", "gpt2"):
        return {"n_embd": 8, "n_head": 2, "n_layer": 1, "n_positions": 40}
    return {**_SIZES, **_LIMIT}


def _modernbert() -> Any:
    """ModernBERT has no class of its own: a byte-level tokenizer that says in its file how it reads pairs."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    vocab = _numbered(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *_BYTES])
    backend = Tokenizer(models.BPE(vocab, _MERGES, unk_token="[UNK]"))
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.post_processor = processors.TemplateProcessing(
        single="[CLS]:0 $A:0 [SEP]:0",
        pair="[CLS]:0 $A:0 [SEP]:0 $B:1 [SEP]:1",
        special_tokens=[("[CLS]", vocab["[CLS]"]), ("[SEP]", vocab["[SEP]"])],
    )
    roles = {f"{role}_token": f"[{role.upper()}]" for role in ("pad", "unk", "cls", "sep", "mask")}
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=backend, model_input_names=["input_ids", "attention_mask"], **roles
    )
