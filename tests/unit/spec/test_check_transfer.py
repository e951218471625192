"""Tables of transfer that could not be made are refused before anything runs, and those that can are not."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from mtlspec.spec.load import LoadedSpec
from tests.unit.spec.small_project import SPEC

Complaints = Callable[..., list[str]]
Load = Callable[..., LoadedSpec]

THREE = (
    SPEC.replace("train:\n", "  up: {type: tagging, layer: upos}\ntrain:\n", 1)
    .replace(
        "analyses:\n  scores: {type: score_matrix, models: [stl, mtl]}\n",
        "  pair: {tasks: pairs, sharing: hard}\n"
        "  other: {tasks: pairs, sharing: task_embedding}\n"
        "  swept: {tasks: pairs, sharing: hard, sweep: {train.clip: [1.0, 5.0]}}\n"
        "  oracle: {tasks: oracle, sharing: hard}\n"
        "  some: {tasks: [pos, lem], sharing: hard}\n"
        "  but_one: {tasks: all_but_one, sharing: hard}\n"
        "analyses:\n"
        "  table: {type: transfer_table, models: [MODELS]}\n",
    )
    .replace("{type: tagging, layer: xpos}", "{type: tagging, layer: xpos, decoder: crf}")
    .replace("{type: tagging, layer: upos}", "{type: tagging, layer: upos, decoder: crf}")
)

# The models of a table -> the line that answers it, after the name of the file.
BROKEN = {
    "stl, mtl": "24:41: error E996: no model group of this table has models of pairs of tasks, and it tells who helps "
    "whom in a pair; add a group with `tasks: pairs` to `models`",
    "stl, pair, mtl, other": "24:58: error E995: 'pair' and 'other' both have models of pairs of tasks; name the groups"
    " of one way of sharing under `models`, and make a table for each way",
    "stl, swept": "24:47: error E997: 'swept' is swept, and a table of transfer shows one setting of each group; name"
    " groups that are not swept under `models`",
}
SOUND = (
    "stl, pair",
    "stl, pair, mtl, oracle",
    "stl, other, mtl",
    "stl, some",
    "stl, pair, but_one",
    "oracle, mtl, pair, stl",
)


@pytest.mark.parametrize("models", BROKEN)
def test_a_table_that_cannot_be_made_is_told_to_the_letter(models: str, complaints: Complaints) -> None:
    assert complaints(THREE.replace("MODELS", models)) == [f"specs/study.yaml:{BROKEN[models]}"]


@pytest.mark.parametrize("models", SOUND)
def test_a_table_that_can_be_made_is_not_refused(models: str, load: Load) -> None:
    load(THREE.replace("MODELS", models))


def test_a_sweep_of_one_value_is_one_setting(load: Load) -> None:
    load(THREE.replace("MODELS", "stl, swept").replace("[1.0, 5.0]", "[5.0]"))


def test_a_table_of_all_groups_is_told_once_that_two_have_the_same_rows(complaints: Complaints) -> None:
    everything = THREE.replace(", models: [MODELS]", "").replace(", sweep: {train.clip: [1.0, 5.0]}", "")
    (told,) = complaints(everything)
    assert "error E995: 'pair' and 'other' both have models of pairs of tasks" in told
