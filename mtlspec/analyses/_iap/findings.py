"""What an analysis of masked models says, in sentences, tables and figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mtlspec.analyses._iap import figures, tables
from mtlspec.analyses._iap.compared import BeyondRandom, Compared, beyond_random, compare_groups
from mtlspec.analyses._iap.dissociation import DISTINCT, Verdict
from mtlspec.analyses._iap.specialised import Specialised, read
from mtlspec.errors import StageError
from mtlspec.model.head_sets import chance_overlaps, heads_per_layer, overlaps, spread_by_layer
from mtlspec.results.findings import Findings
from mtlspec.results.jobs import AnalysisJob
from mtlspec.results.tables import interval_text, signed

if TYPE_CHECKING:
    from mtlspec.analyses.iap import Options

_WORDS: dict[Verdict, str] = {
    "distinct double dissociation": f"each task has heads of its own, by {DISTINCT:g} points or more on average",
    "double dissociation": f"each task has heads of its own, by less than {DISTINCT:g} points on average",
    "single dissociation": f"one task has heads of its own (more than {DISTINCT:g} points), and another does not",
    "negative": "every task suffers more from losing the others' heads: importance was estimated wrongly",
    "none": "tasks have no heads of their own that would show",
}


def find(options: Options, job: AnalysisJob) -> dict[str, Any]:
    """Write everything; facts for the stage's record."""
    models, others = read(job)
    if not models:
        why = "; ".join(f"{label} ({reason})" for label, reason in others.items())
        hint = "name groups of several tasks, and a `split` with labels"
        raise StageError("E952", f"no model here has two tasks to tell apart: {why}", hint=hint)
    random, compared = beyond_random(models, options.test_alpha), compare_groups(models, options.test_alpha)
    several = [one for one in models if len(one.tasks) > 2]
    findings = Findings(
        type=options.type,
        title="Functional specialisation",
        summary=summary(options, models, others, random, compared),
        tables=(
            tables.dissociation_table(models, random),
            *([tables.comparison_table(compared)] if compared else []),
            tables.scores_table(models),
            *([tables.pairs_table(several)] if several else []),
            tables.overlap_table(models),
            tables.layers_table(models),
        ),
        figures=figures.draw(models, job.out / "figures"),
        numbers={
            "alpha": options.alpha,
            "models": [one.stored() for one in models],
            "comparisons": [one.stored() for one in compared],
        },
    )
    findings.write(job.out)
    return {"models": len(models), "verdicts": dict(sorted(Counter(one.judged.verdict for one in models).items()))}


def summary(
    options: Options,
    models: Sequence[Specialised],
    others: Mapping[str, str],
    random: BeyondRandom,
    compared: Sequence[Compared],
) -> tuple[str, ...]:
    told = [_verdicts(models), _beside_random(models, random), *_groups(compared), _in_common(models), _layers(models)]
    if options.iterative:
        told.append(_steps(models))
    if others:
        told.append(f"Not part of this: {'; '.join(f'{label} ({why})' for label, why in others.items())}.")
    return tuple(told)


def _verdicts(models: Sequence[Specialised]) -> str:
    counts = Counter(one.judged.verdict for one in models)
    shown = Counter(one.judged.verdict for one in models if one.judged.shown)
    if len(models) == 1:
        one = models[0]
        sure = "shown by" if one.judged.shown else "but not shown by"
        return (
            f"{one.variant.label}: {one.judged.verdict}, {sure} intervals over seeds and examples. "
            f"The average is {signed(one.average.difference)} points: {_WORDS[one.judged.verdict]}."
        )
    parts = [
        f"{name if name != 'none' else 'no dissociation'} in {counts[name]} ({_WORDS[name]}; shown by intervals in "
        f"{shown[name]})"
        for name in _WORDS
        if counts[name]
    ]
    return f"Of {len(models)} models of several tasks, by means over seeds: {'; '.join(parts)}."


def _beside_random(models: Sequence[Specialised], random: BeyondRandom) -> str:
    own, chance = (float(np.mean(values)) for values in zip(*_averages(models), strict=True))
    sure = sum(random.significant(place) and one.beyond_random.difference > 0 for place, one in enumerate(models))
    told = (
        f"Masking important heads dissociates tasks by {signed(own)} points on average, masking random heads with as "
        f"many in every layer by {signed(chance)}"
    )
    return f"{told}; in {sure} of {len(models)} models the difference is significant ({random.family.words})."


def _averages(models: Sequence[Specialised]) -> list[tuple[float, float]]:
    return [(one.average.difference, float(one.by_random.mean())) for one in models]


def _groups(compared: Sequence[Compared]) -> list[str]:
    """A sentence for each pair of groups."""
    sentences = []
    pairs = dict.fromkeys((one.model.variant.group, one.reference.variant.group) for one in compared)
    for group, reference in pairs:
        own = [one for one in compared if (one.model.variant.group, one.reference.variant.group) == (group, reference)]
        mean = float(np.mean([one.found.difference for one in own]))
        above, below = (sum(one.significant and one.found.difference * sign > 0 for one in own) for sign in (1, -1))
        first = f"{group} is {'more' if mean > 0 else 'less'} specialised than {reference} by {abs(mean):.2f} points"
        if len(own) == 1:
            words = "significant" if above or below else "not significant"
            told = f"{first} ({words}; 95 % interval {interval_text(own[0].found.interval)})."
        else:
            told = (
                f"{first}, on average over {len(own)} task sets; significantly more in {above} of them and less in "
                f"{below}."
            )
        sentences.append(told)
    return sentences


def _in_common(models: Sequence[Specialised]) -> str:
    met, chance = [], []
    for one in models:
        apart = ~np.eye(len(one.tasks), dtype=np.bool_)
        met.append(float(overlaps(one.sets)[:, apart].mean()))
        chance.append(float(chance_overlaps(one.sets, np.array(one.heads))[:, apart].mean()))
    return (
        f"Two tasks of a model have {np.mean(met):.0f} % of their important heads in common; random sets with as many "
        f"in every layer would have {np.mean(chance):.0f} %."
    )


def _layers(models: Sequence[Specialised]) -> str:
    one = max(models, key=lambda one: len(one.tasks))
    spread = spread_by_layer(heads_per_layer(one.sets).mean(0))
    layer = int(spread.argmax())
    return (
        f"{one.variant.label}: tasks differ most in layer {layer + 1} (standard deviation of their heads there "
        f"{float(spread[layer]):.2f})."
    )


def _steps(models: Sequence[Specialised]) -> str:
    kept = [float((one.sets & one.one_shot).sum() / one.sets.sum()) for one in models if one.one_shot is not None]
    return (
        f"Heads were found step by step; {100 * float(np.mean(kept)):.0f} % of them are also at the top of one ranking "
        "of the whole model."
    )
