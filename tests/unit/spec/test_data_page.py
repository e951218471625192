"""Every card and spec in docs/data.md is right."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from mtlspec.io.project import Project
from mtlspec.plan.build import build_plan
from mtlspec.spec.load import load_data_card, load_spec
from tests.unit.spec.test_shipped_specs import ROOT


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """The blocks of the page as the files of a project."""
    page = (ROOT / "docs" / "data.md").read_text("utf-8")
    for folder in ("specs", "registry/data", "registry/encoders"):
        (tmp_path / folder).mkdir(parents=True)
    for block in re.findall(r"```yaml\n(.*?)```", page, re.DOTALL):
        (name,) = re.findall(r"^name: (\w+)$", block, re.MULTILINE)
        folder = "registry/data" if block.startswith("card: data") else "specs"
        (tmp_path / folder / f"{name}.yaml").write_text(block, "utf-8")
    card = ROOT / "registry/encoders/minilm.yaml"
    (tmp_path / "registry/encoders/minilm.yaml").write_bytes(card.read_bytes())
    return Project(tmp_path)


def test_every_reader_of_examples_has_a_card_that_is_right(project: Project) -> None:
    names = sorted(path.stem for path in project.data_cards.iterdir())
    cards = {name: load_data_card(name, project) for name in names}
    assert {card.files[0].reader.type for card in cards.values()} == {"table", "jsonl", "arrow"}
    assert cards["reviews"].splits == ("train", "dev", "test", "books", "contest")
    assert cards["entailment"].layer_kinds == {"relation": "label", "sure": "value"}


def test_the_spec_of_the_page_gives_a_plan(project: Project) -> None:
    loaded = load_spec(project.root / "specs/opinions.yaml", project)
    assert {name: task.data for name, task in loaded.spec.tasks.items()} == {
        "reviews": "reviews",
        "relation": "pairs",
        "sure": "pairs",
    }
    stages = {stage.name: stage for stage in build_plan(loaded).stages}
    assert {role for role in stages["train-stl-sure-s1"].inputs if role.startswith("prepare-")} == {"prepare-pairs"}
