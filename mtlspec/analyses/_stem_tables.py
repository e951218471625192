"""Tables, figures and sentences about stem cells."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from mtlspec.analyses._head_figures import Panel, draw_panels
from mtlspec.analyses._stem_cells import Change, Claim, Common, Verdict
from mtlspec.results.estimates import mean_and_std
from mtlspec.results.figures import CYCLE, GRID, drawing
from mtlspec.results.findings import Figure
from mtlspec.results.tables import Cell, Table, Tone, score_text, signed

_TONES: dict[str, Tone] = {"shown": "up", "contradicted": "down"}


def summary(judged: Verdict, made: Sequence[Claim], changes: Sequence[Change]) -> tuple[str, ...]:
    """The verdict with its reasons, then each claim."""
    missing = [claim.statement.lower() for claim in made if claim.shown == "open"]
    against = [claim.statement.lower() for claim in made if claim.shown == "contradicted"]
    reasons = {
        "supported": "all three of its claims are shown",
        "not supported": f"the run contradicts that {'; and that '.join(against)}",
        "not enough evidence": f"this is not shown: {'; '.join(missing)}",
    }[judged]
    first = f"The stem cell hypothesis is {judged} here: {reasons}."
    if judged == "not enough evidence":
        first = f"There is not enough evidence for or against the stem cell hypothesis: {reasons}."
    reused = _reused(changes)
    claims = (f"{claim.statement}: {claim.estimate}; {claim.test}." for claim in made)
    return (first, *claims, *([reused] if reused else []))


def _reused(changes: Sequence[Change]) -> str:
    """A sentence about probes that choose and score heads on the same data, or nothing."""
    tasks = [change.task for change in changes if not change.held_out]
    if not tasks:
        return ""
    return (
        f"Heads for {', '.join(tasks)} were chosen and scored on the same test data (`protocol: released`), so these "
        "accuracies are too high, most of all for rare labels."
    )


def claims_table(made: Sequence[Claim], alpha: float) -> Table:
    rows = tuple(
        (
            Cell(claim.statement, claim.statement),
            Cell(claim.estimate, claim.estimate),
            Cell(claim.test, claim.test),
            Cell(claim.shown, claim.shown, tone=_TONES.get(claim.shown, "")),
        )
        for claim in made
    )
    caption = (
        f"The hypothesis is supported if all claims are shown at {alpha:g}, not supported if one is contradicted."
        " Probing accuracies are means over tasks and labels of the best stem cell for each label; differences are"
        " paired by seed."
    )
    return Table(
        "claims", "The hypothesis, claim by claim", caption, ("claim", "estimate", "test", "result"), (("", rows),)
    )


def changes_table(changes: Sequence[Change]) -> Table:
    rows = []
    for change in changes:
        source = f"seeds {', '.join(map(str, change.seeds))}"
        single, joint = mean_and_std(list(change.single)), mean_and_std(list(change.joint))
        loss = joint[0] - single[0]
        tone: Tone = "" if signed(loss, 1) == "0.0" else ("up" if loss > 0 else "down")
        rows.append(
            (
                Cell(change.task, change.task),
                Cell(str(change.labels), change.labels),
                Cell(f"{change.before:.1f}", change.before),
                Cell(score_text(*single, 1), *single, source=source),
                Cell(score_text(*joint, 1), *joint, source=source),
                Cell(signed(loss, 1), loss, tone=tone, source=source),
                *(Cell(f"{value:.1f}", value) for value in change.others),
            )
        )
    columns = (
        "task", "labels", "pre-trained", "single-task", "joint", "joint − single",
        "others, pre-trained", "others, single-task", "others, joint",
    )  # fmt: skip
    caption = (
        "Probing accuracy of stem cells, in percent: for each label the best of these heads, averaged over labels;"
        " mean ± standard deviation over seeds. The last three columns are all other heads."
    ) + (f" {reused}" if (reused := _reused(changes)) else "")
    return Table("changes", "What training makes of stem cells", caption, columns, (("", tuple(rows)),))


def heads_table(common: Common) -> Table:
    """Stem cells, those of most tasks first."""
    counts = common.used.sum(0)
    heads = [(int(layer), int(head)) for layer, head in np.argwhere(common.stem)]
    rows = []
    for layer, head in sorted(heads, key=lambda place: (-int(counts[place]), place)):
        users = [task for number, task in enumerate(common.tasks) if common.used[number, layer, head]]
        name = f"{layer + 1}.{head + 1}"
        rows.append(
            (Cell(name, float(layer + 1) + (head + 1) / 100), Cell(str(len(users)), len(users)), Cell(", ".join(users)))
        )
    caption = f"Heads (layer.head, from 1) that at least {common.least} tasks keep in most of their runs."
    return Table("stem_heads", "Stem cells", caption, ("head", "tasks", "used by"), (("", tuple(rows)),))


def draw(common: Common, changes: Sequence[Change], directory: Path) -> tuple[Figure, ...]:
    share = common.used.mean(0).astype(np.float64)
    draw_panels(directory, "common_heads", [Panel("tasks that keep a head", share)], limits=(0.0, 1.0))
    caption = f"Dark: kept by all {len(common.tasks)} tasks; white: by none. {int(common.stem.sum())} are stem cells."
    figures = [Figure("common_heads", "How many tasks use a head", caption)]
    if changes:
        figures.append(_draw_changes(changes, directory))
    return tuple(figures)


def _draw_changes(changes: Sequence[Change], directory: Path) -> Figure:
    with drawing(directory, "development", 4.6, 3.4) as axes:
        for number, change in enumerate(changes):
            heights = [change.before, float(change.single.mean()), float(change.joint.mean())]
            axes.plot(range(3), heights, marker="o", color=CYCLE[number % len(CYCLE)], label=change.task)
        axes.set_xticks(range(3), ["pre-trained", "single-task", "joint"])
        axes.set_ylabel("probing accuracy of stem cells, %")
        axes.grid(color=GRID, alpha=0.25, linewidth=0.6)
        axes.figure.legend(loc="outside lower center", ncols=5)
    caption = "The hypothesis expects a rise to the middle and a fall to the right."
    return Figure("development", "Stem cells before and after training", caption)
