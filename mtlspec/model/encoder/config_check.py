"""What an encoder's config says of its size, checked before anything of that size is built."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mtlspec.errors import EncoderError
from mtlspec.io.json_object import read_object
from mtlspec.spec.words import show

# What is counted -> the names that configs have for it, and the most of any encoder that could be meant.
_SIZES: dict[str, tuple[tuple[str, ...], int]] = {
    "layers": (("num_hidden_layers", "n_layer", "n_layers", "num_layers"), 1_000),
    "heads": (("num_attention_heads", "n_head", "n_heads"), 1_024),
    "width": (("hidden_size", "d_model", "n_embd", "dim"), 2**16),
    "feed_forward": (("intermediate_size", "n_inner", "d_inner", "hidden_dim"), 2**19),
    "vocabulary": (("vocab_size",), 10**7),
    "positions": (("max_position_embeddings", "n_positions"), 10**7),
    "types": (("type_vocab_size",), 10**5),
}
_MAY_BE_NONE = ("positions", "types")  # 0 and -1 say that there are none
_LEAST_BYTES = 2**20  # so much may always be built: damaged weights are said to be that
_PARAMETERS_A_BYTE = 4  # far above what any file holds, because some architectures share layers


def check_config(path: Path) -> None:
    """Every size in a `config.json` is a whole number that an encoder could have."""
    for what, (name, value) in _found(read_object(path)).items():
        if not isinstance(value, int) or isinstance(value, bool):
            raise EncoderError("E313", f"'{name}' must be a whole number, not {show(value)}", path)
        most = _SIZES[what][1]
        if value > most or (value < 1 and what not in _MAY_BE_NONE):
            raise EncoderError("E314", f"'{name}' is {value:,}: expected 1 to {most:,}", path, "is the file damaged?")


def check_size(path: Path, held: int) -> None:
    """A `config.json` does not speak of far more parameters than the weights, `held` bytes, can have."""
    config = read_object(path)
    sizes = {what: value for what, (_, value) in _found(config).items()}
    width = sizes.get("width", 0)
    layers = sizes.get("layers", 1)
    if isinstance(groups := config.get("num_hidden_groups"), int):
        layers = min(layers, groups)  # ALBERT's layers share weights
    layer = 4 * width**2 + 2 * width * sizes.get("feed_forward", 0)
    rows = sizes.get("vocabulary", 0) + max(sizes.get("positions", 0), 0) + max(sizes.get("types", 0), 0)
    parameters = layers * layer + rows * width
    if parameters > _PARAMETERS_A_BYTE * max(held, _LEAST_BYTES):
        message = f"it speaks of about {parameters:,} parameters, but the weights are {held:,} bytes"
        raise EncoderError("E315", message, path, "config and weights are of two encoders, or one of them is damaged")


def _found(config: Mapping[str, Any]) -> dict[str, tuple[str, Any]]:
    """What is counted -> the config's name for it, and what it says; nothing for what it leaves to the defaults."""
    found = {}
    for what, (names, _) in _SIZES.items():
        said = next((name for name in names if config.get(name) is not None), None)
        if said is not None:
            found[what] = (said, config[said])
    return found
