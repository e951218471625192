"""Which special tokens the settings of an encoder's tokenizer name; nothing heavy is imported."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mtlspec.errors import EncoderError
from mtlspec.io.json_object import read_object
from mtlspec.spec.words import show

# Role -> keys of the tokenizer's configuration, then the usual names in the vocabulary.
ROLES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "cls": (("cls_token", "bos_token"), ("[CLS]", "<s>")),
    "sep": (("sep_token", "eos_token"), ("[SEP]", "</s>")),
    "pad": (("pad_token",), ("[PAD]", "<pad>")),
    "unk": (("unk_token",), ("[UNK]", "<unk>")),
    "mask": (("mask_token",), ("[MASK]", "<mask>")),
}


def named_specials(directory: Path) -> dict[str, list[str]]:
    """Role -> what the settings of a directory call its token, then the usual names: the first that exists is meant."""
    known: dict[str, Any] = {}
    for name in ("special_tokens_map.json", "tokenizer_config.json"):
        path = directory / name
        if path.is_file():
            known |= read_object(path)
    return {
        role: [*(_named(known, key, directory) for key in keys if known.get(key)), *usual]
        for role, (keys, usual) in ROLES.items()
    }


def _named(known: dict[str, Any], key: str, directory: Path) -> str:
    """A special token, as a text or in the library's longer form."""
    said = known[key]
    text = said.get("content") if isinstance(said, dict) else said
    if not isinstance(text, str):
        message = f"'{key}' must be a text or have one as `content`, not {show(said)}"
        raise EncoderError("E395", message, directory / "tokenizer_config.json")
    return text
