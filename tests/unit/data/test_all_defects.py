"""All defects of a corpus at once, under the names that its user knows, before anything else happens."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from mtlspec.data import blocks
from mtlspec.data.card_folder import card_folder
from mtlspec.data.corpus import read_split
from mtlspec.data.defects import NAMED, check_splits
from mtlspec.data.pins import locked
from mtlspec.data.readers import brackets, columns
from mtlspec.errors import DataError, MtlspecError
from mtlspec.io.project import Project
from mtlspec.spec.cards import DataCard
from mtlspec.stages import data, prepare
from mtlspec.stages.context import StageContext
from tests.unit.data.hub_cache import REVISION, fill_cache

READER = {"type": "table", "text": ["text"], "label": {"l": "label"}}


def card(**changes: Any) -> DataCard:
    group = {"reader": READER, "paths": {s: f"{s}.tsv" for s in ("train", "dev", "test")}, "layers": {"l": "l"}}
    values = {"card": "data", "name": "toy", "licence": "x", "source": "x", "root": "corpus", "files": [group]}
    return DataCard.model_validate(values | changes)


def fill(root: Path, **rows: str) -> Path:
    root.mkdir(parents=True, exist_ok=True)
    for split in ("train", "dev", "test"):
        (root / f"{split}.tsv").write_text("text\tlabel\n" + rows.get(split, f"some {split}\tgood\n"))
    return root


def lines(error: pytest.ExceptionInfo[MtlspecError]) -> list[str]:
    return [str(problem) for problem in error.value.problems]


def test_all_defects_of_all_splits_come_at_once(tmp_path: Path) -> None:
    root = fill(tmp_path / "corpus", train="a\tx\nb\n\tx\nc\tx\td\n", dev="only\n")
    with pytest.raises(MtlspecError) as error:
        check_splits(card(), root)
    assert lines(error) == [
        "error E740: 3 sentences are malformed in the train files of 'toy'; mend them, or leave such sentences out "
        "with `on_invalid: drop` in the card",
        f"{root}/dev.tsv:2: error E701: 1 cell instead of 2; `on_invalid: drop` leaves such rows out",
        f"{root}/train.tsv:3: error E701: 1 cell instead of 2; `on_invalid: drop` leaves such rows out",
        f"{root}/train.tsv:4: error E713: the text 'text' is empty; `on_invalid: drop` leaves such examples out",
        f"{root}/train.tsv:5: error E701: 3 cells instead of 2; `on_invalid: drop` leaves such rows out",
    ]


def test_of_many_defects_the_first_are_named_and_all_are_counted(tmp_path: Path) -> None:
    root = fill(tmp_path / "corpus", train="a\tx\n" + "b\n" * 1234)
    with pytest.raises(MtlspecError) as error:
        list(read_split(card(), root, "train"))
    assert len(lines(error)) == NAMED + 1
    assert "1,234 sentences are malformed in the train files of 'toy'; the first 20 are named" in lines(error)[0]


def test_what_ends_a_file_comes_with_the_defects_before_it(tmp_path: Path) -> None:
    root = fill(tmp_path / "corpus")
    (root / "train.tsv").write_bytes(b"text\tlabel\na\tx\nb\n\xff\n")
    with pytest.raises(MtlspecError) as error:
        list(read_split(card(), root, "train"))
    assert [problem.code for problem in error.value.problems] == ["E740", "E701", "E201"]
    with pytest.raises(DataError, match="E201"):  # not even with `drop`: nobody knows what else is lost
        list(read_split(card(on_invalid="drop"), root, "train", []))


def test_nothing_is_read_on_behind_a_defect(tmp_path: Path) -> None:
    root = fill(tmp_path / "corpus", train="a\tx\nb\nc\tx\n")
    stream = read_split(card(), root, "train")
    assert next(stream).texts == ("a",)
    with pytest.raises(DataError, match=r"train\.tsv:3: error E701"):
        next(stream)


def context(tmp_path: Path, loaded: DataCard, **inputs: Path) -> StageContext:
    params = json.loads(json.dumps({"card": loaded.model_dump(mode="json"), "max_pieces": None, "long_text": "error"}))
    (tmp_path / "out").mkdir(exist_ok=True)
    return StageContext("x", params, inputs, tmp_path / "out", tmp_path / "out", "x", tmp_path)


def test_the_first_stage_refuses_under_the_user_s_own_paths(tmp_path: Path) -> None:
    root = fill(tmp_path / "corpus", train="a\n", test="b\n")
    loaded = card(sha256=locked(card(), root))
    with pytest.raises(MtlspecError) as error:
        data.run(context(tmp_path, loaded))
    assert [line.split(": error")[0] for line in lines(error)] == [f"{root}/test.tsv:2", f"{root}/train.tsv:2"]
    assert not list((tmp_path / "out").iterdir())


def test_a_later_stage_speaks_of_the_user_s_files_and_not_of_copies(tmp_path: Path, toy_encoder: Path) -> None:
    fill(tmp_path / "corpus", train="word " * 3000 + "\tx\n")
    copy = fill(tmp_path / "copy", train="word " * 3000 + "\tx\n")
    with pytest.raises(DataError, match="E279") as error:
        prepare.run(context(tmp_path, card(), data=copy, encoder=toy_encoder))
    assert str(error.value).startswith(f"{tmp_path}/corpus/train.tsv:2: ")


def test_generated_files_have_their_card_s_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "cache"))
    files = {f"{split}.tsv": b"text\tlabel\na\tx\nb\n" for split in ("train", "dev", "test")}
    fill_cache(tmp_path / "cache", "someone/some", files)
    generator = {"type": "hub", "id": "someone/some", "revision": REVISION, "fetch": ["*.tsv"]}
    with card_folder(card(root=None, generator=generator), Project(tmp_path)) as root:
        dropped: list[DataError] = []
        with pytest.raises(DataError) as error:
            list(read_split(card(root=None, generator=generator), root, "train"))
        list(read_split(card(root=None, generator=generator, on_invalid="drop"), root, "train", dropped))
        group = {"reader": READER, "paths": dict.fromkeys(("train", "dev", "test"), "no*.tsv"), "layers": {"l": "l"}}
        with pytest.raises(DataError, match=r"^toy: error E255: no file of 'toy' matches the train entry"):
            list(read_split(card(root=None, generator=generator, files=[group]), root, "train"))
    assert str(error.value).startswith("toy/train.tsv:3: error E701")
    assert str(dropped[0]).startswith("toy/train.tsv:3: error E701")


def test_a_packed_file_that_grows_without_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "bomb.gz"
    file.write_bytes(gzip.compress(b"word TAG\n\n" * 100_000))
    reader = columns.Options(type="columns", column={"t": 1})
    assert sum(1 for _ in reader.blocks(file)) == 100_000  # small ones may be as dense as they like
    monkeypatch.setattr(blocks, "_ALWAYS_UNPACKED", 10_000)
    with pytest.raises(DataError) as error:
        for _ in reader.blocks(file):
            pass
    place, line = str(error.value.place).rsplit(":", 1)
    assert (error.value.code, place) == ("E742", str(file)) and int(line) < 100_000
    assert "unpack it and name the plain file" in str(error.value)


def test_a_sentence_without_an_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "MOST_LINES", 50)
    monkeypatch.setattr(brackets, "MOST_LINES", 50)
    file = tmp_path / "endless"
    file.write_text("a X\n\n" + "word TAG\n" * 51)
    with pytest.raises(DataError, match=r"endless:3: error E741: a sentence of more than 50 lines"):
        list(columns.Options(type="columns", column={"t": 1}).blocks(file))
    file.write_text("(S (A a)\n" + " (B b)\n" * 51)
    with pytest.raises(DataError, match=r"endless:1: error E741"):
        list(brackets.Options(type="brackets").blocks(file))
