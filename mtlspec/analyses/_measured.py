"""What the measurement of one model leaves behind beside its files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Measured:
    """`facts` are deterministic JSON for the stage's record; `timings` are wall-clock figures, in no output."""

    facts: Mapping[str, Any] = field(default_factory=dict)
    timings: Mapping[str, float] = field(default_factory=dict)
