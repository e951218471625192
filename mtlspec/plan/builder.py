"""How a plan grows: stages in the order they are added, each with the digest of everything that determines it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from mtlspec.io.digest import digest_value
from mtlspec.kinds import Frozen
from mtlspec.plan.code import Module, code_unit, kinds_in, unit_name
from mtlspec.plan.types import CodeUnit, Stage, StageKind

READS_EVALUATIONS: tuple[StageKind, ...] = ("select", "measure", "analyse", "report")


@dataclass
class Builder:
    """Stages in the order they are added; parents come before their children."""

    stages: dict[str, Stage] = field(default_factory=dict)
    units: dict[str, CodeUnit] = field(default_factory=dict)
    layers: dict[str, tuple[Module, ...]] = field(default_factory=dict)  # of prepared corpora, by their stage
    metrics: tuple[str, ...] = ()  # modules of those that a project's own tasks bring

    def add(self, kind: StageKind, name: str, params: Mapping[str, Any], inputs: Mapping[str, str], *kinds: Any) -> str:
        opened = [self.layers[parent] for parent in inputs.values() if parent in self.layers]
        named = tuple(kinds_in((*kinds, opened)))
        known = self.units.get(unit_name(kind, named))  # most stages share their sources with many others
        beside = self.metrics if kind in READS_EVALUATIONS else ()
        unit = known if known is not None else code_unit(kind, named, beside)
        self.units[unit.name] = unit
        identity = {
            "kind": kind,
            "params": dict(params),
            "inputs": {role: self.stages[parent].id for role, parent in inputs.items()},
            "code": unit.model_dump(mode="json"),
        }
        self.stages[name] = Stage(
            name=name,
            kind=kind,
            params=dict(params),
            inputs=dict(inputs),
            unit=unit.name,
            id=digest_value(identity)[:16],
        )
        return name


def dump(model: Frozen) -> dict[str, Any]:
    return model.model_dump(mode="json")
