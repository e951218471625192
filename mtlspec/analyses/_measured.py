"""The measurement of one model: what it is given, and what it leaves behind beside its files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Measurement:
    """One model, or the pre-trained encoder, to be measured; files go to `out`."""

    model: Mapping[str, Any]  # its row of the plan
    inputs: Mapping[str, Path]  # `train`, `prepare`, `encoder`, `evaluate`: those that the analysis needs
    out: Path
    device: str = "cpu"
    progress: Callable[[int, int, str], None] = lambda *_: None


@dataclass(frozen=True)
class Measured:
    """`facts` are deterministic JSON for the stage's record; `timings` are wall-clock figures, in no output."""

    facts: Mapping[str, Any] = field(default_factory=dict)
    timings: Mapping[str, float] = field(default_factory=dict)
