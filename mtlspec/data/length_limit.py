"""How many sub-tokens an encoder reads at once: asked when texts are prepared, and again when the encoder is built."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mtlspec.errors import EncoderError

if TYPE_CHECKING:
    from torch import nn

LOCAL: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}


def length_limit(model: nn.Module, config: Any) -> int | None:
    """Sub-tokens, special ones included, of one input of a transformers model; None if there is no limit."""
    from torch import nn

    positions: int | None = getattr(config, "max_position_embeddings", None) or getattr(config, "n_positions", None)
    if positions is None or positions <= 0:
        return None
    for name, module in model.named_modules():
        if name.endswith("position_embeddings") and isinstance(module, nn.Embedding):
            # RoBERTa and its kin start counting after the padding index.
            return positions if module.padding_idx is None else positions - module.padding_idx - 1
    return positions


def limit_of(directory: Path) -> int | None:
    """The same of an encoder's directory, whose weights are not read; None for one that is no transformer."""
    if not (directory / "config.json").is_file():
        return None
    import torch
    from transformers import AutoConfig, AutoModel

    config = asked(lambda: AutoConfig.from_pretrained(directory, **LOCAL), directory)
    with torch.device("meta"), warnings.catch_warnings():  # its modules without their memory
        warnings.simplefilter("ignore", DeprecationWarning)
        return length_limit(asked(lambda: AutoModel.from_config(config), directory), config)


def asked(question: Callable[[], Any], directory: Path) -> Any:
    """What transformers knows of an encoder's directory."""
    try:
        return question()
    except Exception as error:  # every architecture has its own ideas of broken files
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        message = f"transformers does not know how this encoder reads text: {reason}"
        raise EncoderError("E383", message, directory) from None
