"""The last stage of a spec: the registry record, and beside it what the report says first."""

from __future__ import annotations

from mtlspec.io.project import Project, RunPlaces
from mtlspec.io.write import write_text_if_changed
from mtlspec.plan.types import Plan
from mtlspec.track.record import write_record


def write_results(project: Project, places: RunPlaces) -> None:
    plan = Plan.read(places.plan)
    write_record(plan, places, project.lock_file)
    write_text_if_changed(places.summary, (places.artifact("report") / places.summary.name).read_text(encoding="utf-8"))
