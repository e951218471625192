"""What a finished run shows: plain words, the table of scores, the report, and how to look further."""

from __future__ import annotations

import json
import os

from mtlspec.cli import console
from mtlspec.cli.scores import say_scores
from mtlspec.io.project import RunPlaces
from mtlspec.report.viewing import write_viewing_copy
from mtlspec.track.record import read_record


def show_outcome(places: RunPlaces) -> None:
    """What was asked, what came out and what the names mean; then numbers."""
    console.say()
    _say_plainly(places)
    say_scores(read_record(places.record), f"{places.spec_name}: test scores")
    console.say()
    console.say(f"report   {os.path.relpath(write_viewing_copy(places))}")
    console.say(f"record   {os.path.relpath(places.record)}")
    console.say(f"compare  mtlspec ui {places.spec_name}")


def _say_plainly(places: RunPlaces) -> None:
    facts = json.loads(places.stage_record("report").read_bytes())["facts"]
    asked = read_record(places.record)["spec"]["resolved"]["description"]
    if asked:
        console.say(f"asked: {asked}")
    for answer in facts.get("answers", ()):
        console.say(f"  - {answer}")
    for name, words in facts.get("groups", ()):
        console.say(f"{name}: {words}")
    console.say()
