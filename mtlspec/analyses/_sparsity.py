"""Points of the sparsity curve: one for every gated model and task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from mtlspec.analyses._gates import gates_of
from mtlspec.errors import StageError
from mtlspec.results.comparisons import difference_of
from mtlspec.results.estimates import mean_and_std
from mtlspec.results.evaluations import Evaluations, read_evaluations, seed_scores, unscored_words
from mtlspec.results.figures import Line, curves
from mtlspec.results.findings import Figure
from mtlspec.results.inference import LEVEL, MARGIN, Difference, corrected
from mtlspec.results.jobs import AnalysisJob
from mtlspec.results.lengths import Lengths, Times, but_unequal, read_lengths, times
from mtlspec.results.tables import Cell, Table, interval_text, score_text, signed, tone_of_change
from mtlspec.results.variants import Variant, baseline_for, why_no_baseline


@dataclass(frozen=True)
class Point:
    """A gated model on one task; percentages, per run."""

    variant: Variant
    task: str
    kept: tuple[float, ...]
    scores: tuple[float, ...]
    baseline: tuple[float, ...] = ()  # scores of the single-task model it is compared with; none: empty
    found: Difference | None = None  # to that model, on test
    dev_change: float | None = None  # and on dev, where models are chosen
    against: str = ""  # the group of that model
    times: Times | None = None  # as long it was trained

    @property
    def whole(self) -> float | None:
        return float(np.mean(self.baseline)) if self.baseline else None

    @property
    def change(self) -> float | None:
        return None if self.found is None else self.found.difference

    @property
    def share(self) -> float:
        return float(np.mean(self.kept))


@dataclass(frozen=True)
class Curve:
    """All points, the group they are compared with, and the models of the analysis."""

    points: Sequence[Point]
    baseline: str
    variants: Sequence[Variant]
    unscored: Mapping[str, str] = field(
        default_factory=dict
    )  # tasks without a test score -> why their labels give none, if they have any

    def reference(self) -> str:
        """What the points are compared with, as a noun."""
        gated = any(point.variant.group == self.baseline for point in self.points)
        heads = "which has gates itself" if gated else "which has all heads"
        pairs = dict.fromkeys((one.variant.group, one.against) for one in self.compared if one.against != self.baseline)
        controls = "".join(
            f"; of {group}, to {control}, which trained as {group} did without gates" for group, control in pairs
        )
        return f"the single-task model of {self.baseline}, {heads}{controls}"

    @property
    def compared(self) -> list[Point]:
        return [point for point in self.points if point.change is not None]


def measured(variants: Sequence[Variant], job: AnalysisJob, baseline: str) -> Curve:
    evaluations, lengths = read_evaluations(variants, job.inputs), read_lengths(variants, job.inputs)
    found: list[Point] = []
    unscored: dict[str, str] = {}
    for done, variant in enumerate(variants):
        job.progress(done, len(variants), variant.label)
        gated = gates_of(variant, job)
        for task in variant.tasks if gated is not None else ():
            assert gated is not None
            if not seed_scores(variant, task, evaluations):
                unscored[task] = evaluations[variant.runs[0].evaluate].undefined(task)
                continue
            kept = tuple(100 * share for share in gated.kept)
            point = Point(variant, task, kept, seed_scores(variant, task, evaluations))
            against = baseline_for(variant, task, baseline, variants)
            found.append(point if against is None else _compared(point, against, evaluations, lengths))
    if not found and not unscored:
        raise StageError(
            "E454",
            "no model of this analysis has head gates",
            hint="train groups with `sharing: l0`, swept over lambda",
        )
    return Curve(found, baseline, variants, unscored)


def _compared(point: Point, against: Variant, evaluations: Evaluations, lengths: Lengths) -> Point:
    ours, theirs = (_dev_mean(variant, point.task, evaluations) for variant in (point.variant, against))
    return replace(
        point,
        baseline=seed_scores(against, point.task, evaluations),
        found=difference_of(point.variant, against, point.task, evaluations),
        dev_change=None if ours is None or theirs is None else ours - theirs,
        against=against.group,
        times=times(point.variant, against, point.task, lengths),
    )


def _dev_mean(variant: Variant, task: str, evaluations: Evaluations) -> float | None:
    """None where dev was not scored."""
    found = [evaluations[run.evaluate] for run in variant.runs]
    known = all("dev" in one.splits(task) for one in found)
    return float(np.mean([one.score(task, "dev") for one in found])) if known else None


def points_table(curve: Curve) -> Table:
    sections, found = [], curve.points
    compared = [point for point in found if point.found is not None]
    name = f"gated models with {curve.baseline}"
    family, adjusted = corrected(name, [point.found.p for point in compared if point.found is not None], LEVEL)
    sure = [point for point, p in zip(compared, adjusted, strict=True) if p is not None and p < LEVEL]
    for task in dict.fromkeys(point.task for point in found):
        own = sorted((point for point in found if point.task == task), key=lambda point: -point.share)
        sections.append((task, tuple(_line(point, any(point is one for one in sure)) for point in own)))
    change = (
        f"Δ is the difference to {curve.reference()}, on test with its 95 % interval over seeds and sentences, and on "
        f"dev, where models are chosen; blue above and red below, if it is told from zero at {100 * LEVEL:g} % "
        f"({family.words}). Loss of at most {MARGIN:g} point: whether the interval excludes a greater one."
        if curve.compared
        else f"Δ is empty: {why_no_baseline(curve.baseline, curve.variants)}."
    )
    caption = (
        f"Test scores of gated models, those that keep most heads first. {change} Read down a section to see where the "
        "score begins to fall."
    ) + _unscored(curve)
    columns = ("model", "heads kept, %", "score", "Δ on dev", "Δ", "95 % interval", f"loss of at most {MARGIN:g} point")
    return Table("sparsity", "Scores and heads kept", caption, columns, tuple(sections))


def _unscored(curve: Curve) -> str:
    return f" Left out: {unscored_words(curve.unscored)}." if curve.unscored else ""


def _line(point: Point, sure: bool) -> tuple[Cell, ...]:
    variant = point.variant
    source = f"{variant.slug}, seeds {', '.join(map(str, variant.seeds))}"
    kept, score = mean_and_std(point.kept), mean_and_std(point.scores)
    change = point.change
    tone = tone_of_change(change, sure=sure)
    return (
        Cell(variant.label, variant.label),
        Cell(score_text(*kept, 1), *kept, source=source),
        Cell(score_text(*score), *score, source=source),
        Cell("–") if point.dev_change is None else Cell(signed(point.dev_change), point.dev_change),
        Cell("–") if change is None else Cell(signed(change), change, tone=tone),
        *_judged(point),
    )


_WITHIN = {"not worse": "yes", "worse": "no", "undecided": "undecided"}


def _judged(point: Point) -> tuple[Cell, Cell]:
    if point.found is None:
        return Cell("–"), Cell("–")
    within = _WITHIN[point.found.not_worse(MARGIN)]
    interval = point.found.interval
    return Cell(interval_text(interval), data={"interval": interval}), Cell(within, within)


def draw(curve: Curve, directory: Path) -> tuple[Figure, ...]:
    """A line for every group, task set and task, over the group's sweep."""
    lines, found = [], curve.points
    for group, tasks, task in dict.fromkeys((p.variant.group, p.variant.tasks, p.task) for p in found):
        own = [p for p in found if (p.variant.group, p.variant.tasks, p.task) == (group, tasks, task)]
        own.sort(key=lambda point: point.share)
        start = own[-1].whole if own[-1].whole is not None else float(np.mean(own[-1].scores))
        y = np.array([float(np.mean(point.scores)) - start for point in own])
        std = np.array([mean_and_std(point.scores)[1] or 0.0 for point in own])
        label = f"{group}: {task}" if len(tasks) == 1 else f"{group}: {task} in {' + '.join(tasks)}"
        lines.append(Line(label, np.array([p.share for p in own]), y, y - std, y + std))
    if not any(len(line.x) > 1 for line in lines):  # a dot is no curve; the table has it
        return ()
    curves(directory, "sparsity", lines, x_title="heads kept, %", y_title="difference of the score, points")
    most = "the model of the same line that keeps most heads"
    if not curve.compared:
        reference = f"{most} ({why_no_baseline(curve.baseline, curve.variants)})"
    else:
        reference = curve.reference() + (
            f" (where there is none: to {most})" if len(curve.compared) < len(found) else ""
        )
    caption = (
        f"Difference of the test score to {reference}, against the share of heads kept; the band is one standard "
        "deviation over seeds. A line that stays at zero to the left is a task that needs few heads."
    )
    return (Figure("sparsity", "The price of fewer heads", caption),)


def summary(curve: Curve) -> tuple[str, ...]:
    """For every task the sparsest model that costs at most one point on dev, and what test says of it."""
    sentences = [
        f"{task}: {_task_sentence([point for point in curve.points if point.task == task], curve.baseline)}."
        for task in dict.fromkeys(point.task for point in curve.points)
    ]
    if curve.unscored:
        words = unscored_words(curve.unscored)
        sentences.append(f"{words[0].upper()}{words[1:]}, so fewer heads have no price there.")
    if curve.points and not curve.compared:
        why = why_no_baseline(curve.baseline, curve.variants)
        sentences.append(f"What fewer heads cost is not told: {why}.")
    return tuple(sentences)


def _task_sentence(own: Sequence[Point], baseline: str) -> str:
    compared = [point for point in own if point.found is not None]
    if not compared:
        low, high = (f"{choice(point.share for point in own):.0f}" for choice in (min, max))
        who = own[0].variant.label + " keeps" if len(own) == 1 else "models keep"
        return f"{who} {high} % of the heads" if low == high else f"{who} from {low} % to {high} % of the heads"
    whole = max(point.whole or 0.0 for point in compared)
    if whole <= MARGIN:
        return f"{baseline} itself scores {whole:.1f}, so there is nothing that fewer heads could cost"
    chosen = _chosen(compared)
    if chosen is None:
        return "no dev scores to choose a model by"
    point, found, how = chosen
    but = but_unequal(point.variant.group, point.against, [point.times]) if point.times is not None else ""
    judged = _judgement(found, point.against or baseline)
    return f"{how}, {point.variant.label} with {point.share:.0f} % of the heads, {judged}{but}"


def _chosen(compared: Sequence[Point]) -> tuple[Point, Difference, str] | None:
    """By dev alone: the sparsest model within the margin, or the one that loses least."""
    known = [(p.share, p.dev_change, p, p.found) for p in compared if p.dev_change is not None and p.found is not None]
    within = [one for one in known if one[1] >= -MARGIN]
    if within:
        _, _, point, found = min(within, key=lambda one: one[0])
        return point, found, "the sparsest model that loses at most one point on dev"
    if known:
        _, _, point, found = max(known, key=lambda one: one[1])
        return point, found, "the model that loses least on dev"
    return None


def _judgement(found: Difference, baseline: str) -> str:
    """What test says of the chosen model."""
    change = f"{signed(found.difference)} points against {baseline} on test"
    if found.interval is None:
        return f"has {change}; that is not tested: {found.why}"
    said = {
        "not worse": "loses at most one point",
        "worse": "loses more than one point",
        "undecided": "may or may not lose more than one point",
    }[found.not_worse(MARGIN)]
    return f"{said}: {change} (95 % interval {interval_text(found.interval)})"
