"""Escape sequences of files, labels, names and specs never reach the terminal."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mtlspec.errors import DataError, Place, visible, visible_json
from tests.unit.cli.test_frame import mtlspec
from tests.unit.spec.small_project import make_project

EVIL = "\x1b[2J\x07\x9b31m\u202e\u2066"
CARD = """
card: data
name: evil
licence: none
source: none
root: .
files:
  - reader: {type: table, text: [text], label: {l: label}}
    paths: {train: train.tsv, dev: dev.tsv, test: test.tsv}
    layers: {l: l}
"""


def steers(text: str) -> set[str]:
    return {sign for sign in text if sign in EVIL and sign not in "[2J31m"}


@given(st.text())
def test_what_is_shown_has_nothing_to_steer_with(text: str) -> None:
    shown = visible(text)
    assert visible(shown) == shown and not steers(shown)
    shown.encode()  # no half of a character
    assert all(sign.isprintable() or sign in "\t\n" or not sign.isascii() for sign in shown)
    assert "\n" not in str(DataError("E740", text, Place(text or "x")))
    assert json.loads(visible_json(json.dumps(text, ensure_ascii=False))) == text


def test_ordinary_texts_stay_as_they_are() -> None:
    assert visible("naïve 日本 😀 👩‍👧 عربي\tx\n") == "naïve 日本 😀 👩‍👧 عربي\tx\n"
    assert visible("\x1b[31m") == "\\x1b[31m"


@pytest.mark.parametrize("command", [["stats"], ["stats", "--layer", "l"], ["sample"], ["stats", "--json"], ["show"]])
def test_commands_show_what_files_hold_without_obeying_it(tmp_path: Path, command: list[str]) -> None:
    make_project(tmp_path)
    (tmp_path / "registry" / "data" / "evil.yaml").write_text(CARD)
    rows = f"text\tlabel\nsome {EVIL} words\tgood {EVIL}\n"
    for number, split in enumerate(("train", "dev", "test")):
        (tmp_path / f"{split}.tsv").write_text(rows + f"text {number}\tbad\n")
    done = mtlspec("data", command[0], "evil", *command[1:], cwd=tmp_path, FORCE_COLOR="1")
    assert done.returncode == 0 and not done.stderr.count("Traceback")
    colours = "\x1b" if "\x1b[1m" in done.stdout or "\x1b[0m" in done.stdout else ""  # our own
    assert steers(done.stdout) <= set(colours) and "\x1b[2J" not in done.stdout
    if command[0] in ("stats", "sample"):
        assert "x1b[2J" in done.stdout or "u001b[2J" in done.stdout


def test_an_error_about_such_a_file_is_clean(tmp_path: Path) -> None:
    make_project(tmp_path)
    (tmp_path / "registry" / "data" / "evil.yaml").write_text(CARD.replace("train.tsv", "train"))
    (tmp_path / "train").mkdir()
    for split in ("dev", "test", f"train/{EVIL}"):
        (tmp_path / f"{split}.tsv").write_text(f"text\tlabel\nx\t{EVIL}\ty\n")
    done = mtlspec("data", "stats", "evil", cwd=tmp_path)
    assert done.returncode == 3 and not steers(done.stderr) and "\\x1b[2J" in done.stderr
    done = mtlspec("check", f"no{EVIL}.yaml", cwd=tmp_path)
    assert done.returncode == 2 and not steers(done.stderr)
