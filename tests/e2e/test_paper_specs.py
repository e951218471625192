"""The paper's study at full scale: planned as published, and run whole with small stand-ins for corpus and encoder."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from mtlspec.data import writers
from mtlspec.io.project import Project
from mtlspec.plan.build import build_plan
from mtlspec.spec.expand import expand
from mtlspec.spec.load import LoadedSpec, load_spec
from mtlspec.spec.models import ExperimentSpec
from tests import toy
from tests.e2e.standins import write_standin
from tests.e2e.study import Study

ROOT = Path(__file__).parents[2]
ENCODERS = ("bert", "roberta", "electra", "deberta")
SPLITS = {"train": 48, "development": 40, "test": 40}


def _load(name: str) -> LoadedSpec:
    return load_spec(ROOT / f"specs/paper/stem_cell_{name}.yaml", Project(ROOT))


@pytest.mark.parametrize("settings", ["", "_printed"])
@pytest.mark.parametrize("encoder", ENCODERS)
def test_the_plan_has_every_model_of_the_paper(encoder: str, settings: str) -> None:
    loaded = _load(encoder + settings)
    assert loaded.spec.compare_to == f"stem_cell/{encoder}"
    assert loaded.encoder is not None
    assert loaded.encoder.name.startswith(f"{encoder}_base")
    plan = build_plan(loaded)
    kinds = [stage.kind for stage in plan.stages]
    assert kinds.count("train") == 3 * (5 + 10 + 1 + 5 + 5 + 1)  # stl, pairs, mtl, dp, sp, mtl-dp
    report = plan.stage("report")
    assert dict(report.params["published"]["scores"])["stl"]
    assert {name for name, _ in report.params["analyses"]} == {
        "scores",
        "pruning",
        "arcs",
        "values",
        "utilisation",
        "stem_cells",
    }


Setting = tuple[int, float, int, int, float, float | None]
STL: dict[str, Setting] = {  # epochs, patience, batches of an update, sentences of a batch, encoder's rate, lambda
    "stl-pos": (30, 0.5, 2, 32, 5e-5, None),
    "stl-ner": (30, 0.5, 2, 32, 5e-5, None),
    "stl-dep": (30, 0.5, 1, 64, 5e-5, None),
    "stl-con": (30, 0.5, 1, 64, 5e-5, None),
    "stl-srl": (30, 0.5, 4, 16, 5e-5, None),
    "pair-pos-ner": (30, 0.5, 1, 64, 5e-5, None),
    "pair-ner-con": (30, 0.5, 2, 32, 5e-5, None),
    "pair-dep-srl": (30, 0.5, 4, 16, 5e-5, None),
    "pair-con-srl": (30, 0.5, 4, 16, 5e-5, None),
    "mtl-all": (30, 0.5, 4, 16, 5e-5, None),
}
PRUNED: dict[str, dict[str, Setting]] = {
    "bert": {
        "pos": (30, 0.5, 2, 32, 1e-5, 0.01),
        "ner": (100, 1.0, 1, 64, 1e-5, 0.0002),
        "dep": (100, 0.5, 1, 64, 1e-5, 0.01),
        "con": (30, 0.5, 2, 32, 1e-5, 0.01),
        "srl": (100, 0.5, 4, 16, 1e-5, 0.001),
        "all": (100, 1.0, 4, 16, 1e-5, 0.001),
    }
}
PRUNED["roberta"] = PRUNED["electra"] = PRUNED["bert"] | {
    "ner": (100, 1.0, 2, 32, 1e-5, 0.0002),
    "dep": (30, 0.5, 2, 32, 1e-5, 0.01),
    "srl": (100, 0.5, 4, 16, 1e-5, 0.002),
    "all": (30, 1.0, 4, 16, 1e-5, 0.001),
}
PRUNED["deberta"] = PRUNED["roberta"] | {"dep": (30, 0.5, 2, 32, 1e-5, 0.02)}


def _settings(spec: ExperimentSpec) -> dict[str, Setting]:
    return {
        one.name.removesuffix("-s1"): (
            one.train.epochs,
            one.train.patience,
            one.train.accumulate,
            one.train.batch.sentences,
            one.train.lr.encoder,
            getattr(one.sharing, "lambda", None),
        )
        for one in expand(spec)
        if one.seed == 1
    }


@pytest.mark.parametrize("encoder", ENCODERS)
def test_every_model_has_the_settings_of_its_released_script(encoder: str) -> None:
    spec = _load(encoder).spec
    found = _settings(spec)
    assert {name: found[name] for name in STL} == STL
    pruned = PRUNED[encoder]
    assert {task: found[f"stl_dp-{task}"] for task in spec.tasks} == {task: pruned[task] for task in spec.tasks}
    assert {task: found[f"stl_sp-{task}"] for task in spec.tasks} == {task: pruned[task] for task in spec.tasks}
    assert found["mtl_dp-all"] == pruned["all"]
    assert all(one.train.batch.sentences * one.train.accumulate == 64 for one in expand(spec))
    assert all(one.train.batch.tokens * one.train.accumulate == 6400 for one in expand(spec))
    assert [task.model_dump()["dropout"] for task in spec.tasks.values()] == [0, 0, 0.33, 0.33, 0.2]
    sampler = spec.train.sampler.model_dump()
    assert sampler == {"type": "power", "alpha": 0.8, "count": "batches"}


@pytest.mark.parametrize("encoder", ENCODERS)
def test_printed_settings_are_the_same_for_all_models(encoder: str) -> None:
    spec = _load(f"{encoder}_printed").spec
    assert {setting[:5] for setting in _settings(spec).values()} == {(30, 0.5, 1, 64, 5e-5)}
    assert {one.train.batching for one in expand(spec)} == {"sampled"}
    assert [task.model_dump()["dropout"] for task in spec.tasks.values()] == [0, 0.5, 0.33, 0.33, 0.2]
    sampler = spec.train.sampler.model_dump()
    assert sampler == {"type": "power", "alpha": 0.8, "count": "examples"}


def _write_corpus(root: Path) -> None:
    """The layout of CoNLL-2012 beside converted dependencies, with toy sentences."""
    for seed, (split, size) in enumerate(SPLITS.items()):
        sentences = toy.corpus(seed + 1, size)
        for folder, suffix, text in (
            ("conll-2012", "gold_conll", writers.conll2012(sentences, "bn/toy/00/toy_0001")),
            ("dependencies", "conllu", writers.conllu(sentences)),
        ):
            path = root / folder / split / "data" / "bn"
            path.mkdir(parents=True)
            (path / f"toy_0001.{suffix}").write_text(text)


def _write_encoder(root: Path, family: str) -> None:
    """Two layers of two heads of the family that the paper used."""
    from transformers import AutoConfig

    toy.write_encoder(root / "standin", width=16, layers=2, heads=2)
    old = json.loads((root / "standin/config.json").read_text())
    shape = {key: old[key] for key in ("vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads")}
    further: dict[str, Any] = {"electra": {"embedding_size": 16}}.get(family, {})
    config = AutoConfig.for_model(
        family, **shape, **further, intermediate_size=32, max_position_embeddings=130, pad_token_id=0
    )
    write_standin(root, config)


@pytest.mark.slow
@pytest.mark.parametrize("encoder", ENCODERS)
def test_the_whole_study_runs_end_to_end(encoder: str, tmp_path: Path) -> None:
    study = Study.create(tmp_path / "study")
    for folder in ("specs/paper", "registry/data", "registry/encoders"):
        shutil.copytree(ROOT / folder, study.root / folder, dirs_exist_ok=True)
    corpus = tmp_path / "ontonotes"
    _write_corpus(corpus)
    _write_encoder(study.root, encoder)
    name = f"stem_cell_{encoder}"
    where = {"ONTONOTES": str(corpus)}
    study.mtlspec("data", "lock", "ontonotes5", **where)
    longer = [f"models.stl_{way}.by_tasks.{task}" for way in ("dp", "sp") for task in ("ner", "dep", "srl")]
    small = ["encoder.card=standin", "run.device=cpu", "train.epochs=1", "seeds=[1, 2]"]
    small += [f"{models}.train.epochs=1" for models in (*longer, "models.mtl_dp")]
    overrides = [word for setting in small for word in ("--set", setting)]
    study.mtlspec("run", f"specs/paper/{name}.yaml", "--no-publish", "--as", "small_study", *overrides, **where)
    run = study.root / "registry" / "runs" / "small_study"
    assert json.loads((run / "record.json").read_bytes())["missing"] == []
    stem = json.loads((run / "artifacts/analyse-stem_cells/analysis.json").read_bytes())
    assert "stem cell hypothesis" in stem["summary"][0]
    kept = json.loads((run / "artifacts/report/tables/beside-paper/heads_beside.json").read_bytes())
    assert "dep, here" in kept["columns"]
    page = (run / "work" / "report.html").read_text()
    for chapter in (
        "Beside the paper",
        "Attention probes",
        "Attended-value probes",
        "Pruning",
        "Stem cells",
        "Measured on this",
    ):
        assert chapter in page, chapter
