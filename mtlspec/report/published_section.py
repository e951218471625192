"""The chapter that sets a paper's figures beside ours."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from mtlspec.report.published import Side, our_cell
from mtlspec.report.published_findings import Finding, published_findings
from mtlspec.report.section import Section
from mtlspec.results.estimates import mean_and_std
from mtlspec.results.figures import CYCLE, GRID, INK, drawing
from mtlspec.results.findings import Figure
from mtlspec.results.inference import MARGIN
from mtlspec.results.score_names import spoken
from mtlspec.results.tables import Cell, Row, Table, Tone, score_text, signed, tone_of_change

ANCHOR = "beside-paper"  # no analysis can be called so: their names have no hyphens
_TONES: dict[str, Tone] = {"holds": "up", "does not hold": "down"}


def published_section(side: Side, figures: Path) -> Section:
    """`figures` is the folder to draw in."""
    found = published_findings(side)
    tables = [_findings_table(side, found), _scores_table(side), _changes_table(side)]
    if side.kept:
        tables.append(_kept_table(side))
    drawn = _draw_changes(side, figures)
    return Section(ANCHOR, f"Beside the paper: {side.pack.title}", sentences_of(found), tuple(tables), drawn)


def sentences_of(found: list[Finding]) -> tuple[str, ...]:
    asked = [finding for finding in found if finding.verdict != "not in this run"]
    held = [finding for finding in asked if finding.verdict == "holds"]
    failed = [finding for finding in asked if finding.verdict == "does not hold"]
    if not asked:
        return ("None of the published findings can be compared: this run has no models of the same kind.",)
    first = (
        f"Published findings that this run can speak to: {len(asked)}; holding here: {len(held)}, not holding:"
        f" {len(failed)}, undecided: {len(asked) - len(held) - len(failed)}."
    )
    return (first, *(f"Does not hold here: {finding.statement} ({finding.here})." for finding in failed))


def _findings_table(side: Side, found: list[Finding]) -> Table:
    caption = (
        f"{side.pack.paper}; {side.pack.source}. Statements are read from the published figures. A finding holds if the"
        f" tests agree with it at {side.alpha:g}, does not hold if they contradict it, and is undecided otherwise:"
        " differences that are not significant show nothing. Mostly is in more than half of the paper's tasks or"
        " partners; scores are kept if the 95 % interval over seeds and sentences excludes a loss of more than"
        f" {MARGIN:g} point in every task of the paper; the interval of a share is that of the mean over tasks, each"
        " with the scatter of its own runs, cut to 0 to 100 %."
        f" The paper has {side.pack.encoder} on {side.pack.corpus}; other encoders and corpora may well differ."
    )
    columns = ("finding", "published", "here", "test", "verdict")
    return Table("findings", "Published findings in this run", caption, columns, (("", verdict_rows(found)),))


def verdict_rows(found: list[Finding]) -> tuple[Row, ...]:
    """A row for each: finding, published, here, test, verdict."""
    return tuple(
        (
            *(Cell(text, text) for text in (item.statement, item.published, item.here, item.test)),
            Cell(item.verdict, item.verdict, tone=_TONES.get(item.verdict, "")),
        )
        for item in found
    )


def _name(role: str) -> str:
    return f"pair {role.replace('+', ' + ')}" if "+" in role else role


def _scores_table(side: Side) -> Table:
    rows = []
    for role in side.roles:
        cells = [Cell(_name(role), role)]
        for task in side.tasks:
            printed = side.published(role, task)
            cells.append(Cell() if printed is None else Cell(score_text(*printed), printed[0], printed[1]))
            cells.append(Cell() if printed is None else our_cell(side.ours.get((role, task))))
        if any(cell.text for cell in cells[1:]):
            rows.append(tuple(cells))
    columns = ("model", *(name for task in side.tasks for name in (f"{task}, paper", f"{task}, here")))
    metrics = ", ".join(f"{task} {spoken(side.pack.metrics[task])}" for task in side.tasks)
    caption = (
        f"Test scores in percent, mean ± standard deviation over seeds ({metrics}); {side.pack.source}. Models stand"
        " beside those that learn the same tasks in the same way; of several such groups, the first in the spec. Groups"
        " swept over several values, or over the kind of sharing, are left out: none of their points is the published"
        " model more than the others."
    )
    if side.unscored:
        caption += f" Here, test has no labels of {', '.join(side.unscored)}, or constant gold."
    caption += _unlike(side)
    notes = "".join(f" Note: {note}" for note in side.pack.notes)
    return Table("scores_beside", "Scores, published and here", caption + notes, columns, (("", tuple(rows)),))


def _unlike(side: Side) -> str:
    """Where like could not be set beside like."""
    other = {task: ours for task, ours in side.scores.items() if ours != side.pack.metrics[task]}
    told = ", ".join(f"{task} is {spoken(ours)}, not {spoken(side.pack.metrics[task])}" for task, ours in other.items())
    return f" Not the same score: here, {told}." if told else ""


def _changes_table(side: Side) -> Table:
    rows = []
    for role in side.roles:
        if role == "stl":
            continue
        cells = [Cell(_name(role), role)]
        for task in side.tasks:
            printed = side.published_delta(role, task)
            ours = side.ours.get((role, task))
            cells.append(Cell() if printed is None else Cell(signed(printed), printed))
            if printed is None:
                cells.append(Cell())
            elif ours is None or ours.delta is None:
                cells.append(Cell("–"))
            else:
                sure = side.significant(ours)
                tone = tone_of_change(ours.delta, sure=sure)
                cells.append(Cell(signed(ours.delta), ours.delta, None, "*" if sure else "", tone, ours.source))
        if any(cell.text for cell in cells[1:]):
            rows.append(tuple(cells))
    columns = ("model", *(name for task in side.tasks for name in (f"{task}, paper", f"{task}, here")))
    correction = "; ".join(family.words for family in side.families) or "no score matrix tests them"
    caption = (
        f"Difference to single-task learning, in points; * significant here at {side.alpha:g}, blue above and red below"
        f" ({correction})."
    )
    return Table("changes", "Changes against single-task learning", caption, columns, (("", tuple(rows)),))


def _kept_table(side: Side) -> Table:
    rows = []
    for role, printed in side.pack.heads_kept.items():
        cells = [Cell(role, role)]
        for task in side.tasks:
            shares = side.kept.get((role, task))
            cells.append(Cell(score_text(*printed[task]), *printed[task]))
            cells.append(Cell("–") if not shares else _share_cell(shares))
        rows.append(tuple(cells))
    columns = ("model", *(name for task in side.tasks for name in (f"{task}, paper", f"{task}, here")))
    caption = "Share of attention heads whose gate stays open, in percent; swept groups are left out."
    return Table("heads_beside", "Heads kept, published and here", caption, columns, (("", tuple(rows)),))


def _share_cell(shares: Mapping[str, float]) -> Cell:
    mean, std = mean_and_std(list(shares.values()))
    return Cell(score_text(mean, std), mean, std, source=" · ".join(shares))


def _draw_changes(side: Side, directory: Path) -> tuple[tuple[Figure, Path], ...]:
    """Published change against ours, one point a model and task; agreement lies in two of the four corners."""
    points: dict[str, list[tuple[float, float]]] = {}
    for (role, task), ours in side.ours.items():
        printed = side.published_delta(role, task)
        if role != "stl" and printed is not None and ours.delta is not None:
            points.setdefault(task, []).append((printed, ours.delta))
    if sum(map(len, points.values())) < 3:  # a dot or two show no pattern
        return ()
    same = sum(x * y > 0 for group in points.values() for x, y in group)
    total = sum(len(group) for group in points.values())
    with drawing(directory, "changes_beside", 4.6, 3.4) as axes:
        axes.axhline(0, color=INK, linewidth=0.8)
        axes.axvline(0, color=INK, linewidth=0.8)
        for number, (task, group) in enumerate(sorted(points.items())):
            x, y = zip(*group, strict=True)
            axes.scatter(x, y, s=26, color=CYCLE[number % len(CYCLE)], label=task, alpha=0.85)
        axes.grid(color=GRID, alpha=0.25, linewidth=0.6)
        axes.set_xlabel("published change, points")
        axes.set_ylabel("change here, points")
        axes.figure.legend(loc="outside lower center", ncols=5)
    caption = (
        f"Difference to single-task learning, one point for each model and task. Upper right and lower left: the same"
        f" direction, {same} of {total}."
    )
    return ((Figure("changes_beside", "Published changes against ours", caption), directory / "changes_beside"),)
