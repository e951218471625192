"""The test scores of a record as a table that fits the terminal: one row a model, one column a task."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import typer

from mtlspec.cli import console
from mtlspec.errors import IntegrityError, visible
from mtlspec.io.words import counted

Score = Mapping[str, Any]  # mean, std, n


@dataclass(frozen=True)
class Row:
    """A model, or the single-task models of one group side by side: they have no column in common."""

    label: str
    seeds: frozenset[int]  # how many; single-task models of a group may differ
    scores: Mapping[str, Score | None]  # task -> its main score on test; no entry: the task is not learnt


@dataclass(frozen=True)
class ScoreTable:
    """What is told on one or several tables, cut as the width allows."""

    heads: Mapping[str, str]  # task -> metric
    rows: Sequence[Row]

    @property
    def seeds(self) -> frozenset[int]:
        return frozenset().union(*(row.seeds for row in self.rows))

    def fitted(self, width: int) -> Iterator[tuple[list[str], list[list[str]]]]:
        """Columns and rows, in the fullest form that fits; tasks that do not fit make a further table."""
        tasks = list(self.heads)
        for digits, above in ((2, " "), (2, "\n"), (1, "\n")):
            columns, rows = self._cut(tasks, digits, above)
            if _fits(columns, rows, width):
                yield columns, rows
                return
        while tasks:
            fits = [n for n in range(1, len(tasks) + 1) if _fits(*self._cut(tasks[:n], 1), width)]
            part, tasks = tasks[: max(fits, default=1)], tasks[max(fits, default=1) :]
            yield self._cut(part, 1)

    def _cut(self, tasks: Sequence[str], digits: int, above: str = "\n") -> tuple[list[str], list[list[str]]]:
        """The rows that learn one of these tasks; `above` stands between a task and its metric."""
        several = len(self.seeds) > 1
        columns = ["model", *(["seeds"] if several else []), *(f"{task}{above}{self.heads[task]}" for task in tasks)]
        rows = [
            [
                row.label,
                *(["–".join(map(str, sorted(row.seeds)))] if several else []),
                *(_cell(row.scores[task], digits) if task in row.scores else "" for task in tasks),
            ]
            for row in self.rows
            if any(task in row.scores for task in tasks)
        ]
        return columns, rows


def say_scores(record: Mapping[str, Any], title: str, more: str = "") -> None:
    """The main score of every task, mean ± std over seeds; the record itself has all the others."""
    mains = _main_scores(record)
    table = ScoreTable({task: key.rpartition("/")[2] for task, key in mains.items()}, _rows(record["models"], mains))
    over = counted(min(table.seeds), "seed") if len(table.seeds) == 1 else "seeds"
    console.say(f"{title}{' of' if table.seeds == {1} else ', mean ± std over'} {over}{more}")
    for number, (columns, rows) in enumerate(table.fitted(console.output().width)):
        if number:
            console.say()
        console.say_table(columns, rows)
    known = {key for model in record["models"] for key in model["scores"]}
    unscored = [task for task, key in mains.items() if f"dev/{key}" in known and f"test/{key}" not in known]
    if unscored:
        console.say(f"test gives no score of {', '.join(unscored)}: predictions are written, and the report says why")


def say_signatures(record: Mapping[str, Any]) -> None:
    """Of every score, a line each, which a terminal may fold but nobody breaks: they are there to be copied."""
    from mtlspec.track.signatures import RecordedSignatures

    found = RecordedSignatures(record)
    if not found.of_scores:
        name = record["spec"]["name"]
        hint = f"`mtlspec run {name}` makes its report anew, which writes them"
        raise IntegrityError("E571", f"the record of '{name}' was made before scores had signatures", None, hint)
    own = {f"{model}: {score}": text for model, one in found.of_models.items() for score, text in one.items()}
    for score, text in {**found.of_scores, **own}.items():
        typer.echo(visible(f"{score}  {text}"))


def _fits(columns: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> bool:
    """Whether no line is broken, except the labels of models that would take half of the width."""
    labels, *numbers = console.column_widths(columns, rows)
    return min(labels, width // 2) + sum(numbers) <= width + console.GAP  # nothing follows the last column


def _rows(models: Sequence[Mapping[str, Any]], mains: Mapping[str, str]) -> list[Row]:
    """In the order of the record; single-task models stand where the first of their group does."""
    rows: dict[str, Row] = {}
    for model in models:
        head, point = f"{model['group']}: ", _point(model)
        scores = {task: model["scores"].get(f"test/{mains[task]}") for task in model["tasks"]}
        seeds = frozenset([len(model["runs"])])
        alone = f"{head}each alone{point}"
        if point is None:
            rows[model["label"]] = Row(model["label"], seeds, scores)
        elif len(scores) == 1:
            others = rows.get(alone, Row(model["label"], frozenset(), {}))
            label = alone if others.scores else model["label"]
            rows[alone] = Row(label, others.seeds | seeds, {**others.scores, **scores})
        else:
            every = len(scores) > 2 and len(scores) == len(mains)
            label = f"{head}all {len(scores)} tasks{point}" if every else model["label"]
            rows[label] = Row(label, seeds, scores)
    return list(rows.values())


def _point(model: Mapping[str, Any]) -> str | None:
    """What a label says beside group and tasks: the point of a sweep; None if it does not begin with them."""
    known = f"{model['group']}: {' + '.join(model['tasks'])}"
    rest = str(model["label"]).removeprefix(known)
    return rest if model["label"].startswith(known) and not rest.startswith(" +") else None


def _main_scores(record: Mapping[str, Any]) -> dict[str, str]:
    """Task -> key of its main score: the metric that the spec names, or the accuracy or F1 that its models have."""
    keys = {key.partition("/")[2] for model in record["models"] for key in model["scores"]}
    mains = {}
    for task in dict.fromkeys(task for model in record["models"] for task in model["tasks"]):
        named = f"{task}/{record['spec']['resolved']['tasks'].get(task, {}).get('metric')}"
        own = sorted(key for key in keys if key.startswith(f"{task}/"))
        preferred = [key for key in own if key.endswith(("/f1", "/accuracy"))]
        mains[task] = named if named in own else (preferred or own or [f"{task}/score"])[0]
    return mains


def _cell(score: Score | None, digits: int) -> str:
    if score is None:
        return "–"
    return f"{score['mean']:.{digits}f}" + ("" if score["std"] is None else f" ± {score['std']:.{digits}f}")
