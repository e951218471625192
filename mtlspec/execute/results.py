"""The last stage of a spec: from the plan and the stage records to the registry record."""

from __future__ import annotations

from mtlspec.io.project import Project, RunPlaces
from mtlspec.io.write import write_json
from mtlspec.plan.types import Plan
from mtlspec.track.record import build_record


def write_results(project: Project, places: RunPlaces) -> None:
    plan = Plan.model_validate_json(places.plan.read_bytes())
    write_json(places.record, build_record(plan, places, project.lock_file))
