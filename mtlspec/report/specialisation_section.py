"""The chapter that sets the figures of the study of functional specialisation beside ours."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from mtlspec.report.printed import printed_cell, printed_table
from mtlspec.report.published_section import ANCHOR, sentences_of, verdict_rows
from mtlspec.report.section import Section
from mtlspec.report.specialisation import Specialisation, specialisation_findings
from mtlspec.results.estimates import mean_and_std
from mtlspec.results.tables import Cell, Row, Table, score_text
from mtlspec.results.variants import Variant
from mtlspec.spec.published import PublishedTable

_NOTHING = Cell("–")
_SPLITS_OF_MNLI = {"mnli_m": ("mnli", "test"), "mnli_mm": ("mnli", "dev_mismatched")}
"""What GLUE counts as two tasks is one with two splits, as registry/data/mnli.yaml has it."""


def specialisation_section(side: Specialisation) -> Section:
    found = specialisation_findings(side)
    caption = (
        f"{side.pack.paper}; {side.pack.source}. A finding holds if the tests agree with it at {side.alpha:g}, does "
        "not hold if they contradict it, and is undecided otherwise: differences that are not significant show "
        f"nothing. Most is more than half. The paper has {side.pack.encoder} on {side.pack.corpus}; other encoders, "
        "corpora and tasks may well differ."
    )
    columns = ("finding", "published", "here", "test", "verdict")
    tables = [Table("findings", "Published findings in this run", caption, columns, (("", verdict_rows(found)),))]
    tables += [
        _BESIDE[table.id](side, table) if table.id in _BESIDE else printed_table(table) for table in side.pack.tables
    ]
    return Section(ANCHOR, f"Beside the paper: {side.pack.title}", sentences_of(found), tuple(tables), ())


def _pairs_table(side: Specialisation, table: PublishedTable) -> Table:
    frozen = table.id == "pairs_frozen"
    ours = {
        frozenset(one["tasks"]): one
        for one in reversed(side.dissociated)
        if side.sharing(one["group"]) == "hard" and side.is_frozen(one["group"]) == frozen
    }
    rows = []
    for cells in table.rows:
        name = str(cells[0])
        own = ours.get(frozenset(name.split("+")))
        here = [_NOTHING] * 3 if own is None else [*(_of_task(own, task) for task in name.split("+")), _average(own)]
        rows.append((Cell(name.replace("+", " + "), name), *map(printed_cell, cells[1:]), *here))
    caption = f"{table.title}. Points of relative performance; here: means over seeds, of models of the same two tasks."
    columns = ("pair", *(f"{name}, {side_}" for side_ in ("paper", "here") for name in table.columns[1:]))
    title = "Dissociation of pairs" + (", encoder frozen" if frozen else "")
    return Table(f"{table.id}_beside", title, caption, columns, (("", tuple(rows)),))


def _of_task(own: Mapping[str, Any], task: str) -> Cell:
    value = float(own["by_task"][own["tasks"].index(task)]["difference"])
    return Cell(f"{value:.2f}".replace("-", "−"), value, source=str(own["model"]))


def _average(own: Mapping[str, Any]) -> Cell:
    value = float(own["average"]["difference"])
    return Cell(f"{value:.2f}".replace("-", "−"), value, source=str(own["model"]))


def _masked_table(side: Specialisation, table: PublishedTable) -> Table:
    tasks = table.columns[1:]
    own = next(
        (o for o in side.dissociated if set(o["tasks"]) == set(tasks) and side.sharing(o["group"]) == "hard"), None
    )
    rows: list[Row] = []
    for cells in table.rows:
        here = [_NOTHING for _ in tasks] if own is None else [_masked(own, str(cells[0]), task) for task in tasks]
        both = [cell for pair in zip(map(printed_cell, cells[1:]), here, strict=True) for cell in pair]
        rows.append((Cell(str(cells[0]), str(cells[0])), *both))
    columns = ("without", *(name for task in tasks for name in (f"{task}, paper", f"{task}, here")))
    notes = "".join(f" Note: {note}" for note in side.pack.notes)
    caption = f"{table.title}. Here: a model of the same tasks, means over seeds.{notes}"
    return Table("masked_beside", "Scores without important heads", caption, columns, (("", tuple(rows)),))


def _masked(own: Mapping[str, Any], row: str, task: str) -> Cell:
    tasks = own["tasks"]
    column = tasks.index(task)
    if row == "dissociation":
        return _of_task(own, task)
    if row == "nothing":
        runs = [scores[column] for scores in own["base"]]
    elif row == "random":
        runs = [sum(line[column] for line in scores) / len(scores) for scores in own["random"]]
    else:
        runs = [scores[tasks.index(row)][column] for scores in own["masked"]]
    mean, std = mean_and_std(runs)
    return Cell(score_text(mean, std), mean, std, source=str(own["model"]))


def _scores_table(side: Specialisation, table: PublishedTable) -> Table:
    tasks, rows = table.columns[1:], []
    for cells in table.rows:
        role = str(cells[0])
        here = [_score(side, role, task) for task in tasks]
        both = [cell for pair in zip(map(printed_cell, cells[1:]), here, strict=True) for cell in pair]
        rows.append((Cell(role, role), *both))
    columns = ("model", *(name for task in tasks for name in (f"{task}, paper", f"{task}, here")))
    caption = f"{table.title}. Here: main test scores of tasks of the same names, means over seeds."
    return Table("glue_beside", "GLUE scores", caption, columns, (("", tuple(rows)),))


def _score(side: Specialisation, role: str, column: str) -> Cell:
    """Of the first group in this role that is not swept: `stl`, `mtl` or `iat`."""
    known = {task for one in side.models for task in one.tasks}
    task, split = (column, "test") if column in known else _SPLITS_OF_MNLI.get(column, (column, "test"))
    fitting = [one for one in side.models if task in one.tasks and not one.sweep and _role(side, one) == role]
    evaluated = [side.evaluations[run.evaluate] for one in fitting[:1] for run in one.runs]
    found = [one.score(task, split) for one in evaluated if split in one.splits(task)]
    if not found:
        return _NOTHING
    mean, std = mean_and_std(found)
    return Cell(score_text(mean, std), mean, std, source=fitting[0].label)


def _role(side: Specialisation, one: Variant) -> str:
    if one.is_single:
        return "stl"
    plain = side.sharing(one.group) == "hard" and not side.is_frozen(one.group) and len(one.tasks) > 2
    return "mtl" if plain else side.sharing(one.group)


_BESIDE: Mapping[str, Callable[[Specialisation, PublishedTable], Table]] = {
    "pairs": _pairs_table,
    "pairs_frozen": _pairs_table,
    "masked": _masked_table,
    "glue_test": _scores_table,
}
