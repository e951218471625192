"""The test scores of a record as a table: one row a model, one column a task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mtlspec.cli import console


def say_scores(record: Mapping[str, Any], title: str) -> None:
    """The main score of every task, mean ± std over seeds; the record itself has all the others."""
    models: Sequence[Mapping[str, Any]] = record["models"]
    mains = _main_scores(models)
    rows = [
        (
            model["label"],
            str(len(model["runs"])),
            *(_cell(model["scores"].get(key)) if task in model["tasks"] else "" for task, key in mains.items()),
        )
        for model in models
    ]
    headings = [f"{task} {key.rpartition('/')[2]}" for task, key in mains.items()]
    console.say_table(("model", "seeds", *headings), rows, title=title)


def _main_scores(models: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Task -> key of its main test score: the first that its models have, accuracy or F1."""
    keys = {key for model in models for key in model["scores"]}
    mains = {}
    for task in dict.fromkeys(task for model in models for task in model["tasks"]):
        own = sorted(key for key in keys if key.startswith(f"test/{task}/"))
        preferred = [key for key in own if key.endswith(("/f1", "/accuracy"))]
        mains[task] = (preferred or own or [f"test/{task}/score"])[0]
    return mains


def _cell(score: Mapping[str, Any] | None) -> str:
    if score is None:
        return "–"
    return f"{score['mean']:.2f}" + ("" if score["std"] is None else f" ± {score['std']:.2f}")
