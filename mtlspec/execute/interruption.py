"""What is kept when a run is interrupted, and how it goes on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mtlspec.io.project import RunPlaces
from mtlspec.io.words import counted
from mtlspec.plan.foundation import pretrains
from mtlspec.plan.types import Stage
from mtlspec.train.resuming import newest_update

Progress = tuple[int, int]  # updates done, of how many


@dataclass(frozen=True)
class Kept:
    """`running`: how each stage that ran goes on."""

    spec: str
    done: int
    stages: int
    running: Sequence[str]

    def lines(self) -> list[str]:
        kept = f"{self.done} of {counted(self.stages, 'stage')} {'is' if self.done == 1 else 'are'} done and kept"
        told = [f"  {line}" for line in self.running]
        return [f"interrupted: {kept}", *told, f"`mtlspec run {self.spec}` goes on"]


class Interrupted(KeyboardInterrupt):
    """Ctrl-C in the middle of a run, after everything was put in order; `lines` say what is kept and how to go on."""

    def __init__(self, lines: Sequence[str]) -> None:
        super().__init__()
        self.lines = tuple(lines)


def what_is_kept(
    places: RunPlaces, stages: int, done: int, running: Mapping[str, Stage], progress: Mapping[str, Progress]
) -> Kept:
    """`progress` is the last that running stages told of themselves."""
    told = [
        _goes_on(stage, newest_update(places.work(name)), progress.get(name, (0, None))[1])
        for name, stage in running.items()
    ]
    return Kept(places.spec_name, done, stages, told)


def _goes_on(stage: Stage, update: int | None, updates: int | None) -> str:
    """What is trained or pre-trained has resume points; all other stages are short."""
    if update is not None:
        return f"{stage.name} goes on from {from_update(update, updates)}"
    learns = stage.kind == "train" or pretrains(stage)
    return f"{stage.name} starts again" + (": it has no resume point yet" if learns else "")


def from_update(update: int, updates: int | None) -> str:
    """`update 400 of 1,200`"""
    return f"update {update:,}" + ("" if updates is None else f" of {updates:,}")
