"""Keyed random streams: counter-based, so that a stream depends on nothing but its key, and small enough for JSON.

Where bits must be the same in every release of numpy, raw integers are drawn (`bit_generator.random_raw`).
"""

from __future__ import annotations

import hashlib
from typing import Any, Literal

import numpy as np

from mtlspec.io.digest import canonical_json


def philox(seed: int, name: str) -> np.random.Generator:
    """The stream of a seed and a name."""
    return np.random.Generator(np.random.Philox(key=_key(f"{seed}/{name}", "little")))


def pass_stream(seed: int, name: str, number: int) -> np.random.Philox:
    """The raw stream of one pass over the data: a stream of its own per (seed, name, pass)."""
    return np.random.Philox(key=_key(canonical_json([seed, name, number]), "big"))


def seed_stream(seed: int) -> np.random.Philox:
    """The raw stream of a seed alone."""
    return np.random.Philox(key=seed)


def _key(text: str, order: Literal["little", "big"]) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:16], order)


def rng_state(generator: np.random.Generator) -> dict[str, Any]:
    """The state of a Philox generator as JSON."""
    state = dict(generator.bit_generator.state)
    words = state["state"]
    return {
        "counter": [int(word) for word in words["counter"]],
        "key": [int(word) for word in words["key"]],
        "buffer": [int(word) for word in state["buffer"]],
        "buffer_pos": int(state["buffer_pos"]),
        "has_uint32": int(state["has_uint32"]),
        "uinteger": int(state["uinteger"]),
    }


def set_rng_state(generator: np.random.Generator, saved: dict[str, Any]) -> None:
    generator.bit_generator.state = {
        "bit_generator": "Philox",
        "state": {
            "counter": np.array(saved["counter"], dtype=np.uint64),
            "key": np.array(saved["key"], dtype=np.uint64),
        },
        "buffer": np.array(saved["buffer"], dtype=np.uint64),
        "buffer_pos": saved["buffer_pos"],
        "has_uint32": saved["has_uint32"],
        "uinteger": saved["uinteger"],
    }
