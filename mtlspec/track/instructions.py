"""One set of vector instructions for old and new processors, so that a newer one gives the bits of an older one.

Libraries choose their kernels by what a processor offers, and kernels of different widths add in different orders. On
processors with AVX-512 three of them are asked to stay with AVX2: torch's own kernels, MKL and oneDNN. They read these
variables when they are first used, so the variables must be there before torch computes anything. Models of this size
lose no time by it.
"""

from __future__ import annotations

import os
from collections.abc import MutableMapping

from mtlspec.track.environment import cpu_facts

_AVX2 = {"ATEN_CPU_CAPABILITY": "avx2", "MKL_ENABLE_INSTRUCTIONS": "AVX2", "ONEDNN_MAX_CPU_ISA": "AVX2"}


def stay_with_common_instructions(environment: MutableMapping[str, str] = os.environ) -> None:
    """Limits only a processor that has more. A variable that is set already stays; the record says what torch took."""
    if "avx512f" in cpu_facts()["features"]:
        for name, value in _AVX2.items():
            environment.setdefault(name, value)
