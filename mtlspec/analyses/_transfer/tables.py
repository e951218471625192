"""The tables of who helps whom, and what they say in sentences."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from mtlspec.analyses._transfer.roles import cast
from mtlspec.analyses._transfer.scores import judge, transfer_of
from mtlspec.errors import StageError
from mtlspec.results.evaluations import read_evaluations
from mtlspec.results.findings import Findings
from mtlspec.results.jobs import AnalysisJob
from mtlspec.results.tables import Cell, Row, Table, Tone
from mtlspec.results.transfer import SIGNS, ByTask, Score, Scores, Transfer, arrows
from mtlspec.results.variants import variants
from mtlspec.spec.tagging_pack import Arrow

if TYPE_CHECKING:
    from mtlspec.analyses.transfer_table import Options

_TONES: dict[Arrow, Tone] = {"up": "up", "down": "down", "": ""}


def find(options: Options, job: AnalysisJob) -> dict[str, Any]:
    """Write everything; facts for the stage's record."""
    models = variants(job.models)
    known = cast(models, options.baseline)
    if not known.of("pairs"):
        message = "there are no models of pairs of tasks, and a table of transfer tells who helps whom in a pair"
        raise StageError("E776", message, hint="add a group with `tasks: pairs` to `models`")
    evaluations = read_evaluations(models, job.inputs)
    judged = judge(options, known, evaluations)
    found = transfer_of(known.of("pairs")[0].group, known, evaluations, judged)
    tables = [pairs_table(found, judged.words)]
    if found.without:
        tables.append(without_table(found, judged.words))
    if found.oracle:
        tables.append(_chosen_table(found))
    seeds = min(len(score.runs) for score in found.alone.values()) if found.alone else 0
    by = "tests" if options.arrows == "tests" else f"the rule of {options.k:g} standard deviations"
    summary = (*sentences(found, by), *_few_seeds(options, seeds))
    numbers = {"transfer": found.stored(), "arrows": judged.words}
    Findings(options.type, "Who helps whom", summary, tuple(tables), (), numbers).write(job.out)
    up, down = arrows(score for scores in found.pairs.values() for score in scores.values())
    return {"tasks": len(found.tasks), "pairs_higher": up, "pairs_lower": down}


def pairs_table(found: Transfer, words: str) -> Table:
    """Tables 3 to 5 of the paper: a row for each task that is added, and STL on the diagonal."""
    rows = [
        _row(
            f"+{partner}",
            {**found.pairs.get(partner, {}), partner: found.alone.get(partner)},
            found.tasks,
            counted=True,
        )
        for partner in found.tasks
    ]
    counts = {task: arrows(found.column(task).values()) for task in found.tasks}
    for number, name in enumerate(("#↑", "#↓")):
        cells = (Cell(str(counts[task][number]), counts[task][number]) for task in found.tasks)
        rows.append((Cell(name, name), *cells, Cell(), Cell()))
    average = [found.average(task) for task in found.tasks]
    cells = (Cell("–") if mean is None else Cell(f"{mean:.2f}", mean) for mean in average)
    rows.append((Cell("average", "average"), *cells, Cell(), Cell()))
    rows += [
        _row(name, scores, found.tasks, counted=True)
        for name, scores in (("all", found.all), ("oracle", found.oracle))
        if scores
    ]
    caption = (
        "Test scores in percent, means over seeds. A row +a has the models of a and the task of the column, on the"
        " diagonal the task alone (bold), which an oracle is, too, if no task was chosen. Rows and columns end in how"
        f" many cells are higher and lower than the task alone. Average: of the pairs. {words}."
    )
    columns = ("trained with", *found.tasks, "#↑", "#↓")
    return Table(
        "pairs", f"Tasks alone, in pairs and all together ({found.name})", caption, columns, (("", tuple(rows)),)
    )


def without_table(found: Transfer, words: str) -> Table:
    """Table 6 of the paper: all tasks, and all but one."""
    rows = [_row("all", found.all, found.tasks, plain=True)]
    rows += [_row(f"all − {task}", found.without.get(task, {}), found.tasks, counted=True) for task in found.tasks]
    columns = {task: [scores[task] for scores in found.without.values() if task in scores] for task in found.tasks}
    for number, name in enumerate(("#↑", "#↓")):
        counts = (arrows(columns[task])[number] for task in found.tasks)
        rows.append((Cell(name, name), *(Cell(str(count), count) for count in counts), Cell(), Cell()))
    caption = (
        "Test scores in percent, means over seeds. Arrows compare with the model of all tasks: ↓ where one is missed."
        f" {words}."
    )
    title = f"All tasks, and all but one ({found.name})"
    return Table("without", title, caption, ("trained on", *found.tasks, "#↑", "#↓"), (("", tuple(rows)),))


def _chosen_table(found: Transfer) -> Table:
    rows = tuple(
        (
            Cell(task, task),
            Cell(", ".join(found.chosen[task]) or "none: the task alone", len(found.chosen[task])),
            Cell(", ".join(found.helpers(task)) or "none", len(found.helpers(task))),
        )
        for task in found.oracle
    )
    caption = (
        "Chosen: the tasks that the oracle's model learns beside the task, decided by the split that its group names."
        " Higher here: the pairs that have ↑ in the table of pairs, which is on test."
    )
    return Table("oracle_sets", "Oracle sets", caption, ("task", "chosen", "higher here"), (("", rows),))


def _row(
    name: str,
    scores: dict[str, Score | None] | Scores,
    tasks: Sequence[str],
    *,
    counted: bool = False,
    plain: bool = False,
) -> Row:
    """`plain`: without arrows, which compare with another row of another table."""
    cells = [_cell(scores.get(task), own=name == f"+{task}", plain=plain) for task in tasks]
    up, down = arrows(score for score in scores.values() if score is not None)
    counts = (Cell(str(up), up), Cell(str(down), down)) if counted else (Cell(), Cell())
    return (Cell(name, name), *cells, *counts)


def _cell(score: Score | None, *, own: bool, plain: bool) -> Cell:
    if score is None:
        return Cell("–")
    arrow: Arrow = "" if plain else score.arrow
    tone: Tone = "best" if own else _TONES[arrow]
    data = {"n": len(score.runs), "runs": list(score.runs)}
    return Cell(f"{score.mean:.2f}{SIGNS[arrow]}", score.mean, score.std, "", tone, score.source, data)


def sentences(found: Transfer, by: str) -> tuple[str, ...]:
    """`by`: what an arrow went by."""
    cells = [score for scores in found.pairs.values() for score in scores.values()]
    up, down = arrows(cells)
    told = [
        f"By {by}, tasks in pairs ({found.name}) are higher than alone in {up} of {len(cells)} cases, lower in {down}."
    ]
    rows = {task: arrows(found.pairs.get(task, {}).values()) for task in found.tasks}
    columns = {task: arrows(found.column(task).values()) for task in found.tasks}
    told += _extremes(("Helps others", "Harms others"), rows)
    told += _extremes(("Is helped", "Is harmed"), columns)
    for name, scores in (("All tasks together", found.all), ("With their oracle sets, tasks", found.oracle)):
        if scores:
            higher, lower = arrows(scores.values())
            be = "are" if name.endswith("tasks") else "give a score that is"
            told.append(f"{name} {be} higher than alone for {higher} of {len(scores)} tasks, lower for {lower}.")
    missed = {task: arrows(scores.values()) for task, scores in found.without.items()}
    return (*told, *_missed(missed, found.without))


def _extremes(spoken: tuple[str, str], counts: dict[str, tuple[int, int]]) -> list[str]:
    """Who has the most arrows of either sort."""
    told = []
    for number, what in enumerate(spoken):
        most = max((count[number] for count in counts.values()), default=0)
        if most:
            names = [task for task, count in counts.items() if count[number] == most]
            times = "once" if most == 1 else f"{most} times"
            told.append(f"{what} most often ({times}): {', '.join(names)}.")
    return told


def _missed(counts: dict[str, tuple[int, int]], without: ByTask) -> Iterable[str]:
    if without:
        missed = [task for task, (up, down) in counts.items() if down > up]
        harmful = [task for task, (up, down) in counts.items() if up > down]
        yield f"Left out of all tasks, missed by more others than do better: {', '.join(missed) or 'none'}."
        yield f"Left out of all tasks, missed by fewer others than do better: {', '.join(harmful) or 'none'}."


def _few_seeds(options: Options, seeds: int) -> tuple[str, ...]:
    if options.arrows == "k_sigma" and seeds < 1 + options.ddof:
        return ("One seed does not show how seeds scatter: there are no arrows.",)
    return ()
