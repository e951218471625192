"""The table of scores fits the terminal: no line is longer than it, no row takes more than one line."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import pytest
from rich.console import Console

from mtlspec.cli import console
from mtlspec.cli.scores import say_scores

TASKS = ("pos", "ner", "dep", "con", "srl")
METRICS = {"pos": "accuracy", "dep": "las"}


def model(group: str, tasks: Sequence[str], seeds: int = 3, point: str = "") -> dict[str, Any]:
    mean = {task: 60.0 + 5 * number for number, task in enumerate(tasks)}
    std = 1.25 if seeds > 1 else None
    return {
        "group": group,
        "label": f"{group}: {' + '.join(tasks)}{point}",
        "tasks": list(tasks),
        "runs": [{}] * seeds,
        "scores": {
            f"test/{task}/{METRICS.get(task, 'f1')}": {"mean": mean[task], "std": std, "n": seeds} for task in tasks
        },
    }


def record(*models: dict[str, Any]) -> dict[str, Any]:
    tasks = {task: {"metric": METRICS.get(task, "f1")} for task in {task for m in models for task in m["tasks"]}}
    return {"models": list(models), "spec": {"resolved": {"tasks": tasks}}}


STUDY = (
    *(model("stl", [task]) for task in TASKS),
    *(model("pair", pair) for pair in combinations(TASKS, 2)),
    model("mtl", TASKS),
)


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> Any:
    def show(width: int, *models: dict[str, Any]) -> list[str]:
        terminal = Console(width=width, record=True, highlight=False, color_system=None)
        monkeypatch.setattr(console, "output", lambda: terminal)
        with terminal.capture() as captured:
            say_scores(record(*models), "study: test scores")
        return [line.rstrip() for line in captured.get().splitlines()]

    return show


def test_a_study_of_five_tasks_in_eighty_columns(shown: Any) -> None:
    found = shown(80, *STUDY)
    assert max(map(len, found)) <= 80
    assert found[:6] == [
        "study: test scores, mean ± std over 3 seeds",
        "                         pos         ner         dep         con         srl",
        "model               accuracy          f1         las          f1          f1",
        "────────────────────────────────────────────────────────────────────────────",
        "stl: each alone   60.0 ± 1.2  60.0 ± 1.2  60.0 ± 1.2  60.0 ± 1.2  60.0 ± 1.2",
        "pair: pos + ner   60.0 ± 1.2  65.0 ± 1.2",
    ]
    assert found[-1] == "mtl: all 5 tasks  60.0 ± 1.2  65.0 ± 1.2  70.0 ± 1.2  75.0 ± 1.2  80.0 ± 1.2"
    assert len(found) == 4 + 1 + 10 + 1


def test_a_wide_terminal_has_two_digits_and_one_line_of_headings(shown: Any) -> None:
    found = shown(140, *STUDY)
    assert found[1] == "model             pos accuracy        ner f1       dep las        con f1        srl f1"
    assert found[3] == "stl: each alone   60.00 ± 1.25  60.00 ± 1.25  60.00 ± 1.25  60.00 ± 1.25  60.00 ± 1.25"


@pytest.mark.parametrize("width", [45, 60, 80, 100, 140, 240])
@pytest.mark.parametrize("tasks", [1, 2, 5, 9])
def test_every_score_is_there_at_any_width(shown: Any, width: int, tasks: int) -> None:
    names = [f"task{number}" for number in range(tasks)]
    found = shown(width, model("mtl", names), model("other", names))
    assert max(map(len, found)) <= width
    rows = [line for line in found if line.startswith(("mtl: ", "other: "))]
    assert sum(row.count("±") for row in rows) == 2 * tasks
    assert " ".join(found).count("task8") == (tasks == 9)


def test_labels_are_folded_before_numbers_are(shown: Any) -> None:
    found = shown(60, model("mtl", ("pos", "ner"), point=" [lambda 0.1, penalty relative, sharing l0, seed 7]"))
    assert max(map(len, found)) <= 60
    assert found[-3].endswith("60.00 ± 1.25  65.00 ± 1.25")


def test_numbers_of_seeds_are_a_column_only_where_they_differ(shown: Any) -> None:
    found = shown(80, model("stl", ["pos"], 1), model("stl", ["ner"], 3), model("mtl", ["pos", "ner"], 3))
    assert found == [
        "study: test scores, mean ± std over seeds",
        "model            seeds  pos accuracy        ner f1",
        "──────────────────────────────────────────────────",
        "stl: each alone    1–3         60.00  60.00 ± 1.25",
        "mtl: pos + ner       3  60.00 ± 1.25  65.00 ± 1.25",
    ]
    assert shown(80, model("stl", ["pos"], 1))[::3] == ["study: test scores of 1 seed", "stl: pos         60.00"]
