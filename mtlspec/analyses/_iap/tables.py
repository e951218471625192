"""Tables of masked models."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from mtlspec.analyses._iap.compared import BeyondRandom, Compared
from mtlspec.analyses._iap.dissociation import DISTINCT
from mtlspec.analyses._iap.specialised import Specialised
from mtlspec.model.head_sets import Floats, chance_overlaps, heads_per_layer, overlaps, spread_by_layer
from mtlspec.results.estimates import mean_and_std
from mtlspec.results.inference import Difference
from mtlspec.results.tables import Cell, Row, Table, Tone, interval_text, score_text, signed, tone_of_change

_NOTHING = Cell("–")


def dissociation_table(models: Sequence[Specialised], random: BeyondRandom) -> Table:
    """The paper's Table 9, a line for every model, with verdicts."""
    rows = []
    for place, one in enumerate(models):
        by_task = ", ".join(
            f"{task} {signed(own.difference)}" for task, own in zip(one.tasks, one.by_task, strict=True)
        )
        values = dict(zip(one.tasks, (own.difference for own in one.by_task), strict=True))
        beyond, adjusted = one.beyond_random, random.adjusted[place]
        rows.append(
            (
                _name(one),
                Cell(by_task, data=values),
                _mean(one.dissociation.average, _source(one)),
                _interval(one.average),
                _mean(one.by_random, _source(one)),
                Cell(signed(beyond.difference), beyond.difference, tone=_tone(beyond, random.significant(place))),
                Cell("–" if adjusted is None else f"{adjusted:.3f}", adjusted),
                Cell(one.judged.verdict, one.judged.verdict),
                Cell("yes" if one.judged.shown else "no", "yes" if one.judged.shown else "no"),
            )
        )
    caption = (
        "A task's dissociation is what it keeps of its score without the important heads of other tasks, on average, "
        "minus what it keeps without its own, in points of its score with all heads. Average: over tasks; mean ± "
        "standard deviation over seeds, with an interval that has the variance of seeds and of examples. Random: the "
        "same for random sets with as many heads in every layer, and how far the average is above it (blue or red if "
        f"p, after {random.family.words}, is below {random.family.alpha:g}). Verdicts go by means: double, if all "
        f"tasks are above zero; distinct, if the average reaches {DISTINCT:g} too; single, if one task is above "
        f"{DISTINCT:g} and another below zero; negative, if all are below zero, so that importance was estimated "
        "wrongly. Shown: the verdict would be the same anywhere in the intervals of all tasks."
    )
    columns = (
        "model",
        "dissociation by task",
        "average",
        "95 % interval",
        "random heads",
        "beyond random",
        "p (Holm)",
        "verdict",
        "shown",
    )
    return Table("dissociation", "Dissociation of tasks", caption, columns, (("", tuple(rows)),))


def scores_table(models: Sequence[Specialised]) -> Table:
    """The paper's Tables 3 and 4: a section for every model."""
    tasks = _all_tasks(models)
    sections = []
    for one in models:
        lines = [(f"heads of {task}", one.masked[:, place]) for place, task in enumerate(one.tasks)]
        lines += [("random heads", one.random.mean((1, 2))), ("nothing", one.base)]
        rows = [(Cell(name, name), *_across(one, tasks, _score_cell(one, values))) for name, values in lines]
        found = one.dissociation.by_task
        rows.append((Cell("dissociation", "dissociation"), *_across(one, tasks, _score_cell(one, found))))
        sections.append((one.variant.label, tuple(rows)))
    caption = (
        "Scores of all tasks (columns) after the most important heads of one task (rows) were masked, mean ± standard "
        "deviation over seeds. A task that has heads of its own suffers most in its own row. Random heads: as many in "
        "every layer, mean over draws. Dissociation: points that a task keeps longer without others' heads than "
        "without its own, relative to its score with all heads."
    )
    return Table("masked_scores", "Scores without important heads", caption, ("without", *tasks), tuple(sections))


def pairs_table(models: Sequence[Specialised]) -> Table:
    """The paper's Table 10: models of three tasks at least."""
    tasks = _all_tasks(models)
    sections = []
    for one in models:
        pairs = one.dissociation.pairs  # [R, a, b]
        rows = [
            (Cell(f"heads of {task}", task), *_across(one, tasks, _score_cell(one, pairs[:, :, place]), but=place))
            for place, task in enumerate(one.tasks)
        ]
        sections.append((one.variant.label, tuple(rows)))
    caption = (
        "Pair by pair: what the task of a column keeps without the heads of the task of a row, minus what it keeps "
        "without its own; mean ± standard deviation over seeds. Tasks that need the same heads have small numbers."
    )
    return Table("pairs", "Dissociation of pairs within a model", caption, ("against", *tasks), tuple(sections))


def overlap_table(models: Sequence[Specialised]) -> Table:
    """The paper's Table 11."""
    tasks = _all_tasks(models)
    sections = []
    for one in models:
        met, chance = overlaps(one.sets).mean(0), chance_overlaps(one.sets, np.array(one.heads)).mean(0)
        rows = [
            (Cell(task, task), *_across(one, tasks, _overlap_cell(met[:, row], chance[:, row]), but=row))
            for row, task in enumerate(one.tasks)
        ]
        sections.append((one.variant.label, tuple(rows)))
    caption = (
        "Percent of the masked heads that two tasks have in common, mean over seeds; in brackets what random sets with "
        "as many heads in every layer would have in common. Tasks may share heads and still be dissociated by the rest."
    )
    return Table("overlaps", "Important heads in common", caption, ("task", *tasks), tuple(sections))


def layers_table(models: Sequence[Specialised]) -> Table:
    """The numbers of the paper's Figure 4."""
    layers = max(len(one.heads) for one in models)
    sections = []
    for one in models:
        by_layer = heads_per_layer(one.sets).mean(0)  # [T, L]
        lines = [*zip(one.tasks, by_layer, strict=True), ("spread", spread_by_layer(by_layer))]
        rows = []
        for name, values in lines:
            cells = [Cell(f"{value:.1f}", float(value)) for value in values]
            rows.append((Cell(name, name), *cells, *[_NOTHING] * (layers - len(cells))))
        sections.append((one.variant.label, tuple(rows)))
    caption = (
        "How many of a task's masked heads lie in each layer, mean over seeds. Spread: standard deviation over tasks; "
        "a layer with a large one serves some tasks more than others."
    )
    columns = ("task", *(str(layer + 1) for layer in range(layers)))
    return Table("heads_per_layer", "Important heads by layer", caption, columns, tuple(sections))


def comparison_table(found: Sequence[Compared]) -> Table:
    rows = []
    for one in found:
        why = one.found.why
        rows.append(
            (
                _name(one.model),
                Cell(one.reference.variant.label, one.reference.variant.label),
                _mean(one.model.dissociation.average, _source(one.model)),
                _mean(one.reference.dissociation.average, _source(one.reference)),
                Cell(
                    signed(one.found.difference),
                    one.found.difference,
                    mark="*" if one.significant else "",
                    tone=_tone(one.found, one.significant),
                    source=why,
                ),
                _interval(one.found),
                Cell("–" if one.adjusted is None else f"{one.adjusted:.3f}", one.adjusted, source=why),
            )
        )
    family = found[0].family
    caption = (
        "Average dissociation of models beside that of the first group which learns the same tasks. Intervals have the "
        f"variance of seeds and of examples; *: p below {family.alpha:g} after {family.words}."
    )
    columns = ("model", "beside", "average", "average there", "difference", "95 % interval", "p (Holm)")
    return Table("groups", "Groups beside each other", caption, columns, (("", tuple(rows)),))


def _all_tasks(models: Sequence[Specialised]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(task for one in models for task in one.tasks))


def _across(one: Specialised, tasks: Sequence[str], cell: Callable[[int], Cell], but: int | None = None) -> Row:
    """A cell for each of all tasks; a dash where the model does not learn it, and at the place `but`."""
    places = [one.tasks.index(task) if task in one.tasks else None for task in tasks]
    return tuple(_NOTHING if place is None or place == but else cell(place) for place in places)


def _score_cell(one: Specialised, values: Floats) -> Callable[[int], Cell]:
    """Of values [R, T]."""
    return lambda place: _mean(values[:, place], _source(one))


def _overlap_cell(met: Floats, chance: Floats) -> Callable[[int], Cell]:
    """Of percentages [T]."""
    return lambda place: Cell(
        f"{met[place]:.1f} ({chance[place]:.0f})", float(met[place]), data={"chance": float(chance[place])}
    )


def _name(one: Specialised) -> Cell:
    return Cell(one.variant.label, one.variant.label)


def _source(one: Specialised) -> str:
    return f"{one.variant.slug}, seeds {', '.join(map(str, one.variant.seeds))}"


def _mean(values: Floats, source: str) -> Cell:
    mean, std = mean_and_std(values.tolist())
    return Cell(score_text(mean, std).replace("-", "−"), mean, std, source=source)


def _interval(found: Difference) -> Cell:
    return Cell(interval_text(found.interval), data={"interval": found.interval}, source=found.why)


def _tone(found: Difference, sure: bool) -> Tone:
    return tone_of_change(found.difference, sure=sure)
