"""What is kept when a run is interrupted, and how it goes on."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from mtlspec.io.project import RunPlaces
from mtlspec.io.words import counted
from mtlspec.train.resuming import newest_update

Progress = tuple[int, int]  # updates done, of how many


@dataclass(frozen=True)
class Kept:
    """`points`: the stages that ran, with the update of their newest resume point and of how many there are."""

    spec: str
    done: int
    stages: int
    points: Mapping[str, tuple[int | None, int | None]]

    def lines(self) -> list[str]:
        kept = f"{self.done} of {counted(self.stages, 'stage')} {'is' if self.done == 1 else 'are'} done and kept"
        told = [_goes_on(name, update, updates) for name, (update, updates) in self.points.items()]
        return [f"interrupted: {kept}", *told, f"`mtlspec run {self.spec}` goes on"]


class Interrupted(KeyboardInterrupt):
    """Ctrl-C in the middle of a run, after everything was put in order; `lines` say what is kept and how to go on."""

    def __init__(self, lines: Sequence[str]) -> None:
        super().__init__()
        self.lines = tuple(lines)


def what_is_kept(
    places: RunPlaces, stages: int, done: int, running: Collection[str], progress: Mapping[str, Progress]
) -> Kept:
    """`progress` is the last that running stages told of themselves."""
    points = {name: (newest_update(places.work(name)), progress.get(name, (0, None))[1]) for name in running}
    return Kept(places.spec_name, done, stages, points)


def _goes_on(name: str, update: int | None, updates: int | None) -> str:
    if update is None:
        return f"  {name} starts again: it has no resume point yet"
    return f"  {name} goes on from {from_update(update, updates)}"


def from_update(update: int, updates: int | None) -> str:
    """`update 400 of 1,200`"""
    return f"update {update:,}" + ("" if updates is None else f" of {updates:,}")
