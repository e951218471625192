"""The specs of the stem cell paper: settings of the released scripts, model by model, and those that are printed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mtlspec.io.project import Project
from mtlspec.plan.build import build_plan
from mtlspec.plan.types import Plan
from mtlspec.spec.load import load_spec

ROOT = Path(__file__).parents[3]
ENCODERS = ("bert", "roberta", "electra", "deberta")
# Of the scripts: epochs, patience, the encoder's rate, mini-batches of an update, their sentences, lambda.
SINGLE = {
    "stl-pos": (30, 0.5, 5e-5, 2, 32, None),
    "stl-ner": (30, 0.5, 5e-5, 2, 32, None),
    "stl-dep": (30, 0.5, 5e-5, 1, 64, None),
    "stl-con": (30, 0.5, 5e-5, 1, 64, None),
    "stl-srl": (30, 0.5, 5e-5, 4, 16, None),
    "mtl-all": (30, 0.5, 5e-5, 4, 16, None),
}
BERT = {
    **SINGLE,
    "stl_dp-pos": (30, 0.5, 1e-5, 2, 32, 0.01),
    "stl_dp-ner": (100, 1.0, 1e-5, 1, 64, 0.0002),
    "stl_dp-dep": (100, 0.5, 1e-5, 1, 64, 0.01),
    "stl_dp-con": (30, 0.5, 1e-5, 2, 32, 0.01),
    "stl_dp-srl": (100, 0.5, 1e-5, 4, 16, 0.001),
    "mtl_dp-all": (100, 1.0, 1e-5, 4, 16, 0.001),
}
OTHERS = {
    **BERT,
    "stl_dp-ner": (100, 1.0, 1e-5, 2, 32, 0.0002),
    "stl_dp-dep": (30, 0.5, 1e-5, 2, 32, 0.01),
    "stl_dp-srl": (100, 0.5, 1e-5, 4, 16, 0.002),
    "mtl_dp-all": (30, 1.0, 1e-5, 4, 16, 0.001),
}
RELEASED = {
    "bert": BERT,
    "roberta": OTHERS,
    "electra": OTHERS,
    "deberta": {**OTHERS, "stl_dp-dep": (30, 0.5, 1e-5, 2, 32, 0.02)},
}


def _plan(name: str) -> Plan:
    return build_plan(load_spec(ROOT / f"specs/paper/{name}.yaml", Project(ROOT)))


def _training(plan: Plan, model: str) -> tuple[dict[str, Any], dict[str, Any]]:
    params = plan.stage(f"train-{model}-s1").params
    return params["train"], params["sharing"]


@pytest.mark.parametrize("encoder", ENCODERS)
def test_every_model_has_the_settings_of_its_released_script(encoder: str) -> None:
    plan, found = _plan(f"stem_cell_{encoder}"), {}
    for model in RELEASED[encoder]:
        train, sharing = _training(plan, model)
        batch = (train["accumulate"], train["batch"]["sentences"])
        found[model] = (train["epochs"], train["patience"], train["lr"]["encoder"], *batch, sharing.get("lambda"))
    assert found == RELEASED[encoder]
    for task in ("pos", "ner", "dep", "con", "srl"):  # static pruning differs in its start alone
        assert _training(plan, f"stl_sp-{task}")[0] == _training(plan, f"stl_dp-{task}")[0]
    assert _training(plan, "mtl-all")[0]["sampler"] == {"type": "power", "alpha": 0.8, "count": "batches"}


@pytest.mark.parametrize("encoder", ENCODERS)
def test_what_is_printed_is_the_same_for_every_model(encoder: str) -> None:
    plan = _plan(f"stem_cell_{encoder}_printed")
    for model in BERT:
        train, _ = _training(plan, model)
        assert (train["epochs"], train["lr"]["encoder"], train["lr"]["decoder"]) == (30, 5e-5, 1e-3)
        assert (train["accumulate"], train["batch"]["sentences"]) == (1, 64)


@pytest.mark.parametrize("settings", ["", "_printed"])
@pytest.mark.parametrize("encoder", ENCODERS)
def test_both_measure_speed_and_drop_nothing_of_pos(encoder: str, settings: str) -> None:
    loaded = load_spec(ROOT / f"specs/paper/stem_cell_{encoder}{settings}.yaml", Project(ROOT)).spec
    assert {"pruning_table", "score_matrix", "stem_cells"} <= {one.type for one in loaded.analyses.values()}
    assert loaded.tasks["pos"].model_dump()["dropout"] == 0
    released = settings == ""
    assert loaded.tasks["ner"].model_dump()["variant"] == ("released" if released else "paper")
    assert loaded.tasks["srl"].model_dump()["mean"] == ("max_width" if released else "true_width")
