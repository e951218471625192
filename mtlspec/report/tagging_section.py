"""The chapter that sets the study of sequence tagging beside ours: its tables, and what it found of each task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mtlspec.report.published_findings import Finding, Verdict
from mtlspec.report.published_section import ANCHOR, sentences_of, verdict_rows
from mtlspec.report.section import Section
from mtlspec.results.findings import Findings
from mtlspec.results.tables import Cell, Row, Table
from mtlspec.results.transfer import SIGNS, Score, Scores, Transfer, arrows, published_transfer
from mtlspec.spec.tagging_pack import TaggingPack

_HELPERS, _HARMFUL, _HELPED = ("upos", "xpos", "chunk"), ("com", "frame", "hyp"), ("mwe", "semtr", "supsense", "hyp")


def tagging_section(pack: TaggingPack, spec: Mapping[str, Any], found: Sequence[Findings]) -> Section:
    """Beside the first table of transfer whose pairs share as the paper's do."""
    told = [one.numbers for one in found if one.type == "transfer_table"]
    ours = next((own for own in map(_transfer, told) if _sharing(spec, own.name) == pack.sharing), None)
    words = next((str(one["arrows"]) for one in told if ours is not None and _transfer(one) == ours), "")
    theirs = published_transfer(pack)
    asked = tagging_findings(theirs, ours, words)
    tables = [_findings_table(pack, asked), _beside(pack, theirs, ours)]
    return Section(ANCHOR, f"Beside the paper: {pack.title}", sentences_of(asked), tuple(tables), ())


def _transfer(numbers: Mapping[str, Any]) -> Transfer:
    return Transfer.restored(numbers["transfer"])


def _sharing(spec: Mapping[str, Any], group: str) -> str:
    said = spec["models"][group]["sharing"]
    return f"{said['type']}/{said['at']}" if said["type"] == "task_embedding" else str(said["type"])


def tagging_findings(theirs: Transfer, ours: Transfer | None, words: str) -> list[Finding]:
    """Every finding, also where this run cannot answer; arrows decide, and what has none shows nothing."""
    rows = [
        *((task, f"{task} helps other tasks more often than it harms them", 1, False) for task in _HELPERS),
        *((task, f"{task} harms other tasks more often than it helps them", -1, False) for task in _HARMFUL),
        *((task, f"{task} is helped by others more often than harmed", 1, True) for task in _HELPED),
    ]
    made = [_of_task(statement, theirs, ours, (task, way, column), words) for task, statement, way, column in rows]
    wholes = (
        ("Oracles are higher than single tasks somewhere, and lower nowhere", "oracle"),
        ("All tasks together are higher than single tasks for about half of the tasks, not for all", "all"),
    )
    return [*made, *(_of_whole(statement, theirs, ours, kind, words) for statement, kind in wholes)]


def _of_task(
    statement: str, theirs: Transfer, ours: Transfer | None, asked: tuple[str, int, bool], words: str
) -> Finding:
    task, way, column = asked

    def counts(found: Transfer) -> tuple[int, int]:
        return arrows((found.column(task) if column else found.pairs.get(task, {})).values())

    published = _counted(*counts(theirs))
    if ours is None or task not in ours.tasks:
        return Finding(statement, published, "–", "–", "not in this run")
    up, down = counts(ours)
    balance = (up - down) * way
    verdict: Verdict = "holds" if balance > 0 else "does not hold" if balance < 0 else "undecided"
    return Finding(statement, published, _counted(up, down), words, verdict)


def _of_whole(statement: str, theirs: Transfer, ours: Transfer | None, kind: str, words: str) -> Finding:
    printed, own = (_scores(found, kind) for found in (theirs, ours))
    published = _counted(*arrows(printed.values()))
    if not own:
        return Finding(statement, published, "–", "–", "not in this run")
    up, down = arrows(own.values())
    if kind == "oracle":
        verdict: Verdict = "does not hold" if down else "holds" if up else "undecided"
    else:
        half = len(own) / 4 <= up <= 3 * len(own) / 4
        verdict = "holds" if half else "undecided" if up + down < len(own) else "does not hold"
    return Finding(statement, published, f"{_counted(up, down)} of {len(own)} tasks", words, verdict)


def _scores(found: Transfer | None, kind: str) -> Scores:
    return {} if found is None else found.oracle if kind == "oracle" else found.all


def _counted(up: int, down: int) -> str:
    return f"{up} ↑, {down} ↓"


def _findings_table(pack: TaggingPack, asked: list[Finding]) -> Table:
    caption = (
        f"{pack.paper}; {pack.source}. A finding holds if more arrows of this run agree with it than contradict it, and"
        f" is undecided where there are as many: a score without an arrow shows nothing. The paper has {pack.encoder}"
        f" on {pack.corpus}; other encoders and corpora may well differ."
    )
    columns = ("finding", "published", "here", "arrows", "verdict")
    return Table("findings", "Published findings in this run", caption, columns, (("", verdict_rows(asked)),))


def _beside(pack: TaggingPack, theirs: Transfer, ours: Transfer | None) -> Table:
    """Tasks that both have; the paper's cell, then ours."""
    tasks = [task for task in theirs.tasks if ours is not None and task in ours.tasks] or list(theirs.tasks)
    rows: list[tuple[str, Scores, Scores]] = [("alone", theirs.alone, ours.alone if ours else {})]
    rows += [(f"+{task}", theirs.pairs[task], ours.pairs.get(task, {}) if ours else {}) for task in tasks]
    rows += [(name, _scores(theirs, name), _scores(ours, name)) for name in ("all", "oracle")]
    made: list[Row] = []
    for name, printed, own in rows:
        cells = [cell for task in tasks for cell in (_cell(printed.get(task)), _cell(own.get(task)))]
        made.append((Cell(name, name), *cells))
    columns = ("trained with", *(column for task in tasks for column in (f"{task}, paper", f"{task}, here")))
    notes = "".join(f" Note: {note}" for note in pack.notes)
    caption = (
        f"F1 in percent, {pack.source}; here the main test scores of tasks of the same names, on other data. All and"
        f" oracles of the paper have eleven tasks.{notes}"
    )
    return Table("transfer_beside", "Scores, published and here", caption, columns, (("", tuple(made)),))


def _cell(score: Score | None) -> Cell:
    if score is None:
        return Cell("–")
    return Cell(f"{score.mean:.2f}{SIGNS[score.arrow]}", score.mean, score.std, source=score.source)
