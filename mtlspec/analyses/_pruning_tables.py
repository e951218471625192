"""The table, the figure and the sentences of pruning."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mtlspec.analyses._head_figures import layer_map
from mtlspec.analyses._pruning_losses import Loss, Place, Pruned, family_name, losses_of, of_group
from mtlspec.results.estimates import mean_and_std
from mtlspec.results.evaluations import unscored_words
from mtlspec.results.findings import Figure
from mtlspec.results.inference import LEVEL, MARGIN, Family, corrected, loss_words
from mtlspec.results.lengths import ABOUT, but_unequal, task_cells
from mtlspec.results.tables import Cell, Table, interval_text, score_text, signed, tone_of_change
from mtlspec.results.variants import control_words, why_no_baseline

_NOTHING = Cell("–")
_INCLUDED = " (what joint training costs included)"


def pruning_table(rows: Sequence[Pruned], baseline: str) -> Table:
    """The paper's Table 2, a section for every task."""
    tasks = list(dict.fromkeys(task for row in rows for task in row.variant.tasks))
    losses = losses_of(rows, baseline)
    family, adjusted = corrected(family_name(losses), [loss.found.p for loss in losses.values()], LEVEL)
    sure = {place for place, p in zip(losses, adjusted, strict=True) if p is not None and p < LEVEL}
    sections = tuple(
        (task, tuple(_line(row, task, losses, sure) for row in rows if task in row.variant.tasks)) for task in tasks
    )
    caption = (
        "Test scores with closed heads masked, and with the same heads removed from the network and fractional gates "
        f"folded into its weights: the two must not differ. {_about_delta(rows, losses, baseline, family)} "
        "Work: multiply-adds of the encoder on the test set, relative to the whole encoder, feed-forward blocks "
        "included. Difference: the largest one between the states of the masked and the pruned encoder. A model is "
        f"worth its pruning if Δ is near zero and the share of heads is small. {ABOUT}"
    )
    if unscored := _unscored(rows):
        caption += f" –: {unscored_words(unscored)}; predictions are compared, nothing is scored."
    columns = (
        "model",
        "masked",
        "pruned",
        "Δ",
        "95 % interval",
        "heads kept, %",
        "work, %",
        "difference",
        "changed predictions",
        "updates",
        "examples",
    )
    return Table("pruning", "Pruned models", caption, columns, sections)


def _unscored(rows: Sequence[Pruned]) -> dict[str, str]:
    """Tasks without a test score -> why their labels give none, or nothing where they have none."""
    pairs = [(task, row) for row in rows for task in row.variant.tasks]
    return {
        task: str(row.runs[0]["tasks"][task].get("undefined", "")) for task, row in pairs if not row.is_scored(task)
    }


def _about_delta(rows: Sequence[Pruned], losses: Mapping[Place, Loss], baseline: str, family: Family) -> str:
    if not losses:
        return f"Δ is empty: {why_no_baseline(baseline, [row.variant for row in rows])}."
    gated = any(row.gated for row in rows if row.variant.group == baseline)
    itself = ", which has gates itself and is taken with closed heads masked" if gated else ""
    pairs = dict.fromkeys((loss.group, loss.against, loss.whole) for loss in losses.values())
    joint = ", ".join(dict.fromkeys(loss.group for loss in losses.values() if loss.joint))
    return (
        f"Δ is the difference of the pruned score to the single-task model of {baseline}{itself}."
        + "".join(_beside(*pair) for pair in pairs if pair[1] != baseline)
        + " Its interval has the variance of seeds and of sentences; a score is kept if it excludes a loss of more "
        f"than {MARGIN:g} point. Δ is blue (above) or red (below) if it is told from zero at {100 * LEVEL:g} % "
        f"({family.words})." + (f" What joint training costs is in the Δ of {joint}." if joint else "")
    )


def _beside(group: str, against: str, whole: bool) -> str:
    told = f" {group} is compared with {against}, which learns the same tasks together without gates."
    return told if whole else control_words(group, against)


def _line(row: Pruned, task: str, losses: Mapping[Place, Loss], sure: Container[Place]) -> tuple[Cell, ...]:
    variant = row.variant
    source = f"{variant.slug}, seeds {', '.join(map(str, variant.seeds))}"
    first = (Cell(variant.label, variant.label), _mean(row.scores(task, "masked"), 2, source))
    length = task_cells(variant, task, row.lengths)
    if not row.gated:
        kept = _mean(row.kept, 1, source)
        return (*first, _NOTHING, _NOTHING, _NOTHING, kept, _NOTHING, _NOTHING, _NOTHING, *length)
    changed = sum(run["changed_predictions"][task] for run in row.runs)
    worst = max(run["max_difference"] for run in row.runs)
    return (
        *first,
        _mean(row.scores(task, "pruned"), 2, source),
        *_delta((variant.slug, task), losses, sure),
        _mean(row.kept, 1, source),
        _mean([100 * run["multiply_adds"] for run in row.runs], 1, source),
        Cell(f"{worst:.0e}".replace("-", "−"), worst),
        Cell(str(changed), changed),
        *length,
    )


def _mean(values: Sequence[float], digits: int, source: str) -> Cell:
    if not values:
        return Cell("–", source=source)
    mean, std = mean_and_std(values)
    return Cell(score_text(mean, std, digits), mean, std, source=source)


def _delta(place: Place, losses: Mapping[Place, Loss], sure: Container[Place]) -> tuple[Cell, Cell]:
    lost = losses.get(place)
    if lost is None:
        return _NOTHING, _NOTHING
    found, loss = lost.found, lost.found.difference
    tone = tone_of_change(loss, sure=place in sure)
    within: dict[str, Any] = {"interval": found.interval, "p": found.p, f"within {MARGIN:g}": found.not_worse(MARGIN)}
    within |= {"against": lost.against, "times": lost.times._asdict()}
    return Cell(signed(loss), loss, tone=tone), Cell(interval_text(found.interval), data=within)


def draw(rows: Sequence[Pruned], directory: Path) -> tuple[Figure, ...]:
    gated = [row for row in rows if row.gated]
    if not gated:
        return ()
    values = np.array([np.mean([run["share_by_layer"] for run in row.runs], axis=0) for row in gated])
    layer_map(directory, "kept_by_layer", 100 * values, [row.variant.label for row in gated], "heads kept, %")
    caption = (
        "Share of heads that each layer keeps, mean over runs. Dark columns are layers that pruning leaves alone: "
        "light ones the task can do without."
    )
    return (Figure("kept_by_layer", "Heads kept by layer", caption),)


def _price(losses: Sequence[Loss]) -> str:
    """What a group loses; its models are compared with one group, or with several."""
    mean = signed(float(np.mean([loss.found.difference for loss in losses])))
    others = " and ".join(dict.fromkeys(loss.against for loss in losses))
    judged = loss_words([loss.found.not_worse(MARGIN) for loss in losses])
    told = f" and scores {mean} points against {others}{_joint(losses)}, on average over models and tasks"
    return f"{told}; {judged}{_unequal(losses)}"


def _joint(losses: Sequence[Loss]) -> str:
    """A bracket where joint models are compared with single-task ones: not only pruning has its price there."""
    return _INCLUDED if any(loss.joint for loss in losses) else ""


def _unequal(losses: Sequence[Loss]) -> str:
    """The end of a sentence about a group's losses, if it was not trained for as long as what it is compared with."""
    others = " and ".join(dict.fromkeys(loss.against for loss in losses))
    return but_unequal(losses[0].group, others, [loss.times for loss in losses]) if losses else ""


def numbers(rows: Sequence[Pruned], baseline: str) -> dict[str, Any]:
    """Of every gated group: its share of heads in percent, and all of its losses."""
    groups, found = [], losses_of(rows, baseline)
    for group in dict.fromkeys(row.variant.group for row in rows if row.gated):
        own = [row for row in rows if row.gated and row.variant.group == group]
        losses = of_group(group, found)
        groups.append(
            {
                "group": group,
                "kept": _share(own),
                "against": " and ".join(dict.fromkeys(loss.against for loss in losses)),
                "losses": [loss.found.stored() for loss in losses],
                "unequal": f"{_joint(losses)}{_unequal(losses)}",
            }
        )
    return {"groups": groups}


def _share(rows: Sequence[Pruned]) -> float:
    """The percentage of heads that they keep, on average."""
    return float(np.mean([np.mean(row.kept) for row in rows]))


def summary(rows: Sequence[Pruned], baseline: str) -> tuple[str, ...]:
    gated = [row for row in rows if row.gated]
    if not gated:
        return ("No model has head gates, so nothing was pruned; train groups with `sharing: l0`.",)
    sentences, found = [], losses_of(rows, baseline)
    for group in dict.fromkeys(row.variant.group for row in gated):
        own = [row for row in gated if row.variant.group == group]
        told = f"{group} keeps {_share(own):.0f} % of the heads"
        losses = of_group(group, found)
        sentences.append(f"{told}{_price(losses)}." if losses else f"{told}, on average over models and tasks.")
    if unscored := _unscored(rows):
        words = unscored_words(unscored)
        sentences.append(f"{words[0].upper()}{words[1:]}: there, pruning has no price to be told.")
    scored = any(row.is_scored(task) for row in gated for task in row.variant.tasks)
    if scored and not found:
        why = why_no_baseline(baseline, [row.variant for row in rows])
        sentences.append(f"What pruning costs is not told: {why}.")
    worst = max(run["max_difference"] for row in gated for run in row.runs)
    changed = sum(sum(run["changed_predictions"].values()) for row in gated for run in row.runs)
    sentences.append(
        f"Removing the closed heads for good changed states by at most {worst:.0e}".replace("e-", "e−")
        + f" and {changed} {'prediction' if changed == 1 else 'predictions'}."
    )
    return tuple(sentences)
