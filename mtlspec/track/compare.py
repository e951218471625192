"""Two records side by side, and one record against today's plan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from mtlspec.plan.types import Plan
from mtlspec.track.record import report_params
from mtlspec.track.score_rows import ScoreRow, score_rows

Kind = Literal["spec", "data", "encoder", "code", "packages", "environment", "stages"]


@dataclass(frozen=True)
class Change:
    """One thing that differs; None stands for `not there`."""

    kind: Kind
    what: str
    a: Any
    b: Any

    def __str__(self) -> str:
        return f"{self.kind} {self.what}: {_short(self.a)} → {_short(self.b)}"


@dataclass(frozen=True)
class RecordDiff:
    changes: tuple[Change, ...]
    scores: tuple[ScoreRow, ...]
    equal: tuple[str, ...]  # stages whose artifacts have the same bytes
    different: tuple[str, ...]
    only_a: tuple[str, ...]
    only_b: tuple[str, ...]

    @property
    def identical(self) -> bool:
        return not (self.changes or self.different or self.only_a or self.only_b)

    def as_json(self) -> dict[str, Any]:
        return {
            **asdict(self),
            "scores": [row.as_json() for row in self.scores],
            "identical": self.identical,
        }


@dataclass(frozen=True)
class Staleness:
    """Whether running again would compute anything, which stages, and what changed."""

    stages: tuple[str, ...]
    reasons: tuple[Change, ...]

    @property
    def stale(self) -> bool:
        return bool(self.stages)


def flatten(value: Any, prefix: str = "") -> dict[str, Any]:
    """Nested mappings as dotted keys; lists stay whole, an empty mapping is a value."""
    if not isinstance(value, Mapping) or not value:
        return {prefix: value}
    flat: dict[str, Any] = {}
    for key in sorted(value):
        flat |= flatten(value[key], f"{prefix}.{key}" if prefix else str(key))
    return flat


def diff(a: Mapping[str, Any], b: Mapping[str, Any]) -> RecordDiff:
    changes = [
        *_changes("spec", a["spec"]["resolved"], b["spec"]["resolved"]),
        *_changes("data", _cards(a, "data"), _cards(b, "data")),
        *_changes("encoder", _cards(a, "encoder"), _cards(b, "encoder")),
        *_changes("code", a["code"]["files"], b["code"]["files"]),
        *_changes("packages", a["code"]["packages"], b["code"]["packages"]),
        *_changes("environment", _environment(a), _environment(b)),
    ]
    first = {name: stage["artifact"] for name, stage in a["stages"].items()}
    second = {name: stage["artifact"] for name, stage in b["stages"].items()}
    both = sorted(first.keys() & second.keys())
    return RecordDiff(
        changes=tuple(changes),
        scores=score_rows(a, b),
        equal=tuple(name for name in both if first[name] == second[name]),
        different=tuple(name for name in both if first[name] != second[name]),
        only_a=tuple(sorted(first.keys() - second.keys())),
        only_b=tuple(sorted(second.keys() - first.keys())),
    )


def staleness(record: Mapping[str, Any], plan: Plan) -> Staleness:
    """Stage ids are digests of all inputs, so they decide; the reasons explain them."""
    recorded = {name: stage["id"] for name, stage in record["stages"].items()}
    planned = {stage.name: stage.id for stage in plan.stages}
    stale = [stage.name for stage in plan.stages if recorded.get(stage.name) != stage.id]
    stale += sorted(recorded.keys() - planned.keys())
    if not stale:
        return Staleness((), ())
    params = report_params(plan)
    files = {file: sha for unit in plan.units for file, sha in unit.files.items()}
    packages = {name: version for unit in plan.units for name, version in unit.packages.items()}
    reasons = [
        *_changes("spec", record["spec"]["resolved"], params["spec"]),
        *_changes("data", record["data"]["cards"], params["data"]),
        *_changes("encoder", record["encoder"]["card"], params["encoder"]),
        *_changes("code", record["code"]["files"], files),
        *_changes("packages", record["code"]["packages"], packages),
    ]
    never = [Change("stages", name, None, planned[name]) for name in record["missing"] if name in planned]
    return Staleness(tuple(stale), (*reasons, *never))


def _changes(kind: Kind, a: Mapping[str, Any], b: Mapping[str, Any]) -> list[Change]:
    first, second = flatten(a), flatten(b)
    names = sorted((first.keys() | second.keys()) - {""})
    return [
        Change(kind, name, first.get(name), second.get(name)) for name in names if first.get(name) != second.get(name)
    ]


def _cards(record: Mapping[str, Any], part: Literal["data", "encoder"]) -> dict[str, Any]:
    """The card of the encoder, or those of the corpora, with the digests of what they became."""
    about = record[part]
    return {**about["cards" if part == "data" else "card"], "artifact": dict(about["artifacts"])}


def _environment(record: Mapping[str, Any]) -> dict[str, Any]:
    """Stages may know different things (only those that compute ask torch); where they disagree, all answers stand."""
    answers: dict[str, list[Any]] = {}
    for environment in record["environments"].values():
        for name, value in flatten(environment).items():
            known = answers.setdefault(name, [])
            if value not in known:
                known.append(value)
    merged = {name: values[0] if len(values) == 1 else sorted(values, key=str) for name, values in answers.items()}
    return {**merged, "lock file": record["lock"]}


def _short(value: Any) -> str:
    text = "nothing" if value is None else str(value)
    is_digest = len(text) == 64 and set(text) <= set("0123456789abcdef")
    return text[:12] if is_digest else text if len(text) <= 60 else f"{text[:57]}..."
