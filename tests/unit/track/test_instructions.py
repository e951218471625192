"""A processor with wider instructions is asked to stay with those that older ones have."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from mtlspec.track import instructions
from mtlspec.track.environment import cpu_facts


@pytest.fixture
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(instructions, "cpu_facts", lambda: {"model": "x", "features": ["avx2", "avx512f"]})


@pytest.mark.usefixtures("wide")
def test_a_wide_processor_is_limited_and_what_a_user_set_stays() -> None:
    environment = {"MKL_ENABLE_INSTRUCTIONS": "AVX512"}
    instructions.stay_with_common_instructions(environment)
    assert environment == {
        "ATEN_CPU_CAPABILITY": "avx2",
        "MKL_ENABLE_INSTRUCTIONS": "AVX512",
        "ONEDNN_MAX_CPU_ISA": "AVX2",
    }


def test_a_narrow_processor_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(instructions, "cpu_facts", lambda: {"model": "x", "features": ["sse4_2"]})
    environment: dict[str, str] = {}
    instructions.stay_with_common_instructions(environment)
    assert environment == {}


def test_torch_obeys() -> None:
    environment = dict(os.environ)
    instructions.stay_with_common_instructions(environment)
    told = subprocess.run(
        [sys.executable, "-c", "import torch; print(torch.backends.cpu.get_cpu_capability())"],
        env=environment, capture_output=True, text=True, check=True,
    ).stdout.strip()  # fmt: skip
    assert told != "AVX512" or "avx512f" not in cpu_facts()["features"]
