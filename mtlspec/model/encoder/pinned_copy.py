"""An encoder copied from a directory: only the files that are needed, each checked against its pin."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mtlspec.errors import EncoderError
from mtlspec.io.digest import digest_bytes, digest_file
from mtlspec.io.json_object import read_object
from mtlspec.io.write import write_bytes, write_json, write_text
from mtlspec.model.encoder.config_check import check_config
from mtlspec.model.encoder.tokenizer_trial import try_tokenizer

WEIGHTS = "model.safetensors"
INDEX = "model.safetensors.index.json"
_SETTINGS = ("config.json", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json")
_SLOW_TOKENIZER = (
    "vocab.txt",
    "vocab.json",
    "merges.txt",
    "spiece.model",
    "sentencepiece.bpe.model",
    "added_tokens.json",
)
PATTERNS = (*_SETTINGS, *_SLOW_TOKENIZER, "*.safetensors", INDEX)
"""What a download needs to bring."""


def copy_pinned(
    source: Path, out: Path, pins: Mapping[str, str], *, all_pinned: bool, weights: bool = True
) -> dict[str, str]:
    """Fill `out` from `source`; returns name -> sha256 of the files that were read.

    With `all_pinned` each must have a pin; without `weights` a tokenizer is enough. A tokenizer without its fast form
    is converted, shards are joined.
    """
    from mtlspec.model.encoder.loading import require_safe_weights

    if not source.is_dir():
        raise EncoderError("E321", "the encoder's directory is missing", source)
    if weights:
        require_safe_weights(source)
    shards = _shards(source / INDEX) if (source / INDEX).is_file() and not (source / WEIGHTS).is_file() else []
    names = _needed(source, shards)
    _check_pins_known(source, names, pins, all_pinned)
    found: dict[str, str] = {}
    for name in names:
        data = (source / name).read_bytes()
        found[name] = digest_bytes(data)
        if name in pins and found[name] != pins[name]:
            raise EncoderError(
                "E322",
                f"the file is not the pinned one: sha256 {pins[name]} expected, {found[name]} found",
                source / name,
            )
        if name in _SETTINGS or name == WEIGHTS:
            write_bytes(out / name, data)
    if "config.json" in names:
        check_config(source / "config.json")
    if shards:
        _join(source, shards, out)
    if "tokenizer.json" not in names:
        _convert_tokenizer(source, out)
    try_tokenizer(out / "tokenizer.json")
    return found


def _needed(source: Path, shards: list[str]) -> list[str]:
    names = [name for name in (*_SETTINGS, WEIGHTS) if (source / name).is_file()]
    if shards:
        names += [INDEX, *shards]
    if "tokenizer.json" not in names:
        names += [name for name in _SLOW_TOKENIZER if (source / name).is_file()]
    return names


def _check_pins_known(source: Path, names: list[str], pins: Mapping[str, str], all_pinned: bool) -> None:
    missing = sorted(pins.keys() - set(names))
    if missing:
        raise EncoderError("E323", f"the card pins '{missing[0]}', which is not there or not needed", source)
    unpinned = [name for name in names if name not in pins]
    if all_pinned and unpinned:
        lines = ", ".join(f"{name}: {digest_file(source / name)}" for name in unpinned)
        raise EncoderError(
            "E324",
            f"{len(unpinned)} files have no pin",
            source,
            f"if they are right, add to the card's sha256: {lines}",
        )


def _shards(index: Path) -> list[str]:
    """The files that an index of weights names, all in its own folder."""
    map_ = read_object(index).get("weight_map")
    if not isinstance(map_, dict) or not map_ or not all(isinstance(name, str) for name in map_.values()):
        raise EncoderError("E325", "the index of weights has no `weight_map` from weights to files", index)
    names = sorted(set(map_.values()))
    for name in names:
        if Path(name).name != name or not name.endswith(".safetensors") or not (index.parent / name).is_file():
            raise EncoderError("E326", f"the index names '{name}', which is not a safetensors file beside it", index)
    return names


def _join(source: Path, shards: list[str], out: Path) -> None:
    from safetensors import SafetensorError
    from safetensors.torch import load, save

    weights: dict[str, Any] = {}
    for name in shards:
        try:
            weights |= load((source / name).read_bytes())
        except SafetensorError as error:
            message = f"this part of the weights cannot be read: {error}"
            raise EncoderError("E317", message, source / name, "is the download complete?") from None
    listed = read_object(source / INDEX)["weight_map"]
    if missing := sorted(listed.keys() - weights.keys()):
        message = f"{len(missing)} weights of the index are in none of its files, for instance {missing[0]}"
        raise EncoderError("E318", message, source / INDEX, "is the download complete?")
    write_bytes(out / WEIGHTS, save(weights, metadata={"format": "pt"}))


def _convert_tokenizer(source: Path, out: Path) -> None:
    """The fast form of a tokenizer that has only its slow files."""
    from transformers import AutoTokenizer

    from mtlspec.model.encoder.loading import quiet

    try:
        with quiet():
            tokenizer = AutoTokenizer.from_pretrained(
                source, local_files_only=True, trust_remote_code=False, use_fast=True
            )
        text = tokenizer.backend_tokenizer.to_str()
    except Exception as error:  # every tokenizer has its own ideas of broken files
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise EncoderError("E327", f"the tokenizer cannot be turned into its fast form: {reason}", source) from None
    write_text(out / "tokenizer.json", text)
    if not (out / "tokenizer_config.json").is_file():
        write_json(
            out / "tokenizer_config.json", {key: str(text) for key, text in tokenizer.special_tokens_map.items()}
        )
