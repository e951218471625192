"""What an analysis is given: all models at once, or one of them to measure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mtlspec.plan.rows import ModelRow

Progress = Callable[[int, int, str], None]
"""(done, total, what): called as often as the work likes."""


@dataclass(frozen=True)
class AnalysisJob:
    """The models of an analysis; tables, figures and `analysis.json` go to `out`."""

    models: tuple[ModelRow, ...]
    inputs: Mapping[str, Path]  # role (the name of a stage, or `prepare`, `encoder`, `measure-encoder`) -> artifact
    out: Path
    progress: Progress = lambda *_: None

    def measurement(self, model: ModelRow) -> Path:
        """The artifact of a model's measurement."""
        assert model.measure is not None, "only analyses that measure ask for measurements"
        return self.inputs[model.measure]


@dataclass(frozen=True)
class Measurement:
    """One model, or the pre-trained encoder, to be measured; files go to `out`."""

    model: ModelRow | None  # None: the pre-trained encoder
    inputs: Mapping[str, Path]  # `train`, `prepare`, `encoder`, `evaluate`: those that the analysis needs
    out: Path
    device: str = "cpu"
    progress: Progress = lambda *_: None


@dataclass(frozen=True)
class Measured:
    """`facts` are deterministic JSON for the stage's record; `timings` are wall-clock figures, in no output."""

    facts: Mapping[str, Any] = field(default_factory=dict)
    timings: Mapping[str, float] = field(default_factory=dict)
