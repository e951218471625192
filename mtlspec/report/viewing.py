"""The report as people look at it: the artifact's page, with what this machine measured put in.

The artifact itself stays as it was recorded; wall-clock figures would change its bytes at every run. They are written
as data, too, in a folder beside the page: `measured/<table>.csv`, `.tex` and `.json`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from mtlspec.io.project import RunPlaces
from mtlspec.io.write import staged_directory, write_text_if_changed
from mtlspec.plan.rows import restored_rows
from mtlspec.plan.types import Plan, Stage
from mtlspec.report.page import template
from mtlspec.results.estimates import mean_and_std
from mtlspec.results.tables import Cell, Table
from mtlspec.results.variants import Variant, variants

MEASURED = "measured"  # the folder of the tables, beside the page
NAV, BODY = "<!--measured:nav-->", "<!--measured:body-->"
Timings = Mapping[str, Mapping[str, float]]
"""stage -> name -> seconds, samples per second ..."""


def write_viewing_copy(places: RunPlaces) -> Path:
    """Writes the page to look at and returns where it is; without timings it equals the artifact's."""
    text = (places.artifact("report") / "report.html").read_text(encoding="utf-8")
    plan = Plan.read(places.plan)
    timings = _read(places, plan.stages)
    tables = measured_tables(plan, timings) if timings else []
    with staged_directory(places.page.parent / MEASURED) as folder:
        for table in tables:
            table.write(folder)
    if tables:
        section = template("measured.html").render(tables=tables)
        text = text.replace(NAV, '<a href="#measured">Measured on this machine</a>', 1).replace(BODY, section, 1)
    write_text_if_changed(places.page, text)
    return places.page


def _read(places: RunPlaces, stages: Iterable[Stage]) -> dict[str, dict[str, float]]:
    """What is there and readable: timings are scratch, and a run may be half done."""
    found = {}
    for stage in stages:
        try:
            raw: Any = json.loads(places.timing(stage.name).read_bytes())
        except (OSError, ValueError):
            continue
        if isinstance(raw, dict):
            found[stage.name] = {str(key): float(value) for key, value in raw.items() if _is_number(value)}
    return found


def _is_number(value: Any) -> bool:
    return isinstance(value, float | int) and not isinstance(value, bool)


def measured_tables(plan: Plan, timings: Timings) -> list[Table]:
    """Time by kind of stage; then, for each kind of stage that models have, its figures by configuration."""
    models = variants(restored_rows(plan.stage("report").params["models"]))
    made = [_by_kind(plan.stages, timings)]
    for title, stage_of in _families(plan, models):
        table = _by_model(title, models, stage_of, timings)
        if table is not None:
            made.append(table)
    return made


def _by_kind(stages: Sequence[Stage], timings: Timings) -> Table:
    rows = []
    for kind in dict.fromkeys(stage.kind for stage in stages):
        own = [timings[stage.name]["seconds"] for stage in stages if stage.kind == kind and stage.name in timings]
        if own:
            mean, _ = mean_and_std(own)
            cells = (_number(sum(own)), _number(mean), _number(max(own)))
            rows.append((Cell(kind, kind), Cell(str(len(own)), len(own)), *cells))
    caption = "Stages run side by side, so the total is computing time rather than waiting time."
    columns = ("stages", "number", "seconds in all", "mean", "longest")
    return Table("measured_time", "Time", caption, columns, (("", tuple(rows)),))


def _families(plan: Plan, models: Sequence[Variant]) -> list[tuple[str, dict[str, str]]]:
    """(title, training -> the stage of that family that belongs to it)."""
    runs = [run for variant in models for run in variant.runs]
    families = [("Training", {run.train: run.train for run in runs})]
    families.append(("Evaluation", {run.train: run.evaluate for run in runs}))
    for stage in plan.stages:
        if stage.kind == "analyse":
            measured = {
                row.train: row.measure for row in restored_rows(stage.params["models"]) if row.measure is not None
            }
            families.append((f"Analysis {stage.params['name']}", measured))
    return families


def _by_model(title: str, models: Sequence[Variant], stage_of: Mapping[str, str], timings: Timings) -> Table | None:
    keys = sorted({key for stage in stage_of.values() for key in timings.get(stage, {})} - {"seconds"})
    rows = []
    for variant in models:
        stages = [stage_of[run.train] for run in variant.runs if stage_of.get(run.train) in timings]
        if stages:
            source = " · ".join(stages)
            cells = [_mean(stages, key, timings, source) for key in ("seconds", *keys)]
            rows.append((Cell(variant.label, variant.label, source=source), *cells))
    if not rows:
        return None
    columns = ("configuration", "seconds", *(key.replace("_", " ") for key in keys))
    name = "measured_" + "_".join(title.lower().split())
    return Table(name, title, "Mean ± standard deviation over seeds.", columns, (("", tuple(rows)),))


def _mean(stages: Sequence[str], key: str, timings: Timings, source: str) -> Cell:
    values = [timings[stage][key] for stage in stages if key in timings[stage]]
    if not values:
        return Cell("–")
    mean, std = mean_and_std(values)
    return _number(mean, std, source)


def _number(mean: float, std: float | None = None, source: str = "") -> Cell:
    def text(value: float) -> str:
        return f"{value:,.0f}" if abs(mean) >= 100 else f"{value:.2f}"

    return Cell(text(mean) + ("" if std is None else f" ± {text(std)}"), mean, std, source=source)
