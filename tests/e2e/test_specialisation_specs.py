"""The study of functional specialisation at full scale: planned as published, and run whole with stand-ins."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from mtlspec.io.project import Project
from mtlspec.spec.expand import ModelVariant, expand
from mtlspec.spec.load import LoadedSpec, load_spec
from tests.e2e.glue_files import write_glue, write_transfer
from tests.e2e.standins import write_standin
from tests.e2e.study import Study
from tests.unit.data import tokenizers_of

ROOT = Path(__file__).parents[2]
FAMILIES = {  # of the encoder that each spec names
    "gpt": "openai-gpt",
    "gpt2": "gpt2",
    "roberta": "roberta",
    "deberta": "deberta-v2",
    "bert_large": "bert",
    "bert": "bert",
    "tinybert": "bert",
}
LAYERS = {"tinybert": 12, "bert": 6}  # of stand-ins: students take layers by number, a tenth of the heads must be one
FIVE = ("mnli", "qqp", "qnli", "ag", "sst2")
GLUE = ("cola", "mnli", "mrpc", "qnli", "qqp", "rte", "sst2", "stsb")
OF_ALL = {"pair": 10}
OF_GLUE = {**OF_ALL, "stl": 8, "mtl": 1, "iat": 1, "mtl_proportional": 1, "iat_proportional": 1}
TRAININGS = {
    "gpt": OF_ALL,
    "gpt2": OF_ALL,
    "roberta": OF_GLUE,
    "deberta": OF_GLUE,
    "bert_large": OF_GLUE,
    "bert": {
        **OF_GLUE,
        **{"stl": 9, "pair_frozen": 10, "five": 1, "ag_pair_qnli": 1, "ag_pair_sst2": 1},
        **{"ticket_share": 1, "prune_least": 1, "random_heads": 1, "iat_by_delta": 6, "iat_by_alpha": 5},
        **{f"from_{task}": 5 for task in FIVE},
        **dict.fromkeys(("few_mtl", "few_iat", "few_ticket_share", "few_random_heads"), 8),
    },
    "tinybert": {
        **{"pair_teacher": 10, "pair_inside": 10, "pair": 10, "stl_teacher": 8, "stl_inside": 8, "stl": 8},
        **{"all_inside": 1, "mtl": 1, "iat": 1},
        **{"all_inside_proportional": 1, "mtl_proportional": 1, "iat_proportional": 1},
    },
}
"""Models of each group, with one seed."""
ANNEALED = ("mtl", "iat", "ticket_share", "prune_least", "random_heads", "iat_by_delta", "iat_by_alpha", "all_inside")


def _load(name: str) -> LoadedSpec:
    return load_spec(ROOT / f"specs/paper/functional_specialization_{name}.yaml", Project(ROOT))


def _epochs(one: ModelVariant) -> int:
    if one.train.distil is not None:
        return 2 if one.train.distil.looks_inside else 3
    return 20 if one.train.draw == "balanced" else 5


@pytest.mark.parametrize("name", FAMILIES)
def test_every_model_has_the_settings_of_the_paper(name: str) -> None:
    spec = _load(name).spec
    assert spec.compare_to == f"functional_specialization/{name}" and spec.seeds == (1, 2, 3)
    models = expand(spec)
    counts = {group: sum(one.group == group and one.seed == 1 for one in models) for group in spec.models}
    assert counts == TRAININGS[name]
    for one in models:
        train = one.train
        assert train.epochs == _epochs(one)
        assert (train.distil is not None) == (name == "tinybert" and "teacher" not in one.group)
        assert (train.batch.sentences, train.lr.encoder, train.lr.decoder) == (32, 2e-5, 2e-5)
        assert (train.warmup, train.weight_decay, train.keep, train.balance.type) == (0.1, 0, "last", "none")
        proportional = one.group not in ANNEALED
        assert train.sampler.type == ("proportional" if proportional else "annealed"), one.name
        if one.group in ("mtl", "iat", "mtl_proportional", "iat_proportional"):
            assert one.tasks == GLUE
        if one.group == "iat":
            assert one.sharing.model_dump(include={"type", "alpha", "delta"}) == {
                "type": "iat",
                "alpha": 0.3,
                "delta": 0.1,
            }


def _write_encoder(root: Path, family: str, layers: int) -> None:
    """A small encoder of the family with a tokenizer of its own kind."""
    from transformers import AutoConfig

    tokenizers_of.write(family, root / "standin")
    config = AutoConfig.from_pretrained(root / "standin")
    config.num_hidden_layers, config.vocab_size = layers, len(tokenizers_of.own(root / "standin"))
    write_standin(root, config)


def _project(root: Path, name: str, environment: dict[str, str]) -> Study:
    """The paper's specs and cards with stand-ins for the encoder and all corpora, of which more is held out for dev."""
    study = Study.create(root)
    for folder in ("specs/paper", "registry/data", "registry/encoders"):
        shutil.copytree(ROOT / folder, study.root / folder, dirs_exist_ok=True)
    write_glue(Path(environment["MTLSPEC_DATA"]) / "glue")
    write_transfer(Path(environment["MTLSPEC_DATA"]))
    _write_encoder(study.root, FAMILIES[name], LAYERS.get(name, 2))
    return study


def _lock(study: Study, cards: list[str], environment: dict[str, str]) -> None:
    for card in cards:
        path = study.root / f"registry/data/{card}.yaml"
        path.write_text(re.sub(r"hold_out: \{dev: [\d.]+", "hold_out: {dev: 0.3", path.read_text()))
        study.mtlspec("data", "lock", card, **environment)


def _json(path: Path) -> Any:
    return json.loads(path.read_bytes())


@pytest.mark.slow
@pytest.mark.parametrize("name", FAMILIES)
def test_the_whole_study_runs_end_to_end(name: str, tmp_path: Path) -> None:
    where = {"MTLSPEC_DATA": str(tmp_path / "data")}
    study = _project(tmp_path / "study", name, where)
    _lock(study, [card.name for card in _load(name).data.values()], where)
    small = ["encoder.card=standin", "run.device=cpu", "train.epochs=1", "seeds=[1]"]
    small += [f"models.{group}.seeds=1" for group in TRAININGS[name] if group.startswith("few_")]
    overrides = [word for setting in small for word in ("--set", setting)]
    spec = f"specs/paper/functional_specialization_{name}.yaml"
    study.mtlspec("run", spec, "--no-publish", "--as", "small_study", *overrides, **where)
    run = study.root / "registry/runs/small_study"
    record = _json(run / "record.json")
    assert record["missing"] == []
    assert sum(stage.startswith("train-") for stage in record["stages"]) == sum(TRAININGS[name].values())
    measured = sum(stage.startswith("measure-pairs-") for stage in record["stages"])
    assert measured == (22 if name == "bert" else 10)
    pairs = _json(run / "artifacts/analyse-pairs/analysis.json")["numbers"]["models"]  # but those whose F1 is 0
    assert pairs and all(set(one["tasks"]) <= {*FIVE, "ag_pair"} for one in pairs)
    page = (run / "work/report.html").read_text()
    for chapter in (
        "Beside the paper",
        "Functional specialisation",
        *(["Heads of tasks"] if "iat" in TRAININGS[name] else []),
    ):
        assert chapter in page, chapter
