"""Resume points: the whole state of a run on disk, in a form that a kill, a torn write or a flipped bit cannot spoil.

A point is a directory `update-<n>` with `state.json`, `tensors.safetensors` and a manifest of their digests. It is
filled under another name and renamed when complete. The last two are kept; one whose bytes do not match its manifest is
ignored in favour of the one before.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from safetensors.torch import load_file, save_file
from torch import Tensor

from mtlspec.errors import IntegrityError
from mtlspec.io.manifest import verify_manifest, write_manifest
from mtlspec.io.write import staged_directory, write_json
from mtlspec.train.resuming import point_name, points

STATE, TENSORS = "state.json", "tensors.safetensors"
KEPT = 2


@dataclass(frozen=True)
class Section:
    """One part of a run's state: JSON values, and tensors by name."""

    values: Any = None
    tensors: Mapping[str, Tensor] = field(default_factory=dict)


Saved = dict[str, Section]


class ResumePoints:
    """The resume points of one run; `identity` says which run, so that another run's are never taken up."""

    def __init__(self, directory: Path, identity: str) -> None:
        self._directory = directory
        self._identity = identity

    def save(self, update: int, sections: Saved) -> int:
        """Write a point; returns its size in bytes."""
        values = {name: section.values for name, section in sections.items()}
        tensors = {
            f"{name}/{key}": value.contiguous()
            for name, section in sections.items()
            for key, value in section.tensors.items()
        }
        with staged_directory(self._directory / point_name(update)) as point:
            save_file(tensors, point / TENSORS)
            write_json(point / STATE, {"identity": self._identity, "sections": values})
            write_manifest(point)
        for old in points(self._directory)[KEPT:]:
            shutil.rmtree(old)
        return sum(value.nbytes for value in tensors.values())

    def latest(self) -> Saved | None:
        """The newest whole point of this run, or None; what else lies there is removed."""
        found = None
        for path in points(self._directory):
            found = self._read(path)
            if found is not None:
                break
            shutil.rmtree(path)
        for torn in self._directory.glob(".update-*"):
            shutil.rmtree(torn)
        return found

    def _read(self, path: Path) -> Saved | None:
        try:
            verify_manifest(path)
        except IntegrityError:
            return None
        state = json.loads((path / STATE).read_bytes())
        if state["identity"] != self._identity:
            return None
        tensors: dict[str, dict[str, Tensor]] = {name: {} for name in state["sections"]}
        for key, value in load_file(path / TENSORS).items():
            name, _, rest = key.partition("/")
            tensors[name][rest] = value
        return {name: Section(values, tensors[name]) for name, values in state["sections"].items()}
