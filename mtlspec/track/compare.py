"""Two records side by side, and one record against today's plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from mtlspec.plan.phrases import changed, changed_file, changed_paths, first_of
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
        if self.kind == "stages":
            return f"stage {self.what} has not run"
        if self.kind == "code":
            return f"code: {changed_file(self.what, self.a, self.b)}"
        return changed(f"{'package' if self.kind == 'packages' else self.kind} {self.what}", self.a, self.b)


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
        """Nothing differs; a score that differs over the same bytes was edited, or summed up in another way."""
        scores_differ = any(row.a != row.b for row in self.scores)
        return not (self.changes or scores_differ or self.different or self.only_a or self.only_b)

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


def told(changes: Sequence[Change]) -> list[str]:
    """One phrase for each, but one for all sources and one for all stages: the first of them, and how many more.

    What a model's training has from that of the spec is said once.
    """
    of_all = {(change.what, str(change.a), str(change.b)) for change in changes if change.kind == "spec"}
    groups: dict[str, list[str]] = {}
    for change in changes:
        _, is_of_model, setting = change.what.partition(".train.")
        if is_of_model and (f"train.{setting}", str(change.a), str(change.b)) in of_all:
            continue
        gathered = change.kind in ("code", "stages")
        groups.setdefault(change.kind if gathered else f"{change.kind} {change.what}", []).append(str(change))
    return [first_of(phrases) for phrases in groups.values()]


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
    return [Change(kind, path, old, new) for path, old, new in changed_paths(a, b) if path]


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
