"""An encoder copied from a directory: only the files that are needed, each checked against its pin."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mtlspec.data.tokenizer import read_specials
from mtlspec.errors import EncoderError
from mtlspec.io.digest import digest_bytes
from mtlspec.io.json_object import read_object
from mtlspec.io.write import write_bytes, write_json, write_text
from mtlspec.model.encoder.config_check import check_config
from mtlspec.model.encoder.pinned_files import (
    INDEX,
    SETTINGS,
    WEIGHTS,
    check_digest,
    check_known,
    needed_files,
    require_safe_weights,
)
from mtlspec.model.encoder.request import Request
from mtlspec.model.encoder.tokenizer_trial import try_tokenizer


def copy_pinned(source: Path, request: Request, pins: Mapping[str, str], *, all_pinned: bool) -> dict[str, str]:
    """Fill `request.out` from `source`; returns name -> sha256 of the files that were read.

    With `all_pinned` each must have a pin; where no weights are asked for, a tokenizer is enough. A tokenizer without
    its fast form is converted, shards are joined.
    """
    files, out = needed_files(source), request.out
    if request.weights:
        require_safe_weights(source)
    check_known(files, pins, all_pinned, request.card_file)
    found: dict[str, str] = {}
    for name in files.names:
        data = (source / name).read_bytes()
        found[name] = digest_bytes(data)
        check_digest(source / name, found[name], pins.get(name))
        if name in SETTINGS or name == WEIGHTS:
            write_bytes(out / name, data)
    if "config.json" in found:
        check_config(source / "config.json")
    if files.shards:
        _join(source, files.shards, out)
    if "tokenizer.json" not in found:
        _convert_tokenizer(source, out)
    try_tokenizer(out / "tokenizer.json")
    read_specials(out)
    return found


def _join(source: Path, shards: Sequence[str], out: Path) -> None:
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
