"""Encoders on disk: `config.json` and `model.safetensors`, read without network, noise or pickle."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from inspect import signature
from pathlib import Path
from typing import Any

import torch
from torch import nn

from mtlspec.errors import EncoderError
from mtlspec.io.write import write_bytes, write_json
from mtlspec.model.encoder.config_check import check_config, check_size
from mtlspec.model.encoder.pinned_files import WEIGHTS, require_safe_weights
from mtlspec.model.encoder.removal import kept_heads, shrink_to_record


@contextmanager
def quiet() -> Iterator[None]:
    """transformers without load reports, progress bars and notes about its own old code; all comes back afterwards."""
    from transformers.utils import logging

    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity(logging.CRITICAL)
    logging.disable_progress_bar()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()


def load_config(directory: Path) -> Any:
    """The transformers config of an encoder directory."""
    from transformers import AutoConfig

    path = directory / "config.json"
    if not path.is_file():
        raise EncoderError("E303", "there is no config.json", directory)
    check_config(path)
    try:
        with quiet():
            config = AutoConfig.from_pretrained(directory, local_files_only=True, trust_remote_code=False)
    except Exception as error:  # every architecture has its own ideas of a broken config
        raise EncoderError("E304", f"transformers does not know this config: {first_line(error)}", path) from None
    if config.is_encoder_decoder:
        raise EncoderError("E305", f"'{config.model_type}' is an encoder-decoder model, not an encoder", path)
    return config


def build_model(config: Any) -> nn.Module:
    """The architecture with fresh weights, without a pooling layer (nobody reads it), and without removed heads."""
    from transformers import AutoModel

    with quiet():
        model: nn.Module = AutoModel.from_config(config, dtype=torch.float32, **_without_pooler(config))
    shrink_to_record(model, config)
    return model


def load_model(directory: Path) -> nn.Module:
    """The pre-trained encoder in float32; no weight may be missing, extra ones (a language-model head) are left out."""
    from safetensors import SafetensorError
    from transformers import AutoModel

    config = load_config(directory)
    require_safe_weights(directory)
    check_size(directory / "config.json", sum(path.stat().st_size for path in directory.glob("*.safetensors")))
    if kept_heads(config) is not None:
        return _load_pruned(directory, config)
    try:
        with quiet():
            model, info = AutoModel.from_pretrained(
                directory,
                config=config,
                local_files_only=True,
                use_safetensors=True,
                trust_remote_code=False,
                dtype=torch.float32,
                output_loading_info=True,
                **_without_pooler(config),
            )
    except (SafetensorError, OSError, RuntimeError) as error:
        raise EncoderError("E306", f"the weights cannot be read: {first_line(error)}", directory) from None
    except Exception as error:  # every architecture has its own ideas of sizes that do not fit each other
        message = f"transformers cannot build this encoder: {first_line(error)}"
        raise EncoderError("E316", message, directory / "config.json") from None
    wrong = sorted({str(key) for key in (*info["missing_keys"], *info["mismatched_keys"])})
    if wrong:
        raise EncoderError(
            "E307",
            f"{len(wrong)} weights are missing or do not fit the config, for instance {wrong[0]}",
            directory,
        )
    loaded: nn.Module = model
    return loaded


def save_model(model: nn.Module, config: Any, directory: Path) -> None:
    """`config.json` and `model.safetensors`, the same bytes for the same encoder."""
    from safetensors.torch import save

    write_json(directory / "config.json", config_values(config))
    weights = {name: value.detach().cpu().contiguous() for name, value in model.state_dict().items()}
    write_bytes(directory / WEIGHTS, save(weights, metadata={"format": "pt"}))


def _load_pruned(directory: Path, config: Any) -> nn.Module:
    """An encoder that lost heads: transformers would not fit its weights to its config, so it is built first."""
    from safetensors import SafetensorError
    from safetensors.torch import load

    model = build_model(config)
    try:
        model.load_state_dict(load((directory / WEIGHTS).read_bytes()))
    except (SafetensorError, OSError, RuntimeError) as error:
        raise EncoderError(
            "E352", f"the weights do not fit the pruned encoder: {first_line(error)}", directory
        ) from None
    return model.eval()


def config_values(config: Any) -> dict[str, Any]:
    """The config as JSON that says nothing about where it was read."""
    values: dict[str, Any] = json.loads(config.to_json_string(use_diff=True))
    for key in ("_name_or_path", "transformers_version"):
        values.pop(key, None)
    return values


def _without_pooler(config: Any) -> dict[str, bool]:
    """The argument that leaves the pooling layer out, for the architectures that have one."""
    from transformers.models.auto.modeling_auto import MODEL_MAPPING

    if type(config) not in MODEL_MAPPING:
        raise EncoderError("E308", f"transformers has no plain encoder for '{config.model_type}'")
    parameters = signature(MODEL_MAPPING[type(config)].__init__).parameters
    return {"add_pooling_layer": False} if "add_pooling_layer" in parameters else {}


def first_line(error: Exception) -> str:
    """What an error of a library says first, for the one line of ours."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return " ".join(line.strip() for line in lines[:2]) if lines[0].endswith(":") else lines[0]
