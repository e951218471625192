"""The registry: the records under `registry/runs/`, listed, found and compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from mtlspec.errors import IntegrityError, did_you_mean
from mtlspec.io.project import Project
from mtlspec.track.record import read_record


def run_names(project: Project) -> tuple[str, ...]:
    """Specs that have a folder with a record, sorted."""
    return tuple(sorted(path.parent.name for path in (project.root / "registry" / "runs").glob("*/record.json")))


def records(project: Project) -> Iterator[dict[str, Any]]:
    for name in run_names(project):
        yield read_record(project.run(name).record)


def find_record(project: Project, reference: str) -> dict[str, Any]:
    """By spec name, or by path: a `record.json` of another project or of an older commit can be compared too."""
    if reference.endswith(".json"):
        return read_record(Path(reference))
    names = run_names(project)
    if reference not in names:
        raise IntegrityError(
            "E525",
            f"the registry has no record of '{reference}'",
            None,
            did_you_mean(reference, names) or "run it first",
        )
    return read_record(project.run(reference).record)


def overview(record: Mapping[str, Any]) -> dict[str, Any]:
    """One line of the list: sizes, and the mean test score of each model group.

    That is of the models all of whose tasks have test labels: None where there are none, and `scored` says how many.
    """
    groups: dict[str, list[float]] = {}
    for model in record["models"]:
        score = model["scores"].get("test/mean")
        groups.setdefault(model["group"], []).extend([] if score is None else [score["mean"]])
    sizes = Counter(model["group"] for model in record["models"])
    return {
        "spec": record["spec"]["name"],
        "digest": record["spec"]["digest"],
        "models": sum(len(model["runs"]) for model in record["models"]),
        "stages": len(record["stages"]),
        "missing": len(record["missing"]),
        "test": {group: sum(values) / len(values) if values else None for group, values in groups.items()},
        "scored": {group: [len(values), sizes[group]] for group, values in groups.items()},
    }
