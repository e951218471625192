"""What a finished run shows: plain words, the table of scores, the report, and how to look further."""

from __future__ import annotations

import json
import os
from contextlib import suppress

from mtlspec.cli import console
from mtlspec.cli.scores import say_scores
from mtlspec.errors import SetupError
from mtlspec.io.project import Project, RunPlaces
from mtlspec.report.viewing import write_viewing_copy
from mtlspec.track.record import read_record
from mtlspec.track.server import experiment_id, is_local, local_store, tracking_uri


def show_outcome(project: Project, places: RunPlaces) -> None:
    """What was asked, what came out and what the names mean; then numbers."""
    console.say()
    _say_plainly(places)
    say_scores(read_record(places.record), f"{places.spec_name}: test scores")
    console.say()
    console.say(f"report   {os.path.relpath(write_viewing_copy(places))}")
    console.say(f"record   {os.path.relpath(places.record)}")
    _say_how_to_compare(project, places.spec_name)


def _say_how_to_compare(project: Project, name: str) -> None:
    """The page shows what is in the project's own store, and a run may be sent elsewhere, or not at all."""
    if not _is_published(project, name):
        if not is_local(project, tracking_uri(project)):
            return
        console.say(f"publish  mtlspec publish {name}")
    console.say(f"compare  mtlspec ui {name}")


def _is_published(project: Project, name: str) -> bool:
    with suppress(SetupError):  # a broken store: publishing says what to do about it
        return local_store(project).is_file() and experiment_id(project, name) is not None
    return False


def _say_plainly(places: RunPlaces) -> None:
    facts = json.loads(places.stage_record("report").read_bytes())["facts"]
    asked = read_record(places.record)["spec"]["resolved"]["description"]
    if asked:
        console.say_field("asked: ", asked)
    for answer in facts.get("answers", ()):
        console.say_field("  - ", answer["asked"])
        for told in filter(None, (answer["found"], answer["sure"])):
            console.say_field("    ", told)
    for name, words in facts.get("groups", ()):
        console.say_field(f"{name}: ", words)
    console.say()
