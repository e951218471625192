"""A split may be one file, several, a folder or a pattern: one stream of sentences in one order."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mtlspec.data.corpus import read_split
from mtlspec.data.files import card_files
from mtlspec.data.pins import check_pins, locked
from mtlspec.errors import DataError, MtlspecError, Problems
from mtlspec.io.project import Project
from mtlspec.spec.cards import DataCard
from mtlspec.spec.load import load_data_card

COLUMNS = {"type": "columns", "column": {"tag": 1}}


def card(train: Any, aligned: Any = None, **more: Any) -> DataCard:
    groups = [{"reader": COLUMNS, "paths": _paths(train), "layers": {"one": "tag"}}]
    if aligned is not None:
        groups.append({"reader": "brackets", "paths": _paths(aligned), "layers": {"two": "con"}})
    fixed = {"card": "data", "name": "toy", "licence": "x", "source": "x", "root": "."}
    return DataCard.model_validate({**fixed, "files": groups, **more})


def _paths(train: Any) -> dict[str, Any]:
    return {"train": train, "dev": "dev", "test": "test"}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for path in (
        "in/b/1.txt",
        "in/a/2.txt",
        "in/a/10.txt",
        "in/a-b/3.txt",
        "in/a/.2.txt.swp",
        "in/c.txt",
        "dev",
        "test",
    ):
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{path} X\n")
    return tmp_path


@pytest.mark.parametrize(
    ("train", "found"),
    [
        ("in/c.txt", ["in/c.txt"]),
        (["in/c.txt", "in/a/2.txt"], ["in/c.txt", "in/a/2.txt"]),  # as listed
        ("in", ["in/a/10.txt", "in/a/2.txt", "in/a-b/3.txt", "in/b/1.txt", "in/c.txt"]),  # folder by folder
        ("in/a/", ["in/a/10.txt", "in/a/2.txt"]),
        ("in/**/*.txt", ["in/a/10.txt", "in/a/2.txt", "in/a-b/3.txt", "in/b/1.txt", "in/c.txt"]),
        ("in/*/[123].txt", ["in/a/2.txt", "in/a-b/3.txt", "in/b/1.txt"]),
        (["in/b", "in/a*/*.txt"], ["in/b/1.txt", "in/a/10.txt", "in/a/2.txt", "in/a-b/3.txt"]),
    ],
)
def test_files_are_read_in_one_order(train: Any, found: list[str], root: Path) -> None:
    assert [s.words[0] for s in read_split(card(train), root, "train")] == found
    assert set(card_files(card(train), root)) == {*found, "dev", "test"}


def test_nothing_found_and_files_named_twice_are_errors(root: Path) -> None:
    with pytest.raises(DataError, match=r"E255: no file of 'toy' matches the train entry 'in/\*\.conll'"):
        list(read_split(card("in/*.conll"), root, "train"))
    with pytest.raises(DataError, match=r"E256: the train files of 'toy' name 'in/a/2\.txt' twice"):
        list(read_split(card(["in/a", "in/*/2.txt"]), root, "train"))


def test_every_file_behind_a_pattern_is_pinned(root: Path) -> None:
    pinned = card("in", sha256=locked(card("in"), root))
    check_pins(pinned, root, Path("toy.yaml"))
    (root / "in/new.txt").write_text("x X\n")
    with pytest.raises(DataError, match=r"in/new\.txt: error E264"):
        check_pins(pinned, root, Path("toy.yaml"))
    (root / "in/new.txt").unlink()
    (root / "in/b/1.txt").unlink()
    with pytest.raises(DataError, match=r"in/b/1\.txt: error E263"):
        check_pins(pinned, root, Path("toy.yaml"))


def test_aligned_groups_may_have_their_sentences_in_other_files(root: Path) -> None:
    (root / "trees").mkdir()
    words = ["in/a/10.txt", "in/a/2.txt", "in/b/1.txt"]
    for name, part in (("1", words[:2]), ("2", words[2:])):
        (root / f"trees/{name}.trees").write_text("".join(f"(S (X {word}))\n" for word in part))
    both = card(["in/a", "in/b"], "trees/*.trees")
    assert [s.words[0] for s in read_split(both, root, "train")] == words
    with pytest.raises(Problems) as caught:
        list(read_split(card(["in/b", "in/a"], "trees/*.trees"), root, "train"))
    assert (
        f"{root}/in/b/1.txt:1: error E253: word 1 is 'in/b/1.txt', but 'in/a/10.txt' at {root}/trees/1.trees:1"
        in str(caught.value)
    )
    with pytest.raises(DataError) as longer:
        list(read_split(card(["in/a", "in/b", "in/c.txt"], "trees"), root, "train"))
    assert f"{root}/in/c.txt:1: error E254: one more sentence than the 3 that end with {root}/trees/2.trees" in str(
        longer.value
    )


@pytest.mark.parametrize("path", ["../x", "/x", "a/../../x", "", "a\\b"])
def test_no_entry_leaves_the_root(path: str, tmp_path: Path) -> None:
    (tmp_path / "registry/data").mkdir(parents=True)
    (tmp_path / "specs").mkdir()
    lines = ["card: data", "name: toy", "licence: x", "source: x", "root: .", "files:", "  - reader: brackets"]
    lines += [f"    paths: {{train: [a, '{path}'], dev: dev, test: test}}", "    layers: {con: con}", ""]
    (tmp_path / "registry/data/toy.yaml").write_text("\n".join(lines))
    with pytest.raises(MtlspecError, match=r"toy\.yaml:8:\d+: error E144"):
        load_data_card("toy", Project(tmp_path))


def test_a_split_without_files_is_named(tmp_path: Path) -> None:
    (tmp_path / "registry/data").mkdir(parents=True)
    text = "card: data\nname: toy\nlicence: x\nsource: x\nroot: .\nfiles:\n  - reader: brackets\n"
    text += "    paths: {train: [], dev: dev, test: test}\n    layers: {con: con}\n"
    (tmp_path / "registry/data/toy.yaml").write_text(text)
    with pytest.raises(MtlspecError, match=r"error E143: the split 'train' has no file"):
        load_data_card("toy", Project(tmp_path))
