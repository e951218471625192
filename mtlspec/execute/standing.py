"""How a run stands: what `status` and the registry say of it. One meaning of `current` for all of them.

current      its record is what its spec would give today, and everything is on this machine
elsewhere    the same, but some artifacts are not here: `mtlspec run` brings them back, or makes them again
stale        something changed: running it computes some of its stages anew
incomplete   some of its stages have not run
outgrown     an older mtlspec wrote its record
broken       it cannot be planned today: `problem` says why
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from mtlspec.errors import IntegrityError, MtlspecError
from mtlspec.execute.materialise import Materialised, planned_today
from mtlspec.execute.staleness import StageStatus, statuses
from mtlspec.io.project import Project, RunPlaces
from mtlspec.plan.source import Source, read_source
from mtlspec.track.record import outgrown, read_record

Word = Literal["current", "elsewhere", "stale", "incomplete", "outgrown", "broken"]


@dataclass(frozen=True)
class Standing:
    word: Word
    source: Source | None  # the spec file and the overrides; None where what was kept of them is broken
    planned: Materialised | None  # what the spec says today
    stages: tuple[StageStatus, ...]
    problem: str | None

    @property
    def cached(self) -> int:
        """Stages that are up to date and here."""
        return sum(status.state == "cached" for status in self.stages)

    @property
    def first(self) -> StageStatus | None:
        """The first stage that a run would not take as it is."""
        return next((status for status in self.stages if status.state != "cached"), None)


def standing(project: Project, places: RunPlaces) -> Standing:
    source = read_source(places)
    try:
        planned = planned_today(project, places)
        found = tuple(statuses(planned))
    except MtlspecError as error:
        return Standing(_word_of_record(places) or "broken", source, None, (), str(error))
    return Standing(_word_of_record(places) or _word_of_stages(found), source, planned, found, None)


def _word_of_record(places: RunPlaces) -> Word | None:
    """What the record alone says; None if nothing is wrong with it, or if there is none."""
    try:
        record = read_record(places.record)
    except IntegrityError:
        return None
    return "outgrown" if outgrown(record) else "incomplete" if record["missing"] else None


def _word_of_stages(found: Sequence[StageStatus]) -> Word:
    states = {status.state for status in found}
    if "stale" in states:
        return "stale"
    if "new" in states:
        return "incomplete"
    return "current" if states == {"cached"} else "elsewhere"
