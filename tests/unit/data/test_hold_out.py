"""Splits that a corpus lacks are held out of its training files: by the text alone, nothing on both sides."""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mtlspec.data.corpus import held_out_for, read_split
from mtlspec.data.sentence import Sentence
from mtlspec.errors import DataError, MtlspecError
from mtlspec.io.project import Project
from mtlspec.spec.cards import DataCard, HoldOut
from mtlspec.spec.load import load_data_card


def card(hold_out: dict[str, Any], paths: dict[str, str] | None = None, **more: Any) -> DataCard:
    group = {"reader": {"type": "columns", "column": {"t": 1}}, "layers": {"t": "t"}}
    files = [{**group, "paths": paths or {"train": "all"}}]
    about = {"card": "data", "name": "x", "licence": "x", "source": "x", "root": "."}
    return DataCard.model_validate({**about, "files": files, "hold_out": hold_out, **more})


def corpus(folder: Path, texts: list[str]) -> Path:
    (folder / "all").write_text("\n".join(f"{text} X\n" for text in texts))
    return folder


def words(card: DataCard, root: Path, split: str) -> list[str]:
    return [sentence.words[0] for sentence in read_split(card, root, split)]


def test_two_splits_are_held_out_and_nothing_is_lost_or_doubled(tmp_path: Path) -> None:
    texts = [f"w{number % 700}" for number in range(1000)]
    root, both = corpus(tmp_path, texts), card({"dev": 0.1, "test": 0.2})
    found = {split: words(both, root, split) for split in ("train", "dev", "test")}
    assert sorted(chain.from_iterable(found.values())) == sorted(texts)
    assert not set(found["train"]) & set(found["dev"]) and not set(found["dev"]) & set(found["test"])
    assert not set(found["train"]) & set(found["test"])
    assert 60 < len(found["dev"]) < 140 and 150 < len(found["test"]) < 250
    for part in found.values():  # the order of the file
        places = iter(texts)
        assert all(text in places for text in part)
    assert found == {split: words(both, root, split) for split in found}


def test_another_seed_is_another_choice_and_more_files_move_nothing(tmp_path: Path) -> None:
    texts = [f"w{number}" for number in range(300)]
    root = corpus(tmp_path, texts)
    dev = words(card({"dev": 0.2}), root, "dev")
    assert dev != words(card({"dev": 0.2, "seed": 2}), root, "dev")
    corpus(tmp_path, [*texts, *(f"n{number}" for number in range(300))])
    assert [word for word in words(card({"dev": 0.2}), root, "dev") if word[0] == "w"] == dev


def test_a_split_with_files_stays_as_it_is(tmp_path: Path) -> None:
    root = corpus(tmp_path, [f"w{number}" for number in range(50)])
    (root / "test").write_text("w1 X\n")
    assert words(card({"dev": 0.2}, {"train": "all", "test": "test"}), root, "test") == ["w1"]


def test_defects_count_in_train_only(tmp_path: Path) -> None:
    root = corpus(tmp_path, [f"w{number}" for number in range(50)])
    (root / "all").write_text((root / "all").read_text() + "\na X\nb X Y\n")
    drop = card({"dev": 0.3}, on_invalid="drop")
    counts = {}
    for split in ("train", "dev"):
        dropped: list[DataError] = []
        list(read_split(drop, root, split, dropped))
        counts[split] = len(dropped)
    assert counts == {"train": 1, "dev": 0}


def test_a_share_that_gives_nothing_is_named(tmp_path: Path) -> None:
    root = corpus(tmp_path, ["a"])
    shares = card({"dev": 0.000001})
    with pytest.raises(DataError) as caught:
        list(read_split(shares, root, "dev"))
    assert str(caught.value) == (
        "x: error E299: holding out 1e-06 leaves no sentence for dev; change the shares or the seed of `hold_out`"
    )
    with pytest.raises(DataError, match="what is held out leaves no sentence for train"):
        list(read_split(card({"dev": 0.999999}), root, "train"))


@settings(max_examples=100)
@given(st.text(), st.text(), st.integers(0, 3))
def test_only_the_text_decides(one: str, two: str, seed: int) -> None:
    shares = HoldOut(dev=0.3, test=0.3, seed=seed)
    first = held_out_for(Sentence("1", (), {"a": "x"}, texts=(one, two)), shares)
    assert first == held_out_for(Sentence("2", (), {}, ("f", 3), texts=(one, two)), shares)
    assert first in ("train", "dev", "test")


@pytest.mark.parametrize(
    ("hold_out", "problem"),
    [
        ("{dev: 0.5, test: 0.5}", "10:11: error E806: `hold_out` leaves nothing to train on; the shares must sum to"),
        ("{dev: 0.5}", "8:12: error E143: the split 'test' has no file; name one, or hold it out of train"),
        ("{dev: 0.5, test: 1.5}", "10:28: error E135: 'test' must be"),
        ("{dev: 0.5, tset: 0.1}", "10:22: error E130: unknown key 'tset'; did you mean 'test'?"),
    ],
)
def test_shares_that_make_no_sense_are_refused(hold_out: str, problem: str, tmp_path: Path) -> None:
    (tmp_path / "registry/data").mkdir(parents=True)
    text = "card: data\nname: toy\nlicence: x\nsource: x\nroot: .\nfiles:\n  - reader: brackets\n"
    text += f"    paths: {{train: a}}\n    layers: {{con: con}}\nhold_out: {hold_out}\n"
    (tmp_path / "registry/data/toy.yaml").write_text(text)
    with pytest.raises(MtlspecError) as caught:
        load_data_card("toy", Project(tmp_path))
    assert problem in str(caught.value)
