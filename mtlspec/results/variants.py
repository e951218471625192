"""Models as analyses see them: seeds of one model group, task set and sweep point belong together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mtlspec.plan.rows import ModelRow


@dataclass(frozen=True)
class Variant:
    """A model group with one task set and one sweep point; its runs differ in nothing but the seed."""

    group: str
    tasks: tuple[str, ...]
    sweep: tuple[tuple[str, Any], ...] = field(hash=False)  # a value may be a mapping; runs tell points apart
    runs: tuple[ModelRow, ...]

    @property
    def label(self) -> str:
        """`pair: pos + ner`, with the sweep's values in brackets.

        If tasks are chosen: `oracle: pos + ner (selected)`, or `oracle: pos (none selected)`; `oracle: pos + any
        selected` where the choice is not known.
        """
        if not self.is_selected:
            return f"{self.group}: {' + '.join(self.tasks)}{self.point}"
        chosen = self.runs[0].chosen  # one choice serves all seeds
        further = ("any selected",) if chosen is None else chosen
        how = "" if chosen is None else " (selected)" if chosen else " (none selected)"
        return f"{self.group}: {' + '.join((*self.tasks, *further))}{how}{self.point}"

    @property
    def is_selected(self) -> bool:
        """Whether a stage decides which further tasks it learns; `tasks` are those that are known."""
        return any(run.select is not None for run in self.runs)

    @property
    def learnt(self) -> tuple[str, ...]:
        """Its tasks, and those that were chosen for it, as far as that is known."""
        return (*self.tasks, *(self.runs[0].chosen or ()))

    @property
    def is_single(self) -> bool:
        """Whether it learns one task and no other, for certain."""
        return len(self.tasks) == 1 and not self.is_selected

    @property
    def is_gated(self) -> bool:
        """Whether it has a gate for every head."""
        return any(run.gated for run in self.runs)

    @property
    def shared_starts(self) -> frozenset[str]:
        """The trainings that more than one run descends from: these runs share their luck."""
        met = Counter(start for run in self.runs for start in run.starts)
        return frozenset(start for start, times in met.items() if times > 1)

    @property
    def point(self) -> str:
        """The sweep's values in brackets, ` [lambda 0.1, sharing l0 (eps 0.1)]`; nothing without a sweep."""
        values = ", ".join(f"{key.rsplit('.', 1)[-1]} {_short(value)}" for key, value in self.sweep)
        return f" [{values}]" if values else ""

    @property
    def slug(self) -> str:
        """The stages' common name without the seed: `pair-pos-ner`."""
        return self.runs[0].slug

    @property
    def seeds(self) -> tuple[int, ...]:
        return tuple(run.seed for run in self.runs)


def _short(value: Any) -> str:
    """A kind with options as `l0 (lambda 0.1)`, lists without quotes, anything else as it is."""
    if isinstance(value, Mapping):
        options = ", ".join(f"{key} {_short(inner)}" for key, inner in value.items() if key != "type")
        kind = str(value.get("type", ""))
        return f"{kind} ({options})" if kind and options else kind or options
    if isinstance(value, list | tuple):
        return " + ".join(map(_short, value))
    return str(value)


def variants(models: Sequence[ModelRow]) -> tuple[Variant, ...]:
    """Models gathered over seeds, in order of first appearance."""
    gathered: dict[tuple[str, tuple[str, ...], str], list[ModelRow]] = {}
    for row in models:
        gathered.setdefault((row.group, row.tasks, repr(row.sweep)), []).append(row)
    return tuple(Variant(group, tasks, rows[0].sweep, tuple(rows)) for (group, tasks, _), rows in gathered.items())


def baseline_for(variant: Variant, task: str, baseline: str, among: Sequence[Variant]) -> Variant | None:
    """The model that `variant` is compared with on `task`: its control, or the single-task model of group `baseline`.

    Where these are swept too, the one with the same values is taken; one that is not swept serves all.
    """
    if variant.group == baseline:
        return None
    candidates = [other for other in among if is_control(other, variant)] or [
        other for other in among if other.group == baseline and other.is_single and task in other.tasks
    ]
    same = [other for other in candidates if other.sweep == variant.sweep]
    if same:
        return same[0]
    return candidates[0] if len(candidates) == 1 else None


def is_control(other: Variant, variant: Variant) -> bool:
    """Whether one model is the other without its gates: the same tasks, started from the very same models."""
    starts = {run.seed: run.starts for run in other.runs}
    return (
        variant.is_gated
        and not other.is_gated
        and set(other.tasks) == set(variant.tasks)
        and all(run.starts and run.starts == starts.get(run.seed) for run in variant.runs)
    )


def control_words(group: str, control: str) -> str:
    """A sentence for captions, with a blank before it."""
    return f" {group} is compared with {control}, which went on from the same models without gates."


def why_no_baseline(baseline: str, among: Sequence[Variant]) -> str:
    """A clause for captions, where `baseline_for` found nothing at all."""
    if all(variant.group != baseline for variant in among):
        return f"the group {baseline} is not part of this analysis; name it under `models`"
    return f"the group {baseline} has no single-task model of the same task and the same values of the sweep"
