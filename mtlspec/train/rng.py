"""Random streams of our own: counter-based, named, and small enough to be saved as JSON."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np


def philox(seed: int, name: str) -> np.random.Generator:
    """A generator that depends on nothing but the seed and the stream's name."""
    key = int.from_bytes(hashlib.sha256(f"{seed}/{name}".encode()).digest()[:16], "little")
    return np.random.Generator(np.random.Philox(key=key))


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
