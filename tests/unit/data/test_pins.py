"""Pins: data cannot change in silence, and locking touches nothing but the digests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from mtlspec.data.pins import check_pins, lock_card, locked, resolve_root
from mtlspec.errors import DataError, Problems
from mtlspec.io.digest import digest_bytes
from mtlspec.io.project import Project
from mtlspec.spec.cards import DataCard


def card(root: str | None = "data", **more: object) -> DataCard:
    paths = {split: f"{split}.txt" for split in ("train", "dev", "test")}
    files = [{"reader": {"type": "columns", "column": {"t": 1}}, "paths": paths, "layers": {"t": "t"}}]
    return DataCard.model_validate(
        {"card": "data", "name": "toy", "licence": "x", "source": "x", "root": root, "files": files, **more}
    )


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for split in ("train", "dev", "test"):
        (tmp_path / f"{split}.txt").write_text(split)
    return tmp_path


def card_file(root: Path) -> Path:
    (root / "toy.yaml").touch()
    return root / "toy.yaml"


def test_unchanged_files_pass(root: Path) -> None:
    check_pins(card(sha256=locked(card(), root)), root, Path("toy.yaml"))


def test_a_changed_file_is_named_with_both_digests(root: Path) -> None:
    pinned = card(sha256=locked(card(), root))
    (root / "dev.txt").write_text("edited")
    (root / "test.txt").write_text("edited too")
    with pytest.raises(Problems) as caught:
        check_pins(pinned, root, card_file(root))
    first, second = caught.value.problems
    assert str(first) == (
        f"{root}/dev.txt: error E265: the data file changed: recorded sha256 {digest_bytes(b'dev')}, "
        f"found {digest_bytes(b'edited')}; if the change is meant: `mtlspec data lock toy`"
    )
    assert second.place is not None and second.place.file == f"{root}/test.txt"
    assert caught.value.exit_code == 3


def test_a_missing_file_is_named(root: Path) -> None:
    pinned = card(sha256=locked(card(), root))
    (root / "dev.txt").unlink()
    with pytest.raises(DataError) as caught:
        check_pins(pinned, root, Path("toy.yaml"))
    assert str(caught.value) == (
        f"{root}/dev.txt: error E263: a file of 'toy' is missing: recorded sha256 {digest_bytes(b'dev')}, found none; "
        "put it there, or correct `paths` of the card"
    )


def test_a_recorded_file_that_the_card_names_no_more_is_named(root: Path) -> None:
    pinned = card(sha256={**locked(card(), root), "old.txt": "0" * 64})
    with pytest.raises(DataError, match=r"E263.*; put it there, or take it out of the card's `sha256`$"):
        check_pins(pinned, root, Path("toy.yaml"))


def test_a_file_without_a_digest_is_named(root: Path) -> None:
    digests = locked(card(), root)
    del digests["train.txt"]
    with pytest.raises(DataError, match=r"toy\.yaml records no sha256.*; record it: `mtlspec data lock toy`$"):
        check_pins(card(sha256=digests), root, card_file(root))


def test_a_card_inside_a_spec_is_not_sent_to_a_command_that_knows_only_files(root: Path) -> None:
    digests = locked(card(), root)
    found = digests.pop("train.txt")
    with pytest.raises(DataError) as caught:
        check_pins(card(sha256=digests), root, root / "toy.yaml")
    assert str(caught.value) == (
        f"{root}/train.txt: error E264: the card in the spec records no sha256 for this file, found {found}; "
        f"write `train.txt: {found}` under its `sha256`"
    )


GENERATED: dict[str, Any] = {"root": None, "generator": {"type": "english_mini", "seed": 7}}


def test_a_generated_file_is_called_as_its_card_calls_it(root: Path) -> None:
    digests = locked(card(), root)
    pinned = card(**GENERATED, sha256={**digests, "dev.txt": "a" * 64})
    with pytest.raises(DataError) as caught:
        check_pins(pinned, root, card_file(root))
    assert str(caught.value) == (
        f"toy/dev.txt: error E265: the generated file is not what the card recorded: recorded sha256 {'a' * 64}, "
        f"found {digest_bytes(b'dev')}; if the change is meant: `mtlspec data lock toy`"
    )


def test_a_file_that_no_generator_makes_is_called_so_too(root: Path) -> None:
    (root / "dev.txt").unlink()
    with pytest.raises(DataError) as caught:
        check_pins(
            card(**GENERATED, sha256={"train.txt": digest_bytes(b"train"), "test.txt": digest_bytes(b"test")}),
            root,
            root,
        )
    assert str(caught.value) == (
        "toy/dev.txt: error E263: a file of 'toy' is missing: recorded sha256 none, found none; "
        "correct `paths` of the card"
    )


def sharing(root: Path, train: str, dev: str) -> DataCard:
    """A pinned card whose splits are found by patterns."""
    files = [
        {
            "reader": {"type": "columns", "column": {"t": 1}},
            "paths": {"train": train, "dev": dev, "test": "test.txt"},
            "layers": {"t": "t"},
        }
    ]
    return card(files=files, sha256=locked(card(files=files), root))


def test_a_file_that_patterns_put_in_two_splits_is_named(root: Path) -> None:
    with pytest.raises(DataError) as caught:
        check_pins(sharing(root, "*r*.txt", "*a*.txt"), root, card_file(root))
    assert str(caught.value) == (
        f"{root}/train.txt: error E266: the splits 'train' and 'dev' of 'toy' share this file; "
        "name dev files that no model is trained on, under `paths` of the card"
    )
    check_pins(sharing(root, "*r*.txt", "*d*.txt"), root, card_file(root))


def test_a_link_to_a_file_that_is_trained_on_is_named(root: Path) -> None:
    (root / "held.txt").symlink_to("train.txt")
    with pytest.raises(DataError, match=r"held\.txt: error E266: .* share this file, as 'train\.txt'; name dev files"):
        check_pins(sharing(root, "train.txt", "held.txt"), root, card_file(root))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("# top\nname: x  # why\n", "# top\nname: x  # why\n{}"),
        ("a: 1\nsha256: {}\n# tail\nb: 2\n", "a: 1\n{}# tail\nb: 2\n"),
        ("a: 1\nsha256:\n  old.txt: 0\n  # gone\n\n# kept\nb: 2\n", "a: 1\n{}\n# kept\nb: 2\n"),
        ("sha256: {\n  old.txt: 0\n}\nb: 2\n", "{}b: 2\n"),
    ],
)
def test_locking_rewrites_only_the_block(before: str, after: str, tmp_path: Path) -> None:
    file = tmp_path / "toy.yaml"
    file.write_text(before)
    digests = {"b.txt": "2" * 64, "a b.txt": "1" * 64}
    assert lock_card(file, digests)
    assert file.read_text() == after.format(f'sha256:\n  "a b.txt": {"1" * 64}\n  b.txt: {"2" * 64}\n')
    assert {k: str(v) for k, v in yaml.safe_load(file.read_text())["sha256"].items()} == digests
    assert not lock_card(file, digests)  # nothing to write the second time


def test_the_root_may_be_an_environment_variable(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = Project(tmp_path)
    (tmp_path / "data" / "sub").mkdir(parents=True)
    monkeypatch.setenv("TOY_DATA", str(tmp_path / "data"))
    assert resolve_root(card(), project) == tmp_path / "data"
    for text in ("$TOY_DATA/sub", "${TOY_DATA}/sub"):
        assert resolve_root(card(text), project) == tmp_path / "data" / "sub"
    with pytest.raises(DataError, match=r"E261.*NO_SUCH_NAME is not set; set NO_SUCH_NAME"):
        resolve_root(card("$NO_SUCH_NAME/sub"), project)
    with pytest.raises(DataError, match=r"E262.*; put the data there, or set TOY_DATA to another folder$"):
        resolve_root(card("$TOY_DATA/none"), project)
    with pytest.raises(DataError, match="E260"):
        resolve_root(card(None), project)


@pytest.mark.parametrize("line", ["root: nowhere", "root: 'nowhere'  # why", 'root: "nowhere"'])
def test_a_root_that_is_not_there_is_told_where_the_card_says_it(line: str, tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.data_cards.mkdir(parents=True)
    (project.data_cards / "toy.yaml").write_text(f"card: data\n{line}\n")
    with pytest.raises(DataError) as caught:
        resolve_root(card("nowhere"), project)
    said = f"the root of 'toy' is nowhere, but there is no folder {tmp_path}/nowhere"
    hint = "put the data there, or correct `root`"
    assert str(caught.value) == f"registry/data/toy.yaml:2:7: error E262: {said}; {hint}"
    with pytest.raises(DataError, match=r"^error E262: the root of 'toy' is elsewhere"):  # said by a spec
        resolve_root(card("elsewhere"), project)
