"""Editing a file of people leaves all but one mapping as it was."""

from __future__ import annotations

import pytest
import yaml

from mtlspec.spec.edit import with_mapping

VALUES = {"b.txt": "2", "a b.txt": "1"}
BLOCK = 'sha256:\n    "a b.txt": 1\n    b.txt: 2'
FLOW = 'sha256: {"a b.txt": 1, b.txt: 2}'


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("s:\n  t: 1", f"s:\n  t: 1\n  {BLOCK}\n"),
        ("s:\n  t: 1  # why\n\n# end\nz: 1\n", f"s:\n  t: 1  # why\n  {BLOCK}\n\n# end\nz: 1\n"),
        ("s:\n  sha256: {}\n  t: 1\n", f"s:\n  {BLOCK}\n  t: 1\n"),
        ("s:\n  sha256:\n  t: 1\n", f"s:\n  {BLOCK}\n  t: 1\n"),
        (
            "s:\n  t: 1\n  sha256:\n    x: 0\n    y: 0 # gone\n# kept\nz: 1\n",
            f"s:\n  t: 1\n  {BLOCK} # gone\n# kept\nz: 1\n",
        ),
        ("s:\n  t: [1,\n    2]\nz: 1\n", f"s:\n  t: [1,\n    2]\n  {BLOCK}\nz: 1\n"),
        ("s: {t: 1}\nz: 1\n", f"s: {{t: 1, {FLOW}}}\nz: 1\n"),
        ("s: {sha256: {x: 0}, t: 1}\n", f"s: {{{FLOW}, t: 1}}\n"),
        ("s: {\n  t: 1\n}\n", f"s: {{\n  t: 1\n, {FLOW}}}\n"),
    ],
)
def test_only_the_mapping_is_written(before: str, after: str) -> None:
    found = with_mapping(before, ("s", "sha256"), VALUES)
    assert found == after
    old, new = yaml.safe_load(before), yaml.safe_load(found)
    assert new == {**old, "s": {**old["s"], "sha256": {"a b.txt": 1, "b.txt": 2}}}
    assert with_mapping(found, ("s", "sha256"), VALUES) == found
