"""Writes are whole or not at all."""

import os
from pathlib import Path

import pytest

from mtlspec.io.write import staged_directory, write_json, write_text, write_text_if_changed


def test_a_failed_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.txt"
    write_text(path, "old")

    def broken(handle: int) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(os, "fsync", broken)
    with pytest.raises(OSError, match="disk full"):
        write_text(path, "new")
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["a.txt"]


def test_json_is_the_same_bytes_whatever_the_order_of_keys(tmp_path: Path) -> None:
    write_json(tmp_path / "a.json", {"b": 1, "a": [1.5, "ü"]})
    write_json(tmp_path / "b.json", {"a": [1.5, "ü"], "b": 1})
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()


def test_an_equal_file_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    assert write_text_if_changed(path, "x")
    before = path.stat().st_mtime_ns, path.stat().st_ino
    assert not write_text_if_changed(path, "x")
    assert (path.stat().st_mtime_ns, path.stat().st_ino) == before


def test_a_staged_directory_replaces_the_old_one_whole(tmp_path: Path) -> None:
    target = tmp_path / "out"
    with staged_directory(target) as out:
        (out / "a").write_text("1")
    with staged_directory(target) as out:
        (out / "b").write_text("2")
    assert sorted(p.name for p in target.iterdir()) == ["b"]
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


def test_a_failed_stage_leaves_the_old_directory_and_no_litter(tmp_path: Path) -> None:
    target = tmp_path / "out"
    with staged_directory(target) as out:
        (out / "a").write_text("1")
    with pytest.raises(KeyboardInterrupt), staged_directory(target) as out:
        (out / "half").write_text("")
        raise KeyboardInterrupt
    assert [p.name for p in target.iterdir()] == ["a"]
    assert [p.name for p in tmp_path.iterdir()] == ["out"]
