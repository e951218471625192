"""Copies of models in the project's own MLflow store: found by their content, without MLflow, which takes seconds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from mtlspec.io.digest import digest_file
from mtlspec.io.freed import WEIGHTS
from mtlspec.io.project import Project
from mtlspec.io.write import write_json

POINTER = "pointer.json"  # beside a model that is too large for MLflow, or was freed


def pointer(spec: str, training: str, recorded: Mapping[str, str]) -> dict[str, object]:
    """What stands for a model that is not in MLflow: where it is, or would be, and the digests of its files."""
    return {"path": f"registry/runs/{spec}/artifacts/{training}", "sha256": dict(recorded)}


def copies(project: Project, spec: str) -> Iterator[Path]:
    """Weights of models that were logged for a spec."""
    return (project.tracking / "artifacts" / spec).glob(f"*/artifacts/model/{WEIGHTS}")


def free_copies(project: Project, spec: str, manifests: Mapping[str, Mapping[str, str]]) -> int:
    """Bytes that were freed of models (training -> digests of its files); pointers take their place."""
    trainings = {recorded[WEIGHTS]: name for name, recorded in manifests.items() if WEIGHTS in recorded}
    freed = 0
    for path in copies(project, spec):
        name = trainings.get(digest_file(path))
        if name is not None:
            write_json(path.with_name(POINTER), pointer(spec, name, manifests[name]))
            freed += path.stat().st_size
            path.unlink()
    return freed
