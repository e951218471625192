"""Models whose weights were freed, in the eyes of DVC: the whole artifacts that its lock tells of.

DVC hashes folders, and one without its largest file is another to it. Where the weights need not come back, the stages
that it was asked to judge see the recorded digest instead; whoever asks plain DVC is told that they are to be made.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from mtlspec.errors import IntegrityError
from mtlspec.io.freed import verify_but_weights
from mtlspec.io.project import RunPlaces
from mtlspec.plan.weights import TRAINING


def see_through(places: RunPlaces, stages: Mapping[str, Any], rests: Callable[[str], bool]) -> None:
    """From now on DVC's stages (name -> stage) take trainings that rest for what they were."""
    folders = {str(places.artifact(name)): name for name in stages if name.startswith(TRAINING)}
    whole = {str(out.fs_path): out for stage in stages.values() for out in stage.outs}
    for path, name in folders.items():
        if path in whole:
            _as_output(whole[path], partial(rests, name))
    for stage in stages.values():
        for dep in stage.deps:
            path = str(dep.fs_path)
            if path in folders and path in whole:
                _as_dependency(dep, whole[path], partial(rests, folders[path]))


def _as_output(out: Any, rests: Callable[[], bool]) -> None:
    judge = out.status

    def status() -> Any:
        if out.hash_info and rests():
            with suppress(IntegrityError):
                verify_but_weights(Path(out.fs_path))
                return {}
        return judge()

    out.status = status


def _as_dependency(dep: Any, whole: Any, rests: Callable[[], bool]) -> None:
    digest, remember = dep.get_hash, dep.save

    def get_hash() -> Any:
        return whole.hash_info if whole.hash_info and rests() else digest()

    def save() -> None:
        if whole.hash_info and rests():
            dep.hash_info, dep.meta, dep.files = whole.hash_info, whole.meta, None
        else:
            remember()

    dep.get_hash, dep.save = get_hash, save
