"""What batches were made of, as sentences, tables and figures; and the estimate of difficulty beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np

from mtlspec.analyses._difficulty import Difficulty, agreement
from mtlspec.analyses.sampling_composition import Composition
from mtlspec.results.figures import CYCLE, INK, drawing
from mtlspec.results.findings import Figure
from mtlspec.results.inference import Family, corrected
from mtlspec.results.tables import Cell, Row, Table, signed

_ENOUGH = 4  # tasks with an estimate: of three, all orders have p = 1/3 or more
_TITLE = "What batches were made of"


@dataclass(frozen=True)
class Agreements:
    """Kendall's tau between estimated difficulty and how early first peaks are, tested and corrected together."""

    family: Family
    of: Mapping[str, tuple[float, float | None]]  # slug of a model -> tau and corrected p value


def agreements(found: Sequence[Composition], hard: Mapping[str, Difficulty], alpha: float) -> Agreements:
    taus = {}
    for one in found:
        peaks = {one.tasks[number]: part for number, part in _first_peaks(one)}
        tasks = [task for task in peaks if task in hard]
        if len(tasks) >= _ENOUGH:
            early = np.array([-peaks[task] for task in tasks], np.float64)
            taus[one.variant.slug] = agreement(np.array([hard[task].estimate for task in tasks]), early)
    family, ps = corrected("difficulty with first peaks", [p for _, p in taus.values()], alpha)
    return Agreements(family, {slug: (tau, p) for (slug, (tau, _)), p in zip(taus.items(), ps, strict=True)})


def _first_peaks(one: Composition) -> list[tuple[int, int]]:
    """Each task that was drawn at all, in the order of the model, with the part of its first peak."""
    firsts = ((task, one.first_peak(task)) for task in range(len(one.tasks)))
    return [(task, part) for task, part in firsts if part is not None]


def sentence(one: Composition, agreed: Agreements) -> str:
    first, last = one.shares[0], one.shares[-1]
    most = int(one.whole.argmax())
    told = f"{one.variant.label}: most examples are of {one.tasks[most]} ({100 * one.whole[most]:.0f} %)"
    peaks = ", ".join(one.tasks[task] for task, _ in sorted(_first_peaks(one), key=lambda peak: peak[1]))
    never = [task for number, task in enumerate(one.tasks) if one.first_peak(number) is None]
    told += f"; none are of {', '.join(never)}" if never else ""
    grown = int((last - first).argmax())
    change = f"{100 * first[grown]:.0f} to {100 * last[grown]:.0f} %"
    told += f"; first peaks come in the order {peaks}"
    told += (
        f"; the share of {one.tasks[grown]} grows most, from {change}." if last[grown] - first[grown] >= 0.01 else "."
    )
    if one.variant.slug not in agreed.of:
        return told
    tau, p = agreed.of[one.variant.slug]
    luck = "could not be tested" if p is None else "more than luck" if p < agreed.family.alpha else "may be luck"
    return f"{told} Harder tasks, by the estimate, peak earlier with tau {signed(tau)} ({luck})."


def composition_table(found: Sequence[Composition], hard: Mapping[str, Difficulty]) -> Table:
    sections = []
    for one in found:
        lines = []
        for number, task in enumerate(one.tasks):
            own, peak, first = one.shares[:, number], one.peak(number), one.first_peak(number)
            values = (one.whole[number], own[0], own[-1], own[peak])
            cells = (Cell(f"{100 * value:.1f}", 100 * float(value)) for value in values)
            ends = (_update(one, None if first is None else peak), _update(one, first))
            lines.append((Cell(task, task), *cells, *ends, _estimate(hard.get(task))))
        sections.append((one.variant.label, tuple(lines)))
    caption = (
        "Share of a task in the examples that a model was trained on, in percent, mean over seeds: in all, in the "
        "first and in the last part of training, at most, and up to which update that was; the update of the first "
        "peak, a part above those beside it and not below the task's mean; and the estimate of the task's difficulty. "
        "Parts are of equal length."
    )
    columns = ("task", "all", "first part", "last part", "largest", "until update", "first peak", "difficulty")
    return Table("composition", _TITLE, caption, columns, tuple(sections))


def _update(one: Composition, part: int | None) -> Cell:
    return Cell("–") if part is None else Cell(f"{one.ends[part]:.0f}", float(one.ends[part]))


def _estimate(hard: Difficulty | None) -> Cell:
    return Cell("–") if hard is None else Cell(f"{hard.estimate:.2f}", hard.estimate)


def difficulty_tables(
    found: Sequence[Composition], hard: Mapping[str, Difficulty], agreed: Agreements
) -> tuple[Table, ...]:
    """None where no task has classes; and no second one where too few have."""
    if not hard:
        return ()
    names = [part.name for part in fields(Difficulty)]
    rows: list[Row] = []
    for task in _by_difficulty(hard):
        values = [getattr(hard[task], name) for name in names]
        rows.append((Cell(task, task), *(Cell(f"{value:.2f}", value) for value in values), _estimate(hard[task])))
    caption = (
        "An estimate of how hard tasks are, from all their training data (Collins et al., 2018): the sum of distinct "
        "words as a share of all, class imbalance, class diversity (entropy in nats), interference of classes (1 minus "
        "the smallest Hellinger distance of their words) and mutual information of their ten most frequent words, "
        "English function words left out. Of tags, the words that bear one are its class, which is our extension. "
        "Its authors say that it tells classes of difficulty rather than ranks."
    )
    columns = ("task", "distinct words", "imbalance", "diversity", "interference", "information", "estimate")
    made = [Table("difficulty", "Estimated difficulty of tasks", caption, columns, (("", tuple(rows)),))]
    if agreed.of:
        made.append(_agreement_table(found, agreed))
    return tuple(made)


def _agreement_table(found: Sequence[Composition], agreed: Agreements) -> Table:
    rows: list[Row] = []
    for one in found:
        if one.variant.slug in agreed.of:
            tau, p = agreed.of[one.variant.slug]
            rows.append((Cell(one.variant.label, one.variant.label), Cell(signed(tau), tau), _p(p)))
    caption = (
        "Kendall's tau between the estimated difficulty of tasks and how early their first peaks are: 1 if harder "
        f"tasks always come first. p: over all ways to pair them, two-sided, after {agreed.family.words}."
    )
    return Table("agreement", "Do harder tasks come first?", caption, ("model", "tau", "p"), (("", tuple(rows)),))


def _p(p: float | None) -> Cell:
    return Cell("–") if p is None else Cell(f"{p:.3f}", p)


def _by_difficulty(hard: Mapping[str, Difficulty]) -> list[str]:
    """The hardest first."""
    return sorted(hard, key=lambda task: -hard[task].estimate)


def draw(found: Sequence[Composition], hard: Mapping[str, Difficulty], directory: Path) -> tuple[Figure, ...]:
    made = [_areas(one, hard, directory) for one in found]
    return (*made, _peaks(found, hard, directory)) if len(hard) > 1 else tuple(made)


def _areas(one: Composition, hard: Mapping[str, Difficulty], directory: Path) -> Figure:
    """Areas of tasks upon each other, with a dot at each first peak; hatched where colours come again."""
    name = f"composition_{one.variant.slug}"
    colours = [CYCLE[number % len(CYCLE)] for number in range(len(one.tasks))]
    hatches = [("", "///", "...")[number // len(CYCLE) % 3] for number in range(len(one.tasks))]
    labels = [f"{task} ({hard[task].estimate:.2f})" if task in hard else task for task in one.tasks]
    tops = 100 * one.shares.cumsum(1)
    with drawing(directory, name, 4.6, 2.9 + 0.2 * -(-len(one.tasks) // 3)) as axes:
        axes.stackplot(one.ends, 100 * one.shares.T, labels=labels, colors=colours, hatch=hatches, alpha=0.85)
        for number, part in _first_peaks(one):
            middle = tops[part, number] - 50 * one.shares[part, number]
            own = colours[number]
            axes.plot([one.ends[part]], [middle], "o", color=own, markeredgecolor=INK, markersize=6, clip_on=False)
        axes.set_xlabel("update")
        axes.set_ylabel("examples (%)")
        axes.set_ylim(0, 100)
        axes.margins(x=0)
        axes.figure.legend(loc="outside lower center", ncols=3)
    caption = "Share of each task in the examples of every part of training, mean over seeds. Dots: first peaks."
    if hard:
        caption += " In brackets: estimated difficulty."
    return Figure(name, f"{_TITLE}: {one.variant.label}", caption)


def _peaks(found: Sequence[Composition], hard: Mapping[str, Difficulty], directory: Path) -> Figure:
    tasks = _by_difficulty(hard)
    with drawing(directory, "first_peaks", max(4.6, 0.75 * len(tasks)), 3.1 + 0.2 * len(found)) as axes:
        for number, one in enumerate(found):
            peaks = {one.tasks[task]: part for task, part in _first_peaks(one)}
            at = [place for place, task in enumerate(tasks) if task in peaks]
            updates = [100 * one.ends[peaks[tasks[place]]] / one.ends[-1] for place in at]
            axes.plot(at, updates, "o-", color=CYCLE[number % len(CYCLE)], label=one.variant.label)
        axes.set_xticks(range(len(tasks)), [f"{task}\n{hard[task].estimate:.2f}" for task in tasks])
        axes.set_xlabel("task and its estimated difficulty")
        axes.set_ylabel("first peak (% of training)")
        axes.set_ylim(0, 105)
        axes.figure.legend(loc="outside lower center", ncols=1)
    caption = (
        "When the share of each task has its first peak, from the hardest task to the easiest by the estimate. If "
        "harder tasks come first, lines rise."
    )
    return Figure("first_peaks", "First peaks and estimated difficulty", caption)
