"""The test scores of a record as a table: one row a model, one column a task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mtlspec.cli import console


def say_scores(record: Mapping[str, Any], title: str) -> None:
    """The main score of every task, mean ± std over seeds; the record itself has all the others."""
    models: Sequence[Mapping[str, Any]] = record["models"]
    mains = _main_scores(record)
    rows = [
        (
            model["label"],
            str(len(model["runs"])),
            *(
                _cell(model["scores"].get(f"test/{key}")) if task in model["tasks"] else ""
                for task, key in mains.items()
            ),
        )
        for model in models
    ]
    headings = [f"{task} {key.rpartition('/')[2]}" for task, key in mains.items()]
    console.say_table(("model", "seeds", *headings), rows, title=title)
    known = {key for model in models for key in model["scores"]}
    unscored = [task for task, key in mains.items() if f"dev/{key}" in known and f"test/{key}" not in known]
    if unscored:
        console.say(f"test has no labels of {', '.join(unscored)}: predictions are written, nothing is scored")


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


def _cell(score: Mapping[str, Any] | None) -> str:
    if score is None:
        return "–"
    return f"{score['mean']:.2f}" + ("" if score["std"] is None else f" ± {score['std']:.2f}")
