"""The scores of a table of transfer, each with an arrow where a rule or a test is sure of its direction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mtlspec.analyses._transfer.roles import Cast
from mtlspec.results.comparisons import difference_of
from mtlspec.results.estimates import mean_and_std
from mtlspec.results.evaluations import Evaluations, seed_scores
from mtlspec.results.inference import Family, corrected
from mtlspec.results.score_table import source_of
from mtlspec.results.transfer import Score, Transfer
from mtlspec.results.variants import Variant
from mtlspec.spec.k_sigma import KSigma
from mtlspec.spec.tagging_pack import Arrow

if TYPE_CHECKING:
    from mtlspec.analyses.transfer_table import Options

Against = tuple[Variant, str, Variant]  # a model, a task, and the model that it is compared with on it


@dataclass(frozen=True)
class Judged:
    """Arrows, and the words that say what they mean."""

    arrows: Mapping[tuple[str, str], Arrow]  # (model, task): models are known by their slugs
    words: str
    family: Family | None = None


def transfer_of(name: str, known: Cast, evaluations: Evaluations, judged: Judged) -> Transfer:
    def score(variant: Variant, task: str) -> Score | None:
        runs = seed_scores(variant, task, evaluations)
        if not runs:
            return None
        mean, std = mean_and_std(runs)
        return Score(mean, std, judged.arrows.get((variant.slug, task), ""), runs, source_of(variant))

    def scores(variant: Variant) -> dict[str, Score]:
        return {task: found for task in variant.tasks if (found := score(variant, task)) is not None}

    pairs: dict[str, dict[str, Score]] = {}
    for variant in known.of("pairs"):
        first, second = variant.tasks
        for task, partner in ((first, second), (second, first)):
            if (found := score(variant, task)) is not None:
                pairs.setdefault(partner, {})[task] = found
    oracle = {variant.tasks[0]: variant for variant in known.of("oracle")}
    return Transfer(
        name,
        known.tasks,
        alone={task: found for task, one in known.alone.items() if (found := score(one, task)) is not None},
        pairs=pairs,
        all={task: found for variant in known.of("all") for task, found in scores(variant).items()},
        oracle={task: found for task, one in oracle.items() if (found := score(_oracle(one, known), task)) is not None},
        chosen={task: variant.runs[0].chosen or () for task, variant in oracle.items()},
        without={known.left_out(variant): scores(variant) for variant in known.of("without")},
    )


def _oracle(variant: Variant, known: Cast) -> Variant:
    """Where no task was chosen, an oracle is the task alone, whichever way the others share."""
    return known.alone[variant.tasks[0]] if variant.runs[0].chosen == () else variant


def judge(options: Options, known: Cast, evaluations: Evaluations) -> Judged:
    """Arrows of all comparisons; models of all tasks but one are compared with that of all."""
    against = [
        (variant, task, known.alone[task])
        for role in ("pairs", "all", "oracle")
        for variant in known.of(role)
        for task in variant.tasks
        if not (variant.is_selected and variant.runs[0].chosen == ())  # the task alone, once more
    ]
    against += [
        (variant, task, everything)
        for everything in known.of("all")
        for variant in known.of("without")
        for task in variant.tasks
    ]
    scored = [one for one in against if seed_scores(one[0], one[1], evaluations)]
    return (_by_k_sigma if options.arrows == "k_sigma" else _by_tests)(options, scored, evaluations)


def _by_k_sigma(options: Options, against: list[Against], evaluations: Evaluations) -> Judged:
    rule = KSigma(options.k, options.ddof, options.rule)
    found: dict[tuple[str, str], Arrow] = {}
    for variant, task, other in against:
        ours, theirs = (rule.spread(seed_scores(side, task, evaluations)) for side in (variant, other))
        if rule.higher(ours, theirs):
            found[variant.slug, task] = "up"
        elif rule.higher(theirs, ours):
            found[variant.slug, task] = "down"
    gap = "reaches" if options.rule == "released" else "is above"
    words = f"↑: mean − {options.k:g} std {gap} mean + {options.k:g} std of what it is compared with; ↓: the reverse"
    return Judged(found, words)


def _by_tests(options: Options, against: list[Against], evaluations: Evaluations) -> Judged:
    tested = [difference_of(variant, other, task, evaluations) for variant, task, other in against]
    family, adjusted = corrected("all cells of the table", [one.p for one in tested], options.alpha)
    found: dict[tuple[str, str], Arrow] = {}
    for (variant, task, _), one, p in zip(against, tested, adjusted, strict=True):
        if p is not None and p < options.alpha:
            found[variant.slug, task] = "up" if one.difference > 0 else "down"
    words = f"↑ and ↓: significant at {options.alpha:g} over seeds and test sentences ({family.words})"
    return Judged(found, words, family)
