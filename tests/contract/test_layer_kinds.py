"""What every layer kind promises, for all files in their folder."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pyarrow as pa
import pytest

from mtlspec import kinds
from mtlspec.data.layer import Kind
from mtlspec.data.layer_kinds import kind_of, layer_kind
from mtlspec.data.sentence import ConTree, DepTree, Frame
from mtlspec.spec.families import LAYERS

NAMES = kinds.names(LAYERS)
WORDS = ("the", "cat", "sleeps")
VALUES: dict[str, list[Any]] = {
    "tags": [("DT", None, "VB"), ("O", "O", "O")],
    "dep": [DepTree((2, 3, 0), ("det", "nsubj", "root"))],
    "con": [ConTree(((0, 3, "S"), (0, 2, "NP"), (2, 3, "VP")), ("DT", "NN", "VB")), ConTree((), ("A", "B", "C"))],
    "srl": [(Frame(2, "sleep.01", ((0, 2, "ARG0"), (2, 3, "V"))),), ()],
    "label": ["entailment"],
    "value": [0.1 + 0.2, -3.0],
}


def test_every_kind_has_values_to_be_tested_with() -> None:
    assert set(VALUES) == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_value_goes_through_arrow_and_shows_its_kind(name: str) -> None:
    kind = layer_kind(name)
    assert isinstance(kind, Kind) and kinds.load(LAYERS, name).__doc__
    types = list(kind.columns().values())
    for value in VALUES[name]:
        cells = [pa.array([cell], type_)[0].as_py() for cell, type_ in zip(kind.cells(value), types, strict=True)]
        assert kind.value(cells) == value
        assert [other for other in NAMES if layer_kind(other).shows(value)] == [name] == [kind_of(value)]


@pytest.mark.parametrize("name", NAMES)
def test_a_value_can_be_read_and_counted(name: str) -> None:
    kind = layer_kind(name)
    for value in VALUES[name]:
        lines = kind.lines(WORDS, value)
        assert lines and all(line and "\n" not in line for line in lines)
        assert all(isinstance(label, str) for label in (*kind.labels(value), *kind.targets(value)))
        assert all(number >= 0 for number in kind.figures(value).values())
        assert kind.problem(value, len(WORDS)) is None


def test_layer_kinds_are_light() -> None:
    modules = ", ".join(f"{LAYERS}.{name}" for name in NAMES)
    code = (
        f"import sys, {modules}; print([m for m in ('torch', 'numpy', 'pyarrow', 'transformers') if m in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
