"""Checks of what an analysis compares models with: single-task models of one group, its baseline."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from mtlspec.errors import SpecError
from mtlspec.spec.demands import Comparing
from mtlspec.spec.families import AnalysisOptions
from mtlspec.spec.models import ExperimentSpec, ModelGroup
from mtlspec.spec.nodes import Node
from mtlspec.spec.selected import SelectedTaskSet
from mtlspec.spec.words import either


def check_baseline(
    name: str, analysis: Node, options: AnalysisOptions, node: Node, groups: Mapping[str, ModelGroup]
) -> Iterator[SpecError]:
    """Several groups, and none of the models that they are compared with: there would be no comparison.

    `groups` are the model groups that are sound on their own; of the others nothing is said here.
    """
    baseline = getattr(options, "baseline", None)
    compared = options.models or tuple(node.children("models"))
    if not isinstance(baseline, str) or len(compared) < 2:
        return
    said, tasks = analysis.child("baseline"), tuple(node.children("tasks"))
    fitting = [group for group in compared if group in groups and _has_single(groups[group], tasks)]
    hint = f"set `baseline`: {either(fitting)}" if fitting else "add a group with `tasks: each`"
    if baseline not in compared:
        if said is None:  # else it was checked as any name of a group
            message = f"the analysis '{name}' compares with '{baseline}' by default, which is none of its model groups"
            yield SpecError("E825", message, analysis.place, hint)
    elif isinstance(options, Comparing) and baseline not in fitting and not _unsure(compared, groups):
        message = f"the analysis '{name}' compares with single-task models of '{baseline}', which has none"
        yield SpecError("E910", message, (said or analysis).place, hint)


def uncompared(spec: ExperimentSpec) -> Iterator[str]:
    """Analyses of one group without their baseline: sound, but whoever expects a comparison should know."""
    for name, options in spec.analyses.items():
        compared = options.models or tuple(spec.models)
        if isinstance(options, Comparing) and len(compared) == 1 and options.baseline not in compared:
            yield (
                f"the analysis '{name}' has scores and no comparisons: '{options.baseline}', which it compares with, "
                "is none of its model groups"
            )


def _unsure(compared: Sequence[str], groups: Mapping[str, ModelGroup]) -> bool:
    """Whether there may be other comparisons: of models with those that went on from the same ones without gates."""
    return any(group not in groups or groups[group].starts_from for group in compared)


def _has_single(group: ModelGroup, tasks: Sequence[str]) -> bool:
    """Whether one of its models learns one task and no other, for certain."""
    chosen = isinstance(group.task_set, SelectedTaskSet)
    return not chosen and any(len(names) == 1 for _, names in group.task_set.sets(tasks))
