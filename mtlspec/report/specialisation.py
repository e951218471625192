"""Published findings of functional specialisation as questions to this run: what is printed, what is here, which test.

They are about ways of training and not about tasks of certain names, so that a study of other tasks can answer, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mtlspec.report.published_findings import Finding, Verdict, mostly
from mtlspec.report.wording import noun, of_all
from mtlspec.results.comparisons import difference_of
from mtlspec.results.evaluations import Evaluations, seed_scores
from mtlspec.results.findings import Findings
from mtlspec.results.inference import Difference, Family, corrected
from mtlspec.results.tables import signed
from mtlspec.results.variants import Variant
from mtlspec.spec.published import PublishedTable, SpecialisationPack

_ABSENT: tuple[str, str, Verdict] = ("–", "–", "not in this run")
_INTERVALS = "95 % intervals over seeds and examples"


@dataclass(frozen=True)
class Specialisation:
    """Both sides: the pack, and what analyses of this run found."""

    pack: SpecialisationPack
    spec: Mapping[str, Any]
    models: Sequence[Variant]
    evaluations: Evaluations
    dissociated: Sequence[Mapping[str, Any]]  # models, as `iap` stores them
    compared: Sequence[Mapping[str, Any]]  # groups beside each other, as `iap` stores them
    relations: Sequence[Mapping[str, Any]]  # as `task_similarity` stores them
    alpha: float = 0.05

    @classmethod
    def of(
        cls,
        pack: SpecialisationPack,
        spec: Mapping[str, Any],
        models: Sequence[Variant],
        evaluations: Evaluations,
        found: Sequence[Findings],
    ) -> Specialisation:
        iap = [own.numbers for own in found if own.type == "iap"]
        similar = [own.numbers for own in found if own.type == "task_similarity"]
        return cls(
            pack,
            spec,
            models,
            evaluations,
            [model for numbers in iap for model in numbers["models"]],
            [one for numbers in iap for one in numbers["comparisons"]],
            [one for numbers in similar for one in numbers["relations"]],
        )

    def sharing(self, group: str) -> str:
        return str(self.spec["models"][group]["sharing"]["type"])

    def is_frozen(self, group: str) -> bool:
        return bool(self.spec["models"][group]["train"]["freeze"] == 1.0)

    def plain_pairs(self) -> list[Mapping[str, Any]]:
        """Models of two tasks with hard sharing, all of it trained; the first group of them in the spec."""
        fitting = [
            one
            for one in self.dissociated
            if len(one["tasks"]) == 2 and self.sharing(one["group"]) == "hard" and not self.is_frozen(one["group"])
        ]
        return [one for one in fitting if one["group"] == fitting[0]["group"]]


def specialisation_findings(side: Specialisation) -> list[Finding]:
    """Every finding, also where this run cannot answer."""
    return [_positive(side), *_frozen(side), _raised(side), *_above(side), _similar(side)]


def _positive(side: Specialisation) -> Finding:
    """Every dissociation of every pair must be above zero by its interval."""
    statement = "In every pair of tasks, each task has heads of its own (all dissociations are positive)"
    table = side.pack.table("pairs")
    printed = [value for pair in _pairs(table) for value in _known(table, pair)[:2]]
    published = f"{sum(value > 0 for value in printed)} of {len(printed)} dissociations above zero"
    own = [Difference.restored(raw) for one in side.plain_pairs() for raw in one["by_task"]]
    if not own:
        return Finding(statement, published, *_ABSENT)
    bounds = [one.interval for one in own if one.interval is not None]
    above, below = sum(low > 0 for low, _ in bounds), sum(high < 0 for _, high in bounds)
    here = f"{sum(one.difference > 0 for one in own)} of {len(own)} above zero"
    test = f"{_INTERVALS}: {above} of {len(own)} above zero, {below} below" if bounds else "one seed: no interval"
    verdict: Verdict = "does not hold" if below else ("holds" if above == len(own) else "undecided")
    return Finding(statement, published, here, test, verdict)


def _frozen(side: Specialisation) -> Iterator[Finding]:
    trained, frozen = side.pack.table("pairs"), side.pack.table("pairs_frozen")
    if frozen is None:
        return
    averages = [[sum(_known(table, pair)[:2]) / 2 for pair in _pairs(table)] for table in (trained, frozen)]
    below = sum(b < a for a, b in zip(*averages, strict=True))
    published = f"below in {of_all(below, len(averages[0]), 'pair')}"
    own = [one for one in side.compared if side.is_frozen(_group(one)) and len(_tasks(side, one)) == 2]
    yield _by_groups(
        "A frozen encoder is less specialised than a trained one, in most pairs", published, own, -1, side.alpha
    )


def _raised(side: Specialisation) -> Finding:
    own = [one for one in side.compared if side.sharing(_group(one)) == "iat" and side.sharing(_beside(one)) == "hard"]
    return _by_groups("IAT makes models more specialised", "raised in all five encoders (Figure 8)", own, 1, side.alpha)


def _by_groups(statement: str, published: str, own: Sequence[Mapping[str, Any]], sign: int, alpha: float) -> Finding:
    """Comparisons of average dissociations; more than half must go the way of `sign`, each by its test."""
    if not own:
        return Finding(statement, published, *_ABSENT)
    found = [Difference.restored(one["found"]) for one in own]
    sure = [one["p_holm"] is not None and one["p_holm"] < alpha for one in own]
    agree, oppose = (
        sum(certain and one.difference * way > 0 for certain, one in zip(sure, found, strict=True))
        for way in (sign, -sign)
    )
    mean = sum(one.difference for one in found) / len(found)
    here = f"{signed(mean)} points on average over {len(own)} {noun(len(own), 'model')}"
    test = f"t tests over seeds and examples, Holm's correction: {agree} agree, {oppose} contradict, of {len(own)}"
    return Finding(statement, published, here, test, mostly(agree, oppose, len(own)))


def _above(side: Specialisation) -> Iterator[Finding]:
    table = side.pack.table("glue_test")
    if table is None:
        return
    printed = [b - a for a, b in zip(*(table.numbers(row)[:-1] for row in ("mtl", "iat")), strict=True) if a and b]
    statement = "IAT is mostly above plain multi-task learning"
    ups = of_all(sum(change > 0 for change in printed), len(printed), "score")
    published = f"above in {ups}, {signed(sum(printed) / len(printed))} points on average"
    compared = list(_iat_beside_hard(side))
    if not compared:
        yield Finding(statement, published, *_ABSENT)
        return
    family, adjusted = corrected("iat with plain multi-task learning", [one.p for one in compared], side.alpha)
    yield _judged(statement, published, compared, family, adjusted)


def _judged(
    statement: str,
    published: str,
    compared: Sequence[Difference],
    family: Family,
    adjusted: Sequence[float | None],
) -> Finding:
    sure = [one.difference for one, p in zip(compared, adjusted, strict=True) if p is not None and p < family.alpha]
    up = sum(change > 0 for change in sure)
    changes = [one.difference for one in compared]
    ups = of_all(sum(change > 0 for change in changes), len(changes), "task")
    here = f"above in {ups}, {signed(sum(changes) / len(changes))} points on average"
    test = f"t tests over seeds and sentences, {family.words}: {up} significantly above, {len(sure) - up} below"
    return Finding(statement, published, here, test, mostly(up, len(sure) - up, len(compared)))


def _iat_beside_hard(side: Specialisation) -> Iterator[Difference]:
    """Of each task of the largest task set that both ways of sharing learn, in groups that are not swept."""
    unswept = [one for one in side.models if not one.sweep and not one.is_selected and not side.is_frozen(one.group)]
    iat = [one for one in unswept if side.sharing(one.group) == "iat" and len(one.tasks) > 1]
    for one in sorted(iat, key=lambda one: -len(one.tasks)):
        hard = [b for b in unswept if side.sharing(b.group) == "hard" and set(b.tasks) == set(one.tasks)]
        if hard:
            for task in one.tasks:
                if seed_scores(one, task, side.evaluations):
                    yield difference_of(one, hard[0], task, side.evaluations)
            return


def _similar(side: Specialisation) -> Finding:
    statement = "The more alike two tasks are, the less they dissociate, by every measure of similarity"
    published = "negative by four measures (Figures 3 and 5 to 7)"
    own = [one for one in side.relations if one["r"] is not None]
    if not own:
        return Finding(statement, published, *_ABSENT)
    sure = [one["r"] for one in own if one["p_holm"] is not None and one["p_holm"] < side.alpha]
    below = sum(r < 0 for r in sure)
    here = f"negative in {of_all(sum(one['r'] < 0 for one in own), len(own), 'relation')}"
    test = (
        f"tasks exchange their names, Holm's correction: {below} significantly negative, {len(sure) - below} positive"
    )
    verdict: Verdict = "does not hold" if below < len(sure) else ("holds" if below == len(own) else "undecided")
    return Finding(statement, published, here, test, verdict)


def _pairs(table: PublishedTable | None) -> list[str]:
    return [] if table is None else [name for name in table.names if "+" in name]


def _known(table: PublishedTable | None, row: str) -> list[float]:
    return [] if table is None else [value for value in table.numbers(row) if value is not None]


def _group(comparison: Mapping[str, Any]) -> str:
    return str(comparison["model"]).partition(": ")[0]


def _beside(comparison: Mapping[str, Any]) -> str:
    return str(comparison["reference"]).partition(": ")[0]


def _tasks(side: Specialisation, comparison: Mapping[str, Any]) -> Sequence[str]:
    return next((one["tasks"] for one in side.dissociated if one["model"] == comparison["model"]), ())
