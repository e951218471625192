"""Which models are which rows of the table: told by the tasks that the models of a group learn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from mtlspec.errors import StageError
from mtlspec.results.variants import Variant

Role = Literal["pairs", "all", "oracle", "without"]
_ROLES: tuple[Role, ...] = ("pairs", "all", "without", "oracle")
_SPOKEN: Mapping[Role, str] = {
    "pairs": "pairs of tasks",
    "all": "all tasks",
    "without": "all tasks but one",
    "oracle": "tasks that were chosen",
}


@dataclass(frozen=True)
class Cast:
    """The models of one way of sharing."""

    tasks: tuple[str, ...]
    alone: Mapping[str, Variant]
    groups: Mapping[Role, tuple[Variant, ...]] = field(default_factory=dict)

    def of(self, role: Role) -> tuple[Variant, ...]:
        return self.groups.get(role, ())

    def left_out(self, variant: Variant) -> str:
        """The task that a model of all but one does not learn."""
        return next(task for task in self.tasks if task not in variant.tasks)


def cast(models: Sequence[Variant], baseline: str) -> Cast:
    """Groups that are neither are passed over; two groups in one role, or several values of a sweep, are refused."""
    _refuse_sweeps(models)
    alone = {variant.tasks[0]: variant for variant in models if variant.group == baseline and variant.is_single}
    tasks = tuple(alone)
    groups: dict[Role, tuple[Variant, ...]] = {}
    for group in dict.fromkeys(variant.group for variant in models if variant.group != baseline):
        own = tuple(variant for variant in models if variant.group == group)
        fitting = [role for role in _ROLES if _fits(role, own, set(tasks))]
        role = next((role for role in fitting if role not in groups), None)
        if role is not None:
            groups[role] = own
        elif fitting:
            message = f"'{groups[fitting[0]][0].group}' and '{group}' both have models of {_SPOKEN[fitting[0]]}"
            hint = "name the groups of one way of sharing under `models`, and make a table for each way"
            raise StageError("E774", message, hint=hint)
    return Cast(tasks, alone, groups)


def _refuse_sweeps(models: Sequence[Variant]) -> None:
    points: dict[tuple[str, tuple[str, ...]], Variant] = {}
    for variant in models:
        if (variant.group, variant.tasks) in points:
            message = f"the group '{variant.group}' is swept, and a table of transfer shows one setting of each group"
            raise StageError("E775", message, hint="name groups that are not swept under `models`")
        points[variant.group, variant.tasks] = variant


def _fits(role: Role, own: Sequence[Variant], tasks: set[str]) -> bool:
    """With two or three tasks a group fits two roles; the first that is free is its own."""
    if role == "oracle":
        return all(variant.is_selected and len(variant.tasks) == 1 for variant in own)
    size = {"pairs": 2, "all": len(tasks), "without": len(tasks) - 1}[role]
    known = all(not variant.is_selected and set(variant.tasks) <= tasks for variant in own)
    return known and size > 1 and all(len(variant.tasks) == size for variant in own)
