"""The paper's study at full scale: planned as published, and run whole with small stand-ins for corpus and encoder."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from mtlspec.data import writers
from mtlspec.io.digest import digest_file
from mtlspec.io.project import Project
from mtlspec.plan.build import build_plan
from mtlspec.spec.load import LoadedSpec, load_spec
from tests import toy
from tests.e2e.study import Study

ROOT = Path(__file__).parents[2]
ENCODERS = ("bert", "roberta", "electra", "deberta")
SPLITS = {"train": 48, "development": 40, "test": 40}


def _load(encoder: str) -> LoadedSpec:
    return load_spec(ROOT / f"specs/paper/stem_cell_{encoder}.yaml", Project(ROOT))


@pytest.mark.parametrize("encoder", ENCODERS)
def test_the_plan_has_every_model_of_the_paper(encoder: str) -> None:
    loaded = _load(encoder)
    assert loaded.spec.compare_to == f"stem_cell/{encoder}"
    plan = build_plan(loaded)
    kinds = [stage.kind for stage in plan.stages]
    assert kinds.count("train") == 3 * (5 + 10 + 1 + 5 + 5 + 1 + 5)  # stl, pairs, mtl, dp, sp, mtl-dp, as printed
    assert kinds.count("measure") == 2 * (1 + 3 * 16)  # two probes of the encoder, stl, pairs and mtl
    report = plan.stage("report")
    assert dict(report.params["published"]["scores"])["stl"]
    assert {name for name, _ in report.params["analyses"]} == {
        "scores",
        "arcs",
        "values",
        "pruning",
        "utilisation",
        "stem_cells",
    }


def test_settings_are_those_that_are_released_or_printed() -> None:
    spec = _load("bert").spec
    penalties = {name: getattr(group.sharing, "lambda", None) for name, group in spec.models.items()}
    released = {"pos": 0.01, "ner": 0.0002, "dep": 0.01, "con": 0.01, "srl": 0.001}
    assert {task: penalties[f"dp_{task}"] for task in released} == released
    assert penalties["dp_mtl"] == 0.001
    assert spec.models["dp_pos"].train.lr.encoder == 1e-5
    for name in ("stl", "pair", "mtl", "printed_dp"):
        train = spec.models[name].train
        assert (train.lr.encoder, train.lr.decoder, train.epochs, train.eps) == (5e-5, 1e-3, 30, 1e-8)


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


def _write_encoder(directory: Path, family: str) -> dict[str, str]:
    """Two layers of two heads of the family that the paper used; returns the digests of its files."""
    import torch
    from safetensors.torch import save_file
    from transformers import AutoConfig

    from mtlspec.model.encoder.loading import build_model

    toy.write_encoder(directory, width=16, layers=2, heads=2)
    old = json.loads((directory / "config.json").read_text())
    shape = {key: old[key] for key in ("vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads")}
    further: dict[str, Any] = {"electra": {"embedding_size": 16}}.get(family, {})
    config = AutoConfig.for_model(
        family, **shape, **further, intermediate_size=32, max_position_embeddings=130, pad_token_id=0
    )
    with torch.random.fork_rng():
        torch.manual_seed(3)
        model = build_model(config)
    config.save_pretrained(directory)
    save_file({key: value.contiguous() for key, value in model.state_dict().items()}, directory / "model.safetensors")
    return {path.name: digest_file(path) for path in sorted(directory.iterdir())}


@pytest.mark.slow
@pytest.mark.parametrize("encoder", ENCODERS)
def test_the_whole_study_runs_end_to_end(encoder: str, tmp_path: Path) -> None:
    study = Study.create(tmp_path / "study")
    for folder in ("specs/paper", "registry/data", "registry/encoders"):
        shutil.copytree(ROOT / folder, study.root / folder, dirs_exist_ok=True)
    corpus = tmp_path / "ontonotes"
    _write_corpus(corpus)
    digests = _write_encoder(study.root / "standin", encoder)
    card = {"card": "encoder", "name": "standin", "licence": "none", "source": {"type": "directory", "path": "standin"}}
    card["source"]["sha256"] = digests  # type: ignore[index]
    (study.root / "registry/encoders/standin.yaml").write_text(json.dumps(card))
    name = f"stem_cell_{encoder}"
    where = {"ONTONOTES": str(corpus)}
    study.mtlspec("data", "lock", "ontonotes5", **where)
    small = ("encoder.card=standin", "run.device=cpu", "train.epochs=1", "seeds=[1, 2]")
    overrides = [word for setting in small for word in ("--set", setting)]
    study.mtlspec("run", f"specs/paper/{name}.yaml", "--no-publish", "--as", "small_study", *overrides, **where)
    run = study.root / "registry" / "runs" / "small_study"
    assert json.loads((run / "record.json").read_bytes())["missing"] == []
    stem = json.loads((run / "artifacts/analyse-stem_cells/analysis.json").read_bytes())
    assert "stem cell hypothesis" in stem["summary"][0]
    kept = json.loads((run / "artifacts/report/tables/beside-paper/heads_beside.json").read_bytes())
    assert "dep, here" in kept["columns"]
    page = (run / "work" / "report.html").read_text()
    for chapter in ("Beside the paper", "Attention probes", "Attended-value probes", "Stem cells", "Measured on this"):
        assert chapter in page, chapter
