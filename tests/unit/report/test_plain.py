"""Plain words: what groups are, and what came out."""

from __future__ import annotations

from typing import Any

import pytest

from mtlspec.report.plain import answers, group_words
from mtlspec.results.comparisons import ToldTest, ToldTests
from mtlspec.results.findings import Findings
from mtlspec.results.inference import Difference, Family

_L0 = {"type": "l0", "mode": "dynamic"}


@pytest.mark.parametrize(
    ("group", "words"),
    [
        ({"tasks": {"type": "each"}}, "each task on its own"),
        ({"tasks": "pairs"}, "every two tasks together"),
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


def _matrix(*found: tuple[float, float | None]) -> Findings:
    family = Family("mtl with stl", len(found), 0.05)
    tests = tuple(
        ToldTest("mtl: pos", "pos", "stl: pos", Difference(delta, "runs", (3, 3), p=p, why="one seed"), family, p)
        for delta, p in found
    )
    return Findings(
        "score_matrix", "Scores", ("mtl against stl: more.",), (), (), ToldTests("stl", 0.05, tests).stored()
    )


def test_a_matrix_says_how_many_differences_are_no_luck() -> None:
    assert answers([_matrix((2.0, 0.01), (-3.0, 0.02), (9.0, 0.4))]) == (
        "Scores: of 3 comparisons with stl, 2 show differences that are more than luck (1 above, 1 below); of the other"
        " 1 it is not known whether there is any.",
    )
    assert answers([_matrix((2.0, None))]) == ("Scores: none of 1 comparison with stl could be tested (one seed).",)


def test_other_analyses_say_the_first_of_their_sentences() -> None:
    assert answers([Findings("x", "Heads", ("First.", "Second."), (), ()), Findings("y", "Nothing", (), (), ())]) == (
        "Heads: First.",
    )
