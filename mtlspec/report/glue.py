"""What the GLUE server takes: a zip with one table of predictions for each of its eleven test sets.

A task says with `glue` which one of GLUE's it is; its corpus has GLUE's test file as split `glue_test`, that of MNLI
also `glue_test_mismatched` and `glue_ax`. A zip is made of one model with all nine tasks, or of models of one group and
seed that have each task once.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

from mtlspec.data.corpora import ROLE
from mtlspec.errors import StageError
from mtlspec.io.zipped import zipped
from mtlspec.plan.rows import ModelRow
from mtlspec.spec.families import Layout

_BINARY, _ENTAILMENT = frozenset({"0", "1"}), frozenset({"entailment", "not_entailment"})
_THREE = frozenset({"entailment", "neutral", "contradiction"})
LABELS: Mapping[str, frozenset[str] | None] = {
    "CoLA": _BINARY,
    "SST-2": _BINARY,
    "MRPC": _BINARY,
    "STS-B": None,  # a number from 0 to 5
    "MNLI": _THREE,
    "QNLI": _ENTAILMENT,
    "QQP": _BINARY,
    "RTE": _ENTAILMENT,
    "WNLI": _BINARY,
}
_MNLI = {"glue_test": "MNLI-m", "glue_test_mismatched": "MNLI-mm", "glue_ax": "AX"}
_LOWEST, _HIGHEST = 0.0, 5.0


def submissions(
    tasks: Mapping[str, Mapping[str, Any]], rows: Sequence[ModelRow], inputs: Mapping[str, Path]
) -> dict[str, bytes]:
    """File name -> zip, for every group and seed with all of GLUE's tasks; `tasks` are the options of the spec's.

    A text that says why takes the place of a zip that would be wrong.
    """
    found: dict[tuple[str, str, int], dict[str, list[tuple[ModelRow, str]]]] = {}
    for row in rows:
        for task in row.tasks:
            name = tasks.get(task, {}).get("glue")
            if name is not None:
                key = (row.group, repr(row.sweep), row.seed)
                found.setdefault(key, {}).setdefault(name, []).append((row, task))
    made: dict[str, bytes] = {}
    for (group, _, seed), members in found.items():
        tables = _tables(members, inputs)
        if tables is not None:
            number = sum(name.startswith(f"{group}-s{seed}") for name in made)  # of a sweep's points
            name = f"{group}-s{seed}{f'-{number + 1}' if number else ''}"
            lost = _lost([(tasks[task], task) for one in members.values() for _, task in one], inputs)
            if lost:
                made[f"{name}.txt"] = lost.encode()
            else:
                made[f"{name}.zip"] = zipped({f"{test_set}.tsv": table for test_set, table in tables.items()})
    return made


def _lost(learnt: Sequence[tuple[Mapping[str, Any], str]], inputs: Mapping[str, Path]) -> str:
    """Why there can be no zip: rows of a test set that were dropped would move the numbers of all rows behind them."""
    found = []
    for options, task in learnt:
        roles = [
            role for role in inputs if role.startswith(ROLE) and options.get("data") in (None, role.removeprefix(ROLE))
        ]
        for role in roles:
            dropped = json.loads((inputs[role] / "dropped.json").read_bytes())
            found += [f"{task}, {split}: {line}\n" for split in _MNLI for line in dropped.get(split, ())]
    return "".join(["GLUE takes whole test sets only, and these rows were dropped:\n", *found]) if found else ""


def _tables(members: Mapping[str, Sequence[tuple[ModelRow, str]]], inputs: Mapping[str, Path]) -> dict[str, str] | None:
    """Name of a test set -> its table; None where a task or a test set is missing, or a task was learnt twice."""
    tables: dict[str, str] = {}
    for name, labels in LABELS.items():
        if len(members.get(name, ())) != 1:
            return None
        ((row, task),) = members[name]
        for split, test_set in (_MNLI if name == "MNLI" else {"glue_test": name}).items():
            folder = inputs[row.evaluate] / "predictions" / split
            path = next(filter(Path.is_file, (folder / f"{task}.{layout}" for layout in get_args(Layout))), None)
            if path is None:
                return None
            tables[test_set] = _table(path, labels)
    return tables


def _table(path: Path, labels: frozenset[str] | None) -> str:
    """`index` and `prediction`, of a task's file of predictions."""
    lines = ["index\tprediction"]
    for index, predicted in _predictions(path):
        shown = predicted if labels is not None else f"{min(max(float(predicted), _LOWEST), _HIGHEST):.3f}"
        if labels is not None and predicted not in labels:
            hint = f"GLUE calls them {', '.join(sorted(labels))}: name them so in the card, with `classes`"
            raise StageError("E475", f"GLUE has no label '{predicted}' here", path, hint)
        lines.append(f"{index}\t{shown}")
    return "".join(f"{line}\n" for line in lines)


def _predictions(path: Path) -> Iterator[tuple[str, str]]:
    """Index and prediction of every example, from a table or from JSON lines."""
    first, *lines = path.read_text(encoding="utf-8").split("\n")[:-1]
    if path.suffix == ".jsonl":
        for line in (first, *lines):
            found = json.loads(line)
            yield str(found["index"]), str(found["prediction"])
        return
    names = first.split("\t")
    for line in lines:
        row = dict(zip(names, line.split("\t"), strict=True))
        yield row["index"], row["prediction"]
