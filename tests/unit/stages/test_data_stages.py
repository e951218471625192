"""The stages `data` and `prepare` as a plan runs them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mtlspec.data.pins import locked
from mtlspec.data.prepared import Prepared
from mtlspec.errors import MtlspecError, Problems
from mtlspec.io.digest import digest_tree
from mtlspec.io.project import Project
from mtlspec.spec.cards import DataCard
from mtlspec.spec.load import load_data_card
from mtlspec.stages import data, prepare
from mtlspec.stages.context import StageContext, StageResult

ROOT = Path(__file__).parents[3]


def run(stage: Any, out: Path, card: DataCard, project: Path = ROOT, **inputs: Path) -> StageResult:
    out.mkdir()
    params = json.loads(json.dumps({"card": card.model_dump(mode="json"), "max_pieces": None, "long_text": "error"}))
    result: StageResult = stage.run(StageContext("x", params, inputs, out, out, "x", project))
    return result


def small(**more: Any) -> DataCard:
    card = load_data_card("english_mini", Project(ROOT)).model_dump(mode="json")
    card["generator"] |= {"train": 30, "dev": 10, "test": 10}
    return DataCard.model_validate({**card, "sha256": {}, **more})


def test_generated_data_is_prepared(tmp_path: Path, toy_encoder: Path) -> None:
    facts = run(data, tmp_path / "data", small()).facts
    assert facts["files"] == 9
    result = run(prepare, tmp_path / "out", small(), data=tmp_path / "data", encoder=toy_encoder)
    assert result.facts == {
        "sentences": {"train": 30, "dev": 10, "test": 10},
        "dropped sentences": {"train": 0, "dev": 0, "test": 0},
    }
    prepared = Prepared.load(tmp_path / "out")
    assert prepared.layers == {"upos": "tags", "xpos": "tags", "dep": "dep", "con": "con", "ner": "tags", "srl": "srl"}
    statistics = json.loads((tmp_path / "out" / "statistics.json").read_text())
    assert statistics["sentences"]["train"] == 30 and statistics["dropped sentences"]["train"] == 0
    pieces = int(prepared.train.piece_counts.sum()) / statistics["tokens"]["train"]
    assert statistics["sub-tokens per word"]["train"] == round(pieces, 3)
    assert statistics["sub-tokens of the longest sentence"]["train"] == int(prepared.train.piece_counts.max())
    assert str(tmp_path) not in "".join(p.read_text() for p in (tmp_path / "out").glob("*.json"))
    assert str(tmp_path).encode() not in (tmp_path / "out" / "train.arrow").read_bytes()


def test_the_artifacts_have_the_same_bytes_wherever_they_are_made(tmp_path: Path, toy_encoder: Path) -> None:
    digests = []
    for name in ("one", "elsewhere"):
        base = tmp_path / name
        base.mkdir()
        run(data, base / "data", small())
        run(prepare, base / "out", small(), data=base / "data", encoder=toy_encoder)
        digests.append((digest_tree(base / "data"), digest_tree(base / "out")))
    assert digests[0] == digests[1]


def test_pins_of_generated_data_are_checked(tmp_path: Path) -> None:
    wrong = dict.fromkeys(small().paths, "0" * 64)
    with pytest.raises(MtlspecError, match=r"english_mini/train\.conllu: error E265: the generated file is not what"):
        run(data, tmp_path / "data", small(sha256=wrong))


def test_files_are_copied_after_their_pins_were_checked(tmp_path: Path) -> None:
    run(data, tmp_path / "corpus", small())
    card = small(generator=None, root="corpus")
    with pytest.raises(MtlspecError, match="records no sha256"):
        run(data, tmp_path / "one", card, project=tmp_path)
    pinned = small(generator=None, root="corpus", sha256=locked(card, tmp_path / "corpus"))
    run(data, tmp_path / "two", pinned, project=tmp_path)
    assert digest_tree(tmp_path / "two") == digest_tree(tmp_path / "corpus")
    (tmp_path / "corpus" / "dev.trees").write_text("(S (A b))\n")
    with pytest.raises(MtlspecError, match=r"dev\.trees: error E265"):
        run(data, tmp_path / "three", pinned, project=tmp_path)


def test_bad_sentences_stop_the_stage_or_are_dropped_and_listed(tmp_path: Path, toy_encoder: Path) -> None:
    run(data, tmp_path / "data", small())
    trees = tmp_path / "data" / "train.trees"
    lines = trees.read_text().splitlines(keepends=True)
    trees.write_text("".join(["(TOP (S (X\n", *lines[1:]]))
    with pytest.raises(Problems) as caught:
        run(prepare, tmp_path / "one", small(), data=tmp_path / "data", encoder=toy_encoder)
    for column in (1, 6, 9):
        assert f"train.trees:1:{column}: error E225: a bracket is not closed" in str(caught.value)
    dropping = small(on_invalid="drop")
    result = run(prepare, tmp_path / "two", dropping, data=tmp_path / "data", encoder=toy_encoder)
    assert result.facts["dropped sentences"] == {"train": 1, "dev": 0, "test": 0}
    assert result.facts["sentences"]["train"] == 29
    listed = json.loads((tmp_path / "two" / "dropped.json").read_text())
    assert listed["train"] == ["train.trees:1: E225: a bracket is not closed"]


def test_splits_of_many_files_are_copied_and_prepared_as_one(tmp_path: Path, toy_encoder: Path) -> None:
    run(data, tmp_path / "whole", small())
    corpus = tmp_path / "corpus"
    for split in ("train", "dev", "test"):
        lines = (tmp_path / "whole" / f"{split}.trees").read_text().splitlines(keepends=True)
        for number in range(0, len(lines), 5):
            part = corpus / split / f"{number // 20:02d}" / f"{number:03d}.trees"
            part.parent.mkdir(parents=True, exist_ok=True)
            part.write_text("".join(lines[number : number + 5]))
    (corpus / "train" / "notes.txt").write_text("no data")
    paths = {"train": "train/**/*.trees", "dev": "dev", "test": ["test/00/000.trees", "test/00/005.trees"]}
    files = [{"reader": "brackets", "paths": paths, "layers": {"con": "con"}}]
    card = small(generator=None, root="corpus", files=files)
    pinned = card.model_copy(update={"sha256": locked(card, corpus)})
    assert run(data, tmp_path / "data", pinned, project=tmp_path).facts["files"] == 10
    run(prepare, tmp_path / "out", pinned, data=tmp_path / "data", encoder=toy_encoder)
    run(prepare, tmp_path / "plain", small(), data=tmp_path / "whole", encoder=toy_encoder)
    one, other = Prepared.load(tmp_path / "out"), Prepared.load(tmp_path / "plain")
    for split in ("train", "dev", "test"):
        assert getattr(one, split).values("con") == getattr(other, split).values("con")
