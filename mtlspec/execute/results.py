"""The last stage of a spec: from the plan and the stage records to the registry record."""

from __future__ import annotations

from mtlspec.io.project import Project, RunPlaces
from mtlspec.plan.types import Plan
from mtlspec.track.record import write_record


def write_results(project: Project, places: RunPlaces) -> None:
    plan = Plan.model_validate_json(places.plan.read_bytes(), strict=False)
    write_record(plan, places, project.lock_file)
