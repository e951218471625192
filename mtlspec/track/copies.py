"""Copies of models in the project's own MLflow store: found by their content, without MLflow, which takes seconds.

Some are mirrored with their runs, because they are small; others were logged with `mtlspec export --log`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from mtlspec.io.digest import digest_file, digest_value
from mtlspec.io.freed import WEIGHTS
from mtlspec.io.project import Project
from mtlspec.io.write import write_json

POINTER = "pointer.json"  # beside a model that is too large for MLflow, or was freed
EXPORTED = "mtlspec.json"  # what an exported model says of itself
TRAINED = "trained"  # the digest of the trained model that it was made of

Trainings = Mapping[str, Mapping[str, str]]
"""Training -> digests of the files of its model."""


def pointer(spec: str, training: str, recorded: Mapping[str, str]) -> dict[str, object]:
    """What stands for a model that is not in MLflow: where it is, or would be, and the digests of its files."""
    return {"path": f"registry/runs/{spec}/artifacts/{training}", "sha256": dict(recorded)}


def copies(project: Project, spec: str) -> Iterator[Path]:
    """Weights of models that were mirrored, or logged, for a spec."""
    yield from _mirrored(project, spec)
    for folder in _logged(project, spec):
        yield from _weights(folder)


def free_copies(project: Project, spec: str, trainings: Trainings) -> int:
    """Bytes that were freed of these models; pointers take their place."""
    by_weights = {recorded[WEIGHTS]: name for name, recorded in trainings.items() if WEIGHTS in recorded}
    freed = 0
    for path in _mirrored(project, spec):
        name = by_weights.get(digest_file(path))
        if name is not None:
            freed += _replaced(path.parent, [path], pointer(spec, name, trainings[name]))
    by_digest = {digest_value(recorded): name for name, recorded in trainings.items()}
    for folder in _logged(project, spec):
        name = by_digest.get(_trained(folder))
        if name is not None:
            freed += _replaced(folder, [*_weights(folder)], pointer(spec, name, trainings[name]))
    return freed


def _replaced(folder: Path, weights: list[Path], stands_for: Mapping[str, object]) -> int:
    """First the pointer: whatever moment a kill comes at, a model says that it lacks its weights."""
    if weights:
        write_json(folder / POINTER, stands_for)
    freed = 0
    for path in weights:
        freed += path.stat().st_size
        path.unlink()
    return freed


def _mirrored(project: Project, spec: str) -> Iterator[Path]:
    yield from (project.tracking / "artifacts" / spec).glob(f"*/artifacts/model/{WEIGHTS}")


def _logged(project: Project, spec: str) -> Iterator[Path]:
    """Folders of exported models."""
    for path in (project.tracking / "artifacts" / spec).glob(f"models/*/artifacts/{EXPORTED}"):
        yield path.parent


def _weights(folder: Path) -> Iterator[Path]:
    yield from sorted(folder.rglob("*.safetensors"))


def _trained(folder: Path) -> str:
    try:
        return str(json.loads((folder / EXPORTED).read_bytes())[TRAINED])
    except (OSError, ValueError, KeyError, TypeError):
        return ""
