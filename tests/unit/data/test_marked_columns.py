"""Tags of which only matters whether a word has one: what becomes of them, and that all else is read like columns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mtlspec.data.readers import columns, marked_columns
from mtlspec.errors import MtlspecError

TEXT = "Please\tO\tUH\ncontinue\tB-Process\tVB\nthis\tO\tDT\ntalk\tI-Talk\tNN\nfast\t_\tRB\n\nHi\tB-X\tUH\n"
COLUMNS: dict[str, Any] = {"delimiter": "tab", "column": {"frame": 1, "pos": 2}}


def test_words_with_a_tag_are_marked_and_nothing_else_changes(tmp_path: Path) -> None:
    path = tmp_path / "a.conll"
    path.write_text(TEXT)
    marked = marked_columns.Options(type="marked_columns", marks={"frame": "B-TARGET"}, **COLUMNS)
    plain = columns.Options(type="columns", **COLUMNS)
    first, second = marked.read(path)
    assert first.layers["frame"] == ("O", "B-TARGET", "O", "B-TARGET", None)  # what is unknown stays unknown
    assert second.layers["frame"] == ("B-TARGET",)
    for ours, theirs in zip((first, second), plain.read(path), strict=True):
        assert (ours.words, ours.place, ours.layers["pos"]) == (theirs.words, theirs.place, theirs.layers["pos"])


def test_a_mark_of_no_column_is_one_line() -> None:
    found = marked_columns.Options(type="marked_columns", marks={"frames": "X"}, **COLUMNS).problem()
    assert found == "`marks` names 'frames', which `column` does not"


def test_defects_are_found_before_anything_is_marked(tmp_path: Path) -> None:
    path = tmp_path / "a.conll"
    path.write_text("a\tO\tX\nb\tI-P\tX\n")
    marked = marked_columns.Options(
        type="marked_columns", marks={"frame": "B-TARGET"}, spans={"frame": "iob2"}, **COLUMNS
    )
    with pytest.raises(MtlspecError, match=r"E245.*I-P"):
        list(marked.read(path))
