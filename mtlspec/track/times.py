"""When a run was computed here and for how long, from the timings that stages leave behind."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from mtlspec.io.project import RunPlaces


@dataclass(frozen=True)
class Span:
    """Of computing, in seconds: stages that waited for each other or ran side by side count with their own time."""

    began: float  # since the epoch
    seconds: float


def timings(path: Path) -> dict[str, float]:
    """Seconds and tokens per second, if this machine computed the stage; a restored stage has none."""
    try:
        raw = json.loads(path.read_bytes())
        return {str(key): float(value) for key, value in raw.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def span(places: RunPlaces, stages: Sequence[str]) -> Span | None:
    """Of those of the stages that were computed here; a timing is written when its stage ends."""
    spans = []
    for stage in stages:
        seconds = timings(places.timing(stage)).get("seconds")
        if seconds is not None:
            spans.append(Span(places.timing(stage).stat().st_mtime - seconds, seconds))
    return together(spans)


def together(spans: Iterable[Span | None]) -> Span | None:
    known = [one for one in spans if one is not None]
    if not known:
        return None
    return Span(min(one.began for one in known), sum(one.seconds for one in known))
