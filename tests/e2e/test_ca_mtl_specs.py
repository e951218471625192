"""The studies of the CA-MTL paper, run whole with stand-ins for encoders and corpora, in layouts of the real ones."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from mtlspec.data.card_folder import card_folder
from mtlspec.data.pins import lock_card, locked
from mtlspec.io.project import Project
from mtlspec.spec.load import load_data_card, load_spec
from tests.e2e.glue_files import write_glue, write_snli, write_transfer
from tests.e2e.standins import write_standin
from tests.e2e.study import Study
from tests.e2e.superglue_files import write_mrqa, write_superglue, write_wnli, write_wnut
from tests.unit.data import tokenizers_of

ROOT = Path(__file__).parents[2]
FAMILIES = {"base": "bert", "large": "bert", "roberta_24": "roberta"}
SINGLE = {"base": 8, "large": 8, "roberta_24": 24}
JOINT = {"base": 8, "large": 6, "roberta_24": 2}
TRANSFERRED = {"base": 2 * (10 + 4 + 4)}  # two new tasks: ten embeddings, four sizes, four sizes without CA-MTL
ANALYSES = {
    "base": {
        *("scores", "ablation", "parameters", "batches", "covariances", "embeddings", "samplers", "entropies"),
        *("begins_with", "transfer_scitail", "transfer_snli"),
    },
    "large": {"scores", "freezing", "parameters", "batches"},
    "roberta_24": {"scores", "ablation", "parameters", "batches", "embeddings"},
}


def _write_encoder(root: Path, family: str) -> None:
    """Four layers, of which the upper half is trained, with room for windows of 256 sub-tokens."""
    from transformers import AutoConfig

    tokenizers_of.write(family, root / "standin")
    config = AutoConfig.from_pretrained(root / "standin")
    config.num_hidden_layers, config.max_position_embeddings = 4, 260
    config.vocab_size = len(tokenizers_of.own(root / "standin"))
    write_standin(root, config)


def _project(root: Path, name: str, data: Path) -> Study:
    study = Study.create(root)
    for folder in ("specs/paper", "registry/data", "registry/encoders"):
        shutil.copytree(ROOT / folder, study.root / folder, dirs_exist_ok=True)
    write_glue(data / "glue")
    write_wnli(data / "glue/WNLI")
    write_superglue(data / "superglue")
    write_mrqa(data / "mrqa")
    write_wnut(data / "wnut17")
    write_transfer(data)
    write_snli(data / "snli_1.0")
    _write_encoder(study.root, FAMILIES[name])
    return study


def _lock(root: Path, cards: list[str]) -> None:
    """What `mtlspec data lock` does, of all cards at once; more is held out for dev."""
    project = Project(root)
    for name in cards:
        path = project.data_cards / f"{name}.yaml"
        path.write_text(re.sub(r"hold_out: \{dev: [\d.]+", "hold_out: {dev: 0.3", path.read_text()))
        card = load_data_card(name, project)
        with card_folder(card, project) as folder:
            lock_card(path, locked(card, folder))


def _json(path: Path) -> Any:
    return json.loads(path.read_bytes())


@pytest.mark.slow
@pytest.mark.parametrize("name", FAMILIES)
def test_the_whole_study_runs_end_to_end(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MTLSPEC_DATA", str(tmp_path / "data"))
    study = _project(tmp_path / "study", name, tmp_path / "data")
    loaded = load_spec(ROOT / f"specs/paper/ca_mtl_{name}.yaml", Project(ROOT))
    tasks = set(loaded.spec.tasks) - {"scitail", "snli"}
    _lock(study.root, [card.name for card in loaded.data.values()])
    small = ["encoder.card=standin", "run.device=cpu", "train.epochs=1", "seeds=[12]"]
    small += ["models.stl.train.epochs=1"] if name == "roberta_24" else []
    overrides = [word for setting in small for word in ("--set", setting)]
    path = f"specs/paper/ca_mtl_{name}.yaml"
    study.mtlspec("run", path, "--no-publish", "--as", "small_study", *overrides)
    run = study.root / "registry/runs/small_study"
    record = _json(run / "record.json")
    assert record["missing"] == []
    trained = [stage for stage in record["stages"] if stage.startswith("train-")]
    assert len(tasks) == SINGLE[name]
    assert len(trained) == SINGLE[name] + JOINT[name] + TRANSFERRED.get(name, 0)
    assert {path.name.removeprefix("analyse-") for path in run.glob("artifacts/analyse-*")} == ANALYSES[name]
    _check_sampling(run, tasks)
    page = (run / "work/report.html").read_text()
    for chapter in ("Beside the paper", "Parameters", "What batches were made of"):
        assert chapter in page, chapter


def _check_sampling(run: Path, tasks: set[str]) -> None:
    """Every joint model read every task, or chose not to; what has classes has an estimate of its difficulty."""
    numbers = _json(run / "artifacts/analyse-batches/analysis.json")["numbers"]
    assert all(set(one["tasks"]) == tasks for one in numbers["models"].values())
    assert {"cola", "mnli", "rte", "sst2"} <= numbers["difficulty"].keys() <= tasks - {"stsb"}
    assert all(0 < estimate < 10 for estimate in numbers["difficulty"].values())
