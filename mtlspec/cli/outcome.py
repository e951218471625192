"""What a finished run shows: the table of scores, the report, and how to look further."""

from __future__ import annotations

import os

from mtlspec.cli import console
from mtlspec.cli.scores import say_scores
from mtlspec.io.project import RunPlaces
from mtlspec.report.viewing import write_viewing_copy
from mtlspec.track.record import read_record


def show_outcome(places: RunPlaces) -> None:
    console.say()
    say_scores(read_record(places.record), f"{places.spec_name}: test scores")
    console.say()
    console.say(f"report   {os.path.relpath(write_viewing_copy(places))}")
    console.say(f"record   {os.path.relpath(places.record)}")
    console.say(f"compare  mtlspec ui {places.spec_name}")
