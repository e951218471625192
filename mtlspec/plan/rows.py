"""The row of a model: what stages that read models (measure, analyse, report) are told of each of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from mtlspec.errors import IntegrityError


@dataclass(frozen=True)
class ModelRow:
    """One trained and evaluated model; `train`, `evaluate`, `measure` and `select` are names of stages."""

    group: str
    tasks: tuple[str, ...]
    seed: int
    sweep: tuple[tuple[str, Any], ...] = field(hash=False)  # a value may be a mapping; the stages tell points apart
    train: str
    evaluate: str
    measure: str | None = None  # its measurement, in the rows of an analysis that measures
    select: str | None = None  # what decides which further tasks it learns; None: `tasks` are all of them
    starts: tuple[str, ...] = ()  # trainings whose weights it descends from, the nearest first
    gated: bool = False  # whether it has a gate for every head
    chosen: tuple[str, ...] | None = None  # those further tasks, once they are known; never part of a plan

    @property
    def name(self) -> str:
        """`pair-pos-ner-s1`"""
        return self.train.removeprefix("train-")

    @property
    def slug(self) -> str:
        """The name without the seed."""
        return self.name.removesuffix(f"-s{self.seed}")

    def stored(self) -> dict[str, Any]:
        """As a stage's parameters hold it: JSON, lists for tuples."""
        planned = {name: value for name, value in asdict(self).items() if name not in ("chosen", "starts", "gated")}
        starts = {"starts": list(self.starts)} if self.starts else {}
        gated = {"gated": True} if self.gated else {}
        return {**planned, "tasks": list(self.tasks), "sweep": [list(pair) for pair in self.sweep], **starts, **gated}

    @classmethod
    def restored(cls, raw: Mapping[str, Any]) -> ModelRow:
        """The inverse of `stored`."""
        sweep = tuple((str(key), value) for key, value in raw["sweep"])
        starts = tuple(raw.get("starts", ()))
        return cls(**{**raw, "tasks": tuple(raw["tasks"]), "sweep": sweep, "starts": starts})


def restored_rows(stored: Sequence[Mapping[str, Any]]) -> tuple[ModelRow, ...]:
    """The parameter `models` of a stage; a plan of an older mtlspec may say it otherwise."""
    try:
        return tuple(ModelRow.restored(raw) for raw in stored)
    except (TypeError, KeyError, ValueError):
        hint = "`mtlspec run` or `mtlspec plan --write` writes it anew"
        raise IntegrityError("E517", "the plan is outgrown: an older mtlspec wrote it", None, hint) from None
