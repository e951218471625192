"""What a finished run shows: the table of scores, the report, and how to look further."""

from __future__ import annotations

import os

from mtlspec.cli import console
from mtlspec.execute.materialise import Materialised
from mtlspec.io.project import Project
from mtlspec.report.viewing import write_viewing_copy
from mtlspec.track.record import read_record


def show_outcome(project: Project, planned: Materialised) -> None:
    record = read_record(planned.places.record)
    tasks = list(planned.loaded.spec.tasks)
    mains = _main_scores(record["models"], tasks)
    rows = []
    for model in record["models"]:
        cells = [_cell(model["scores"].get(mains[task])) if task in model["tasks"] else "" for task in tasks]
        rows.append((model["label"], str(len(model["runs"])), *cells))
    headings = [f"{task} {mains[task].rpartition('/')[2]}" for task in tasks]
    console.say()
    console.say_table(
        ("model", "seeds", *headings), rows, title=f"{planned.plan.spec}: test scores, mean ± std over seeds"
    )
    report = write_viewing_copy(planned.places)
    console.say()
    console.say(f"report   {os.path.relpath(report)}")
    console.say(f"record   {os.path.relpath(planned.places.record)}")
    console.say(f"compare  mtlspec ui {planned.plan.spec}")
    del project


def _main_scores(models: list[dict[str, object]], tasks: list[str]) -> dict[str, str]:
    """Task -> key of its main test score: the first that its models have, accuracy or F1."""
    keys = {key for model in models for key in model["scores"]}  # type: ignore[attr-defined]
    mains = {}
    for task in tasks:
        own = sorted(key for key in keys if key.startswith(f"test/{task}/"))
        preferred = [key for key in own if key.endswith(("/f1", "/accuracy"))]
        mains[task] = (preferred or own or [f"test/{task}/score"])[0]
    return mains


def _cell(score: dict[str, float] | None) -> str:
    if score is None:
        return "–"
    if score["std"] is None:
        return f"{score['mean']:.2f}"
    return f"{score['mean']:.2f} ± {score['std']:.2f}"
