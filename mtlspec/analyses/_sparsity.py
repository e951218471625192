"""Points of the sparsity curve: one for every gated model and task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mtlspec.analyses._figures import Line, curves
from mtlspec.analyses._findings import Figure
from mtlspec.analyses._gates import Progress, gates_of
from mtlspec.analyses._scores import Evaluation, seed_scores
from mtlspec.analyses._tables import Cell, Table, Tone, mean_and_std, score_text, signed
from mtlspec.analyses._variants import Variant, baseline_for
from mtlspec.errors import StageError


@dataclass(frozen=True)
class Point:
    """A gated model on one task; percentages, per run."""

    variant: Variant
    task: str
    kept: tuple[float, ...]
    scores: tuple[float, ...]
    whole: float | None  # the mean score of the single-task model with all heads

    @property
    def change(self) -> float | None:
        return None if self.whole is None else float(np.mean(self.scores)) - self.whole


def points(variants: Sequence[Variant], inputs: Mapping[str, Path], baseline: str, progress: Progress) -> list[Point]:
    evaluations = {run.stage: Evaluation.read(inputs[run.stage]) for variant in variants for run in variant.runs}
    found = []
    for done, variant in enumerate(variants):
        progress(done, len(variants), variant.label)
        gated = gates_of(variant, inputs)
        for task in variant.tasks if gated is not None else ():
            assert gated is not None
            against = baseline_for(variant, task, baseline, variants)
            whole = None if against is None else mean_and_std(seed_scores(against, task, evaluations))[0]
            kept = tuple(100 * share for share in gated.kept)
            found.append(Point(variant, task, kept, seed_scores(variant, task, evaluations), whole))
    if not found:
        raise StageError(
            "E454",
            "no model of this analysis has head gates",
            hint="train groups with `sharing: l0`, swept over lambda",
        )
    return found


def points_table(found: Sequence[Point], baseline: str) -> Table:
    sections = []
    for task in dict.fromkeys(point.task for point in found):
        own = sorted((point for point in found if point.task == task), key=lambda point: -float(np.mean(point.kept)))
        sections.append((task, tuple(_line(point) for point in own)))
    caption = (
        "Test scores of gated models, those that keep most heads first. Δ is the difference to the single-task model "
        f"of {baseline}, which has all heads. Read down a section to see where the score begins to fall."
    )
    columns = ("model", "heads kept, %", "score", "Δ")
    return Table("sparsity", "Scores and heads kept", caption, columns, tuple(sections))


def _line(point: Point) -> tuple[Cell, ...]:
    variant = point.variant
    source = f"{variant.slug}, seeds {', '.join(map(str, variant.seeds))}"
    kept, score = mean_and_std(point.kept), mean_and_std(point.scores)
    change = point.change
    tone: Tone = "" if change is None or abs(change) < 0.005 else "up" if change > 0 else "down"
    return (
        Cell(variant.label, variant.label),
        Cell(score_text(*kept, 1), *kept, source=source),
        Cell(score_text(*score), *score, source=source),
        Cell("–") if change is None else Cell(signed(change), change, tone=tone),
    )


def draw(found: Sequence[Point], baseline: str, directory: Path) -> tuple[Figure, ...]:
    """A line for every group, task set and task, over the group's sweep."""
    lines = []
    for group, tasks, task in dict.fromkeys((p.variant.group, p.variant.tasks, p.task) for p in found):
        own = [p for p in found if (p.variant.group, p.variant.tasks, p.task) == (group, tasks, task)]
        own.sort(key=lambda point: float(np.mean(point.kept)))
        start = own[-1].whole if own[-1].whole is not None else float(np.mean(own[-1].scores))
        y = np.array([float(np.mean(point.scores)) - start for point in own])
        std = np.array([mean_and_std(point.scores)[1] or 0.0 for point in own])
        label = f"{group}: {task}" if len(tasks) == 1 else f"{group}: {task} in {' + '.join(tasks)}"
        lines.append(Line(label, np.array([float(np.mean(p.kept)) for p in own]), y, y - std, y + std))
    curves(directory, "sparsity", lines, x_title="heads kept, %", y_title="difference of the score, points")
    caption = (
        f"Difference of the test score to the single-task model of {baseline} with all heads (where there is none: to "
        "the model that keeps most heads), against the share of heads kept; the band is one standard deviation over "
        "seeds. A line that stays at zero to the left is a task that needs few heads."
    )
    return (Figure("sparsity", "The price of fewer heads", caption),)


def summary(found: Sequence[Point], baseline: str) -> tuple[str, ...]:
    """For every task the sparsest model that costs at most one point."""
    sentences = []
    for task in dict.fromkeys(point.task for point in found):
        own = [point for point in found if point.task == task]
        cheap = [point for point in own if point.change is not None and point.change >= -1]
        if not any(point.change is not None for point in own):
            low, high = (f(float(np.mean(point.kept)) for point in own) for f in (min, max))
            sentences.append(f"{task}: models keep from {low:.0f} % to {high:.0f} % of the heads.")
        elif cheap:
            best = min(cheap, key=lambda point: float(np.mean(point.kept)))
            sentences.append(
                f"{task}: {np.mean(best.kept):.0f} % of the heads ({best.variant.label}) are enough to stay within one "
                f"point of {baseline}."
            )
        else:
            sentences.append(f"{task}: every gated model loses more than one point against {baseline}.")
    return tuple(sentences)
