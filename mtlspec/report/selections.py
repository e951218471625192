"""Which tasks were chosen while the study ran, and the numbers that decided."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mtlspec.report.section import Section
from mtlspec.results.tables import Cell, Table
from mtlspec.spec.selected import Selection, select


def selections_section(stages: Sequence[Mapping[str, Any]], inputs: Mapping[str, Path]) -> Section:
    """A table for each model group; `stages` are the parameters of the `select` stages, their names and groups."""
    found = {stage["stage"]: select(stage, inputs) for stage in stages}
    labels = {stage["stage"]: f"{stage['group']}: {' + '.join(stage['known'])}" for stage in stages}
    sentences = tuple(_sentence(labels[name], selection) for name, selection in found.items())
    groups: dict[str, list[str]] = {}
    for stage in stages:
        groups.setdefault(stage["group"], []).append(stage["stage"])
    tables = tuple(_table(group, {labels[n]: (n, found[n]) for n in names}) for group, names in groups.items())
    return Section("selected_tasks", "Selected tasks", sentences, tables, ())


def _table(group: str, selections: Mapping[str, tuple[str, Selection]]) -> Table:
    sections = tuple((label, _rows(stage, selection)) for label, (stage, selection) in selections.items())
    numbers = next((one.numbers for _, found in selections.values() for one in found.candidates), {})
    columns = ("candidate", "chosen", *(name.replace("_", " ") for name in numbers))
    caption = "Every task that could have been chosen, with the numbers on which the choice rests."
    return Table(f"selected_tasks_{group}", f"Tasks chosen for {group}", caption, columns, sections)


def _sentence(label: str, selection: Selection) -> str:
    chosen = sorted(candidate.task for candidate in selection.candidates if candidate.chosen)  # as models are called
    return f"{label} is learnt {'together with ' + ', '.join(chosen) if chosen else 'alone: no task was chosen'}."


def _rows(stage: str, selection: Selection) -> tuple[tuple[Cell, ...], ...]:
    return tuple(
        (
            Cell(candidate.task, candidate.task, source=stage),
            Cell("yes" if candidate.chosen else "no", int(candidate.chosen), source=stage),
            *(Cell(f"{value:.2f}", value, source=stage) for value in candidate.numbers.values()),
        )
        for candidate in selection.candidates
    )
