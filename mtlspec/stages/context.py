"""What a stage sees of the world: its parameters, its inputs, and where to write."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Progress = Callable[[int, int, str], None]
"""(done, total, what): called as often as the stage likes; throttled by the receiver."""


def silent(done: int, total: int, what: str) -> None:
    """A progress receiver that nobody watches."""
    del done, total, what


@dataclass(frozen=True)
class StageContext:
    """Inputs are verified before the stage sees them; `out` becomes the artifact when the stage returns."""

    name: str
    params: Mapping[str, Any]
    inputs: Mapping[str, Path]  # role -> artifact directory
    out: Path  # an empty temporary directory; sealed and renamed after the stage
    work: Path  # resume points; kept when the stage is killed, removed when it succeeds
    identity: str  # digest of everything that determines the result; resume points carry it
    project_root: Path  # where cards look for corpora and encoder folders; nothing is written there
    progress: Progress = silent


@dataclass(frozen=True)
class StageResult:
    """What goes into the stage's record beside the artifact's digests."""

    scores: Mapping[str, float] = field(default_factory=dict)  # flat: `dev/pos/accuracy` -> 0.97
    facts: Mapping[str, Any] = field(default_factory=dict)  # deterministic JSON: sizes, counts, best epoch
    timings: Mapping[str, float] = field(default_factory=dict)  # seconds, tokens per second: never part of an output
