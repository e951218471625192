"""Every card of docs/your_data.md reads the file beside it; every reader has one; most would be guessed."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from mtlspec import kinds
from mtlspec.data.corpus import read_split
from mtlspec.data.guess.card import guess_reading
from mtlspec.data.pins import resolve_root
from mtlspec.io.project import Project
from mtlspec.spec.families import READERS
from mtlspec.spec.load import load_data_card
from tests.unit.spec.test_shipped_specs import ROOT

PAGE = (ROOT / "docs" / "your_data.md").read_text("utf-8")
CARDS = re.findall(r"```text\n(.*?)```\n+```yaml\n(.*?)```", PAGE, re.DOTALL)
# What no file tells: whose format it is, and what of it matters.
_TO_KNOW = ("my_copa", "endings", "my_squad", "my_mrqa", "my_marks")
NAMES = [re.findall(r"^name: (\w+)$", card, re.MULTILINE)[0] for _, card in CARDS]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """The cards of the page, and the files that it shows, each as train, dev and test."""
    (tmp_path / "specs").mkdir()
    cards = tmp_path / "registry" / "data"
    cards.mkdir(parents=True)
    for block in re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL):
        (name,) = re.findall(r"^name: (\w+)$", block, re.MULTILINE)
        (cards / f"{name}.yaml").write_text(block, "utf-8")
    for (content, _), name in zip(CARDS, NAMES, strict=True):
        (group,) = load_data_card(name, Project(tmp_path)).files
        for split in group.paths:
            (entry,) = group.entries(split)
            file = tmp_path / "corpora" / name / entry.replace("**/*", "a/b")
            file.parent.mkdir(parents=True, exist_ok=True)
            if file.suffix == ".parquet":
                pq.write_table(pa.Table.from_pylist([json.loads(line) for line in content.splitlines()]), file)
            else:
                file.write_text(content, "utf-8")
    (tmp_path / "corpora" / "moods").mkdir()
    for split in ("train", "dev", "test"):
        (tmp_path / "corpora" / "moods" / f"{split}.txt").write_text("Ann +\nsings +\n\nIt -\nrains -\n")
    return Project(tmp_path)


def test_every_reader_has_a_card_on_the_page(project: Project) -> None:
    readers = [load_data_card(name, project).files[0].reader.type for name in NAMES]
    assert sorted(readers) == sorted(kinds.names(READERS))


@pytest.mark.parametrize("name", [*NAMES, "my_layers"])
def test_a_card_of_the_page_reads_the_file_of_the_page(project: Project, name: str) -> None:
    card = load_data_card(name, project)
    for split in ("train", "dev", "test"):
        sentences = list(read_split(card, resolve_root(card, project), split))
        assert sentences and set(sentences[0].layers) == set(card.layer_kinds)


@pytest.mark.parametrize("name", [name for name in NAMES if name not in _TO_KNOW])
def test_the_reader_of_a_file_of_the_page_would_be_guessed(project: Project, name: str) -> None:
    card = load_data_card(name, project)
    file = next(path for path in sorted((project.root / "corpora" / name).rglob("*")) if path.is_file())
    found = guess_reading(file, "tags")
    assert found.reader["type"] == card.files[0].reader.type
    assert set(found.reader.get("text", ())) == set(getattr(card.files[0].reader, "text", ()))
    assert found.reader.get("spans", {}) == getattr(card.files[0].reader, "spans", {})
