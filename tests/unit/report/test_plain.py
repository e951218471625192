"""Plain words: what groups are."""

from __future__ import annotations

from typing import Any

import pytest

from mtlspec.report.plain import group_words

_L0 = {"type": "l0", "mode": "dynamic"}


@pytest.mark.parametrize(
    ("group", "words"),
    [
        ({"tasks": {"type": "each"}}, "each task on its own"),
        ({"tasks": "pairs"}, "every two tasks together"),
        ({"tasks": {"type": "each_of", "names": ["pos", "ner"]}}, "each of 2 tasks on its own"),
        ({"tasks": {"type": "pairs_of", "names": ["pos", "ner"]}}, "every two of 2 tasks together"),
        ({"tasks": {"type": "all"}, "sharing": _L0}, "all 3 tasks together, heads pruned while training"),
        (
            {"tasks": "each", "sharing": {**_L0, "mode": "static"}, "start": "stl"},
            "each task on its own, heads pruned after training, starting from trained models of stl",
        ),
        (
            {"tasks": "all", "sharing": {"type": "iat"}},
            "all 3 tasks together, in the end every task on heads of its own",
        ),
        (
            {"tasks": "all", "sharing": {"type": "iat", "prune_least": True}},
            "all 3 tasks together, in the end every task without its least important heads",
        ),
        (
            {"tasks": "all", "sharing": {"type": "iat", "select": "random", "delta": 0.1}},
            "all 3 tasks together, in the end every task on heads drawn for it at random",
        ),
        (
            {"tasks": "all", "sharing": {"type": "iat", "delta": 1.0}},
            "all 3 tasks together, from the start every task on heads of its own",
        ),
        ({"tasks": "pairs", "train": {"freeze": 1.0}}, "every two tasks together, encoder frozen"),
        ({"tasks": "pairs", "train": {"freeze": {"layers": 2}}}, "every two tasks together, lower layers frozen"),
        ({"tasks": ["pos", "ner"], "sharing": {"type": "mine"}}, "pos + ner together, sharing by mine"),
        (
            {"tasks": "each", "sweep": {"train.examples": [1, 2]}, "start": {"group": "a"}},
            "each task on its own, starting from trained models of a, for several values of train.examples",
        ),
    ],
)
def test_groups_are_explained_by_what_the_spec_says(group: dict[str, Any], words: str) -> None:
    spec = {"tasks": dict.fromkeys(("pos", "ner", "dep")), "models": {"x": {"sharing": {"type": "hard"}, **group}}}
    assert group_words(spec, ["x", "x"]) == [("x", words)]


def test_groups_that_are_fed_in_different_ways_say_how() -> None:
    hard = {"sharing": {"type": "hard"}}
    models = {"stl": {"tasks": "each", **hard}, "mtl": {"tasks": "all", **hard}, "drawn": {"tasks": "all", **hard}}
    spec: dict[str, Any] = {"tasks": {"a": 1, "b": 2}, "train": {"batching": "joint"}, "models": models}
    assert group_words(spec, models)[1:] == [("mtl", "all 2 tasks together"), ("drawn", "all 2 tasks together")]
    models["drawn"] = {**models["drawn"], "train": {"batching": "sampled"}}
    assert group_words(spec, models) == [
        ("stl", "each task on its own"),
        ("mtl", "all 2 tasks together, every batch read for all of them"),
        ("drawn", "all 2 tasks together, each batch of one task"),
    ]
