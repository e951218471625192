"""What Ctrl-C says of each stage that ran."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mtlspec.execute.interruption import what_is_kept
from mtlspec.io.project import RunPlaces
from mtlspec.plan.types import Stage, StageKind


@pytest.mark.parametrize(
    ("kind", "params", "point", "said"),
    [
        ("train", {}, 400, "x goes on from update 400 of 1,200"),
        ("train", {}, None, "x starts again: it has no resume point yet"),
        ("encoder", {"data_card": {}}, None, "x starts again: it has no resume point yet"),
        ("encoder", {"data_card": {}}, 30, "x goes on from update 30 of 1,200"),
        ("encoder", {}, None, "x starts again"),
        ("prepare", {}, None, "x starts again"),
    ],
)
def test_each_stage_says_how_it_goes_on(
    kind: StageKind, params: dict[str, Any], point: int | None, said: str, tmp_path: Path
) -> None:
    places = RunPlaces(tmp_path / "study")
    if point is not None:
        (places.work("x") / f"update-{point:09d}").mkdir(parents=True)
    stage = Stage(name="x", kind=kind, params=params, inputs={}, unit="u", id="0")
    assert what_is_kept(places, 5, 1, {"x": stage}, {"x": (500, 1200)}).lines() == [
        "interrupted: 1 of 5 stages is done and kept",
        f"  {said}",
        "`mtlspec run study` goes on",
    ]
