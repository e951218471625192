"""Tables, figures and sentences about stem cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mtlspec.analyses._head_figures import Panel, draw_panels
from mtlspec.analyses._stem_cells import Common
from mtlspec.analyses._stem_claims import LOSS, Claim, Verdict
from mtlspec.analyses._stem_probes import Probed, Scores
from mtlspec.results.estimates import mean_and_std
from mtlspec.results.figures import CYCLE, GRID, drawing
from mtlspec.results.findings import Figure
from mtlspec.results.lengths import but_unequal
from mtlspec.results.tables import Cell, Table, Tone, score_text, signed

_TONES: dict[str, Tone] = {"shown": "up", "contradicted": "down", "too small": "down"}


@dataclass(frozen=True)
class Change:
    """One task; the sets of its scores are stem cells and all other heads."""

    probed: Probed
    scores: Scores


def changes(probed: Sequence[Probed], common: Common) -> tuple[Change, ...]:
    both = np.stack([common.stem, common.there & ~common.stem])
    return tuple(Change(one, one.scores(both)) for one in probed)


def summary(judged: Verdict, made: Sequence[Claim], probed: Sequence[Probed], matters: float) -> tuple[str, ...]:
    """The verdict with its reasons, then each claim with all of its tests."""
    missing = [_lower(claim.statement) for claim in made if claim.shown == "open"]
    opposite = [_lower(claim.statement) for claim in made if claim.shown == "contradicted"]
    small = [_lower(claim.statement) for claim in made if claim.shown == "too small"]
    against = [f"the run contradicts that {'; and that '.join(opposite)}"] if opposite else []
    against += [f"this holds by less than {matters:g} points, if at all: {'; '.join(small)}"] if small else []
    reasons = {
        "supported": "all three of its claims are shown, against other heads and against random sets of heads",
        "not supported": "; ".join(against),
        "not enough evidence": f"this is not shown: {'; '.join(missing)}",
    }[judged]
    first = f"The stem cell hypothesis is {judged} here: {reasons}."
    if judged == "not enough evidence":
        first = f"There is not enough evidence for or against the stem cell hypothesis: {reasons}."
    reused = _reused(probed)
    but = but_unequal("joint models", "single-task ones", [one.times for one in probed]) if probed else ""
    told = [f"{_sentence(claim)}{but if claim.statement == LOSS else ''}." for claim in made]
    return (first, *told, *([reused] if reused else []))


def _lower(statement: str) -> str:
    return statement[0].lower() + statement[1:]


def _sentence(claim: Claim) -> str:
    tests = "; ".join(f"{test.against} {test.estimate} ({test.uncertainty}): {test.shown}" for test in claim.tests)
    return f"{claim.statement}: {claim.shown}. By test: {tests}"


def _reused(probed: Sequence[Probed]) -> str:
    """A sentence about probes that choose and score heads on the same data, or nothing."""
    tasks = [one.task for one in probed if not one.held_out]
    if not tasks:
        return ""
    return (
        f"Heads for {', '.join(tasks)} were chosen and scored on the same test data (`protocol: released`), so these "
        "accuracies are too high, most of all for rare labels."
    )


def claims_table(made: Sequence[Claim], alpha: float, matters: float) -> Table:
    """One section a claim, one row a test."""
    sections = tuple(
        (
            f"{claim.statement}: {claim.shown}",
            tuple(
                (
                    Cell(test.against, test.against),
                    Cell(test.estimate),
                    Cell(test.uncertainty),
                    Cell(test.shown, test.shown, tone=_TONES.get(test.shown, "")),
                )
                for test in claim.tests
            ),
        )
        for claim in made
    )
    caption = (
        f"The hypothesis is supported only if every test of every claim shows it at {alpha:g}, and not supported if a"
        " test over seeds points the other way, or if stem cells certainly differ from other heads"
        f" by less than {matters:g} points (too small). Accuracies are means over tasks and labels of the set's best"
        " head for each label; seeds are paired. Other heads: the best of many beats the best of few, so"
        " both sides take part with as many heads of each layer as the scarcer has, drawn at random. Random sets: the"
        " change of stem cells minus that of all heads outside, beside the same difference for sets drawn from all"
        " heads, as many in each layer as there are stem cells; p is the share that differ at least as much. No"
        " correction is needed, because all tests must agree."
    )
    return Table(
        "claims", "The hypothesis, test by test", caption, ("test", "estimate", "uncertainty", "result"), sections
    )


def changes_table(found: Sequence[Change]) -> Table:
    rows = []
    for change in found:
        source = f"seeds {', '.join(map(str, change.probed.seeds))}"
        cells = [Cell(change.probed.task, change.probed.task), Cell(str(change.probed.labels), change.probed.labels)]
        for side in (0, 1):
            before = float(change.scores.before[side])
            single, joint = (
                mean_and_std(scores[:, side].tolist()) for scores in (change.scores.single, change.scores.joint)
            )
            cells += [
                Cell(f"{before:.1f}", before),
                *(Cell(score_text(*score, 1), *score, source=source) for score in (single, joint)),
                *(Cell(signed(value, 1), value, source=source) for value in (single[0] - before, joint[0] - single[0])),
            ]
        rows.append(tuple(cells))
    columns = ["task", "labels"]
    for prefix in ("", "others, "):
        columns += [f"{prefix}{name}" for name in ("pre-trained", "single-task", "joint", "rise", "joint − single")]
    caption = (
        "Probing accuracy of stem cells, in percent: for each label the best of these heads, averaged over labels;"
        " mean ± standard deviation over seeds. Rise: single-task minus pre-trained. The last five columns are all"
        " other heads; where they are more, their best is better for that alone (the tests compare equal numbers)."
    ) + (f" {reused}" if (reused := _reused([change.probed for change in found])) else "")
    return Table(
        "changes", "What training makes of stem cells and of other heads", caption, tuple(columns), (("", tuple(rows)),)
    )


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


def draw(common: Common, found: Sequence[Change], directory: Path) -> tuple[Figure, ...]:
    share = common.used.mean(0).astype(np.float64)
    draw_panels(directory, "common_heads", [Panel("tasks that keep a head", share)], limits=(0.0, 1.0))
    caption = f"Dark: kept by all {len(common.tasks)} tasks; white: by none. {int(common.stem.sum())} are stem cells."
    figures = [Figure("common_heads", "How many tasks use a head", caption)]
    if found:
        figures.append(_draw_changes(found, directory))
    return tuple(figures)


def _draw_changes(found: Sequence[Change], directory: Path) -> Figure:
    with drawing(directory, "development", 4.6, 3.6) as axes:
        for number, change in enumerate(found):
            color, scores = CYCLE[number % len(CYCLE)], change.scores
            heights = np.stack([scores.before, scores.single.mean(0), scores.joint.mean(0)])  # [3, sides]
            axes.plot(range(3), heights[:, 0], marker="o", color=color, label=change.probed.task)
            axes.plot(range(3), heights[:, 1], marker="o", markersize=3, color=color, alpha=0.6, linestyle="dashed")
        axes.set_xticks(range(3), ["pre-trained", "single-task", "joint"])
        axes.set_ylabel("probing accuracy, %")
        axes.grid(color=GRID, alpha=0.25, linewidth=0.6)
        axes.figure.legend(loc="outside lower center", ncols=5)
    caption = (
        "Solid: stem cells; dashed: all other heads. The hypothesis expects a steeper rise to the middle and a steeper"
        " fall to the right of the solid lines."
    )
    return Figure("development", "Stem cells and other heads before and after training", caption)
