"""The chapter that sets the figures of CA-MTL beside ours, and asks its findings of this run, each by a test."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mtlspec.report.printed import printed_table
from mtlspec.report.published_findings import Finding, Verdict, mostly
from mtlspec.report.published_section import ANCHOR, sentences_of, verdict_rows
from mtlspec.report.section import Section
from mtlspec.report.wording import of_all
from mtlspec.results.averages import Averaged, compared, joint_rows, scored_tasks, single_row
from mtlspec.results.comparisons import Asked, compare
from mtlspec.results.evaluations import Evaluations
from mtlspec.results.inference import Difference, compare_scores
from mtlspec.results.tables import Table, interval_text, signed
from mtlspec.results.variants import Variant
from mtlspec.spec.published import ConditionalPack

_ABSENT: tuple[str, str, Verdict] = ("–", "–", "not in this run")
_ALPHA = 0.05


@dataclass(frozen=True)
class Conditional:
    """Both sides: the pack, and the models of this run."""

    pack: ConditionalPack
    spec: Mapping[str, Any]
    models: Sequence[Variant]
    evaluations: Evaluations

    def joint(self, sharing: str, sampler: str | None = None) -> Averaged | None:
        """The first model of all tasks that is shared in a way, by a sampler if that matters, and is not swept."""
        tasks = scored_tasks(self.models, self.evaluations)
        fitting = [
            variant
            for variant in self.models
            if not variant.sweep
            and self._of(variant, "sharing")["type"] == sharing
            and (sampler is None or self._of(variant, "train")["sampler"]["type"] == sampler)
        ]
        return next(iter(joint_rows(fitting, self.evaluations, tasks, {})), None)

    def without_uncertainty(self) -> Averaged | None:
        """A conditional model with another sampler."""
        samplers = dict.fromkeys(self._of(variant, "train")["sampler"]["type"] for variant in self.models)
        found = (self.joint("ca_mtl", sampler) for sampler in samplers if sampler != "mt_uncertainty")
        return next((one for one in found if one is not None), None)

    def baseline(self) -> Averaged | None:
        """Single-task models: of the first group that has one of each task."""
        tasks = scored_tasks(self.models, self.evaluations)
        groups = dict.fromkeys(variant.group for variant in self.models if variant.is_single)
        found = (single_row(self.models, self.evaluations, tasks, group, {}) for group in groups)
        return next((one for one in found if one is not None), None)

    def _of(self, variant: Variant, part: str) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self.spec["models"][variant.group][part]
        return found


def conditional_section(side: Conditional) -> Section:
    found = conditional_findings(side)
    notes = "".join(f" Note: {note}" for note in side.pack.notes)
    caption = (
        f"{side.pack.paper}; {side.pack.source}. A finding holds if its test agrees at {_ALPHA:g}, does not hold if "
        "the test contradicts it, and is undecided otherwise: differences that are not significant show nothing. "
        f"The paper has {side.pack.encoder} on {side.pack.corpus}, with one seed; other encoders, corpora and tasks "
        f"may well differ.{notes}"
    )
    columns = ("finding", "published", "here", "test", "verdict")
    tables = [Table("findings", "Published findings in this run", caption, columns, (("", verdict_rows(found)),))]
    tables += [printed_table(table) for table in side.pack.tables]
    return Section(ANCHOR, f"Beside the paper: {side.pack.title}", sentences_of(found), tuple(tables), ())


def conditional_findings(side: Conditional) -> list[Finding]:
    """Every finding, also where this run cannot answer."""
    plain, conditional = side.joint("hard"), side.joint("ca_mtl")
    sampled, other = side.joint("ca_mtl", "mt_uncertainty"), side.without_uncertainty()
    raised = "Uncertainty sampling raises the average of conditional models"
    modules = "Conditional modules give a higher average over tasks than plain multi-task learning"
    return [
        _averages(modules, _printed(side, "average", "mtl"), conditional, plain),
        _sigmas(side, conditional, plain),
        _averages(raised, _printed(side, "average", "+ conditional alignment and layer norm"), sampled, other),
        _not_below(side, conditional),
    ]


def _printed(side: Conditional, column: str, against: str) -> str:
    """What Table 1 or Table 4 has for CA-MTL and another row."""
    for table in (side.pack.table("ablation"), side.pack.table("all_tasks")):
        if table is not None and column in table.columns and against in table.names:
            at = table.columns.index(column) - 1
            return f"{table.numbers('ca_mtl')[at]:g} against {table.numbers(against)[at]:g}"
    return "–"


def _averages(statement: str, published: str, ours: Averaged | None, theirs: Averaged | None) -> Finding:
    if ours is None or theirs is None:
        return Finding(statement, published, *_ABSENT)
    what = f"{ours.label} against {theirs.label}"
    return _judged(statement, published, what, compared(ours, theirs), 1, "seeds and test examples")


def _sigmas(side: Conditional, ours: Averaged | None, theirs: Averaged | None) -> Finding:
    statement = "Conditional modules make the scores of tasks differ less (Task sigma)"
    published = _printed(side, "task sigma", "mtl")
    if ours is None or theirs is None:
        return Finding(statement, published, *_ABSENT)
    found = compare_scores(ours.sigmas(), theirs.sigmas(), power=False)
    what = f"{ours.label} against {theirs.label}"
    return _judged(statement, published, what, found, -1, "seeds, for these test examples")


def _judged(statement: str, published: str, what: str, found: Difference, sign: int, over: str) -> Finding:
    """It holds if the difference has the sign, by its test."""
    here = f"{what}: {signed(found.difference)}"
    if found.p is None:
        return Finding(statement, published, here, found.why, "undecided")
    sure = found.p < _ALPHA
    verdict: Verdict = "undecided" if not sure else "holds" if sign * found.difference > 0 else "does not hold"
    test = f"t test over {over}: p = {found.p:.3f}, 95 % interval {interval_text(found.interval)}"
    return Finding(statement, published, here, test, verdict)


def _not_below(side: Conditional, ours: Averaged | None) -> Finding:
    """A task that is significantly above its single-task model agrees, one that is below opposes."""
    statement = "One conditional model is above single-task models on most tasks"
    table, tasks = (
        (side.pack.table("all_tasks"), 24) if side.pack.table("all_tasks") else (side.pack.table("glue_test"), 9)
    )
    assert table is not None
    published = f"{table.numbers('ca_mtl')[table.columns.index('tasks not below') - 1]:g} of {tasks} tasks not below"
    single = side.baseline()
    if ours is None or single is None:
        return Finding(statement, published, *_ABSENT)
    group = single.variants[0].group
    found = compare([*ours.variants, *single.variants], side.evaluations, Asked(group, _ALPHA))
    above = sum(one.significant and one.delta > 0 for one in found)
    below = sum(one.significant and one.delta < 0 for one in found)
    total = len(ours.scores)
    here = f"not below on {of_all(ours.at_least(single), total, 'task')}"
    test = f"significantly above on {above}, below on {below} (Holm's correction over {len(found)})"
    return Finding(statement, published, here, test, mostly(above, below, total))
