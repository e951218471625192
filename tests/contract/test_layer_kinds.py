"""What every layer kind promises, for all files in their folder."""

from __future__ import annotations

from typing import Any

import pytest

from mtlspec import kinds
from mtlspec.contract.data import check_layer
from mtlspec.contract.general import check_light
from mtlspec.data.answers import Answered
from mtlspec.data.choices import Choice
from mtlspec.data.layer import TextSpan
from mtlspec.data.marks import Marked
from mtlspec.data.sentence import ConTree, DepTree, Frame
from mtlspec.spec.families import LAYERS

NAMES = kinds.names(LAYERS)
VALUES: dict[str, list[Any]] = {
    "tags": [("DT", None, "VB"), ("O", "O", "O")],
    "dep": [DepTree((2, 3, 0), ("det", "nsubj", "root"))],
    "con": [ConTree(((0, 3, "S"), (0, 2, "NP"), (2, 3, "VP")), ("DT", "NN", "VB")), ConTree((), ("A", "B", "C"))],
    "srl": [(Frame(2, "sleep.01", ((0, 2, "ARG0"), (2, 3, "V"))),), ()],
    "label": ["entailment"],
    "value": [0.1 + 0.2, -3.0],
    "answer": [Answered(("the cat", "Cat"), ((4, 11), (8, 11), (2, 3))), Answered()],
    "marked": [Marked((TextSpan(0, 3, 7), TextSpan(1, 0, 2)), "true")],
    "choice": [Choice("7/65", "On a bus", 0.0), Choice("7/65", "", 1.0)],
}


def test_every_kind_has_values_to_be_tested_with() -> None:
    assert set(VALUES) == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_value_goes_through_arrow_shows_its_kind_and_can_be_read_and_counted(name: str) -> None:
    assert kinds.load(LAYERS, name).__doc__
    check_layer(name, VALUES[name])


def test_layer_kinds_are_light() -> None:
    check_light([(LAYERS, name) for name in NAMES])
