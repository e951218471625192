"""Published figures beside ours, and which of the published findings this run shows, too."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mtlspec.report.published_tests import Tests, compared_scores, told_tests
from mtlspec.results.comparisons import difference_of
from mtlspec.results.estimates import mean_and_std
from mtlspec.results.evaluations import Evaluations, seed_scores
from mtlspec.results.findings import Findings
from mtlspec.results.inference import Difference, Family
from mtlspec.results.kept import recorded_share
from mtlspec.results.lengths import EQUAL, Lengths, Times, read_lengths, times
from mtlspec.results.tables import Cell
from mtlspec.results.variants import Variant
from mtlspec.spec.packs import Pack

_WAYS = {"hard": "", "l0 dynamic": "_dp", "l0 static": "_sp"}
_KIND_OF_SHARING = (
    "sharing",
    "sharing.type",
    "sharing.mode",
)  # swept over these, the spec does not tell a model's role


@dataclass(frozen=True)
class Ours:
    """A score of this run that has a published counterpart."""

    mean: float
    std: float | None
    variant: Variant
    found: Difference | None = None  # to single-task learning, with the variance of seeds and of sentences
    p: float | None = None  # of that difference, after Holm's correction; None where it was not tested
    times: Times = EQUAL  # as long as single-task learning it was trained

    @property
    def delta(self) -> float | None:
        return None if self.found is None else self.found.difference

    @property
    def source(self) -> str:
        seeds = ", ".join(str(seed) for seed in self.variant.seeds)
        return f"{' · '.join(run.evaluate for run in self.variant.runs)} | seeds {seeds}"


@dataclass(frozen=True)
class Side:
    """Both sides. Models are known by role: `stl`, `mtl`, `stl_dp`, or `pos+ner` for a pair."""

    pack: Pack
    tasks: tuple[str, ...]  # those that both have
    ours: Mapping[tuple[str, str], Ours]  # (role, task)
    kept: Mapping[tuple[str, str], Mapping[str, float]]  # (role, task) -> training stage -> heads kept, in percent
    alpha: float
    families: tuple[Family, ...] = ()  # in which the p values were corrected
    unscored: tuple[str, ...] = ()  # of the tasks, those whose test split has no labels here
    scores: Mapping[str, str] = field(default_factory=dict)  # task -> the score of ours that is compared

    def published(self, role: str, task: str) -> tuple[float, float] | None:
        return (self.pack.pairs if "+" in role else self.pack.scores).get(role, {}).get(task)

    def published_delta(self, role: str, task: str) -> float | None:
        value, base = self.published(role, task), self.published("stl", task)
        return None if value is None or base is None else value[0] - base[0]

    def significant(self, ours: Ours) -> bool:
        return ours.p is not None and ours.p < self.alpha

    @property
    def roles(self) -> tuple[str, ...]:
        """In the order of the pack: groups, pairs after `stl`."""
        return ("stl", *self.pack.pairs, *(role for role in self.pack.scores if role != "stl"))


def bring_together(
    pack: Pack,
    spec: Mapping[str, Any],
    models: Sequence[Variant],
    evaluations: Evaluations,
    found: Sequence[Findings],
    inputs: Mapping[str, Path],
) -> Side:
    """Models take a role by what they are: how many of the tasks they learn, and how they share.

    The first of several groups in one role stands for it. A model that is swept over several values has no role: none
    of its points is more like the published model than the others. Like is compared with like: the score of a task is
    the published one wherever ours has it.
    """
    tasks = tuple(task for task in pack.metrics if task in spec["tasks"])
    scores = compared_scores(pack, tasks, models, evaluations)
    tests, alpha = told_tests(found, models, evaluations, scores)
    families = tuple(dict.fromkeys(test.family for test in tests.values()))
    lengths = read_lengths(models, inputs)
    by_role: dict[str, Variant] = {}
    points = Counter((variant.group, variant.tasks) for variant in models)
    for variant in models:
        role = role_of(variant, spec, pack)
        if role is not None and points[variant.group, variant.tasks] == 1:
            by_role.setdefault(f"{role}:{variant.tasks[0]}" if role.startswith("stl") else role, variant)
    ours: dict[tuple[str, str], Ours] = {}
    kept: dict[tuple[str, str], Mapping[str, float]] = {}
    for key, variant in by_role.items():
        role = key.partition(":")[0]
        for task in variant.tasks:
            if task in tasks:
                if seed_scores(variant, task, evaluations):  # none where test has no labels
                    base = by_role.get(f"stl:{task}")
                    ours[role, task] = _ours(variant, task, base, evaluations, lengths, tests, scores[task])
                if shares := _kept_shares(variant, inputs):
                    kept[role, task] = shares
    models_of = {task: variant for variant in models for task in variant.tasks}
    unscored = tuple(t for t in tasks if t in models_of and not seed_scores(models_of[t], t, evaluations))
    return Side(pack, tasks, ours, kept, alpha, families, unscored, scores)


def role_of(variant: Variant, spec: Mapping[str, Any], pack: Pack) -> str | None:
    """`stl`, `a+b`, `mtl`, with `_dp` or `_sp` where heads are pruned; None for a model that the pack does not know."""
    if any(key in _KIND_OF_SHARING for key, _ in variant.sweep):
        return None
    sharing = spec["models"][variant.group]["sharing"]
    way = _WAYS.get(sharing["type"] if sharing["type"] != "l0" else f"l0 {sharing['mode']}")
    if way is None or variant.is_selected:
        return None
    if variant.is_single:
        return f"stl{way}"
    if set(variant.tasks) == set(pack.metrics):  # fewer tasks would be another model than the published one
        return f"mtl{way}"
    if way:
        return None
    return next((pair for pair in pack.pairs if set(pair.split("+")) == set(variant.tasks)), None)


def _ours(
    variant: Variant,
    task: str,
    base: Variant | None,
    evaluations: Evaluations,
    lengths: Lengths,
    tests: Tests,
    score: str,
) -> Ours:
    mean, std = mean_and_std(seed_scores(variant, task, evaluations, score))
    if base is None or base is variant:
        return Ours(mean, std, variant)
    test = tests.get((variant.label, task, base.label))
    found = test.found if test is not None else difference_of(variant, base, task, evaluations, score=score)
    longer = times(variant, base, task, lengths)
    return Ours(mean, std, variant, found, None if test is None else test.p_holm, longer)


def _kept_shares(variant: Variant, inputs: Mapping[str, Path]) -> dict[str, float]:
    """The share of heads that each run keeps, in percent; empty for models without gates."""
    shares = {run.train: recorded_share(inputs[run.train]) for run in variant.runs}
    return {train: 100 * share for train, share in shares.items() if share is not None}


def our_cell(ours: Ours | None) -> Cell:
    if ours is None:
        return Cell("–")
    text = f"{ours.mean:.2f}" + ("" if ours.std is None else f" ± {ours.std:.2f}")
    return Cell(text, ours.mean, ours.std, source=ours.source)
