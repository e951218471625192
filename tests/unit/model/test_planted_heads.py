"""Where the truth about heads is known, every method finds it; where there is none, no method claims it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from mtlspec.data.corpora import Corpora
from mtlspec.data.prepared import Prepared
from mtlspec.model.importance import ablation_importance, annotated_batches, head_importance
from mtlspec.spec.models import BatchLimits, RunOptions, TrainOptions
from mtlspec.train.checkpoint import ResumePoints
from mtlspec.train.determinism import make_deterministic
from mtlspec.train.loop import train
from tests import planted

SEEDS = range(20)
CLEAR = 3.0  # a head is found if it matters this many times as much as any other


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Prepared:
    return Prepared.load(planted.write_data(tmp_path_factory.mktemp("planted")))


def _found(values: torch.Tensor, place: planted.Place) -> bool:
    """values [L, H]"""
    first, second = values.flatten().topk(2)[0].tolist()
    return values[place].item() == first and first >= CLEAR * second


def _importances(data: Prepared, seed: int, empty: bool) -> tuple[planted.Planted, dict[str, torch.Tensor]]:
    made = planted.plant(data, seed, {"type": "hard"}, empty=empty)
    tasks, sharing = made.model.tasks, made.model.sharing
    batches = list(annotated_batches(tasks, data.train, data.specials, BatchLimits(), torch.arange(32)))
    return made, {
        "gradient": head_importance(sharing, tasks, batches),
        "token_abs": head_importance(sharing, tasks, batches, token_abs=True),
        "ablation": ablation_importance(sharing, tasks, batches).abs(),
    }


@pytest.mark.parametrize("empty", [False, True])
def test_importance_finds_the_planted_heads_and_only_them(empty: bool, data: Prepared) -> None:
    found: dict[str, list[bool]] = {}
    for seed in SEEDS:
        made, methods = _importances(data, seed, empty)
        for method, values in methods.items():
            for task, own in zip(made.model.tasks, values, strict=True):
                found.setdefault(method, []).append(_found(own, made.places[task.name]))
    for method, hits in found.items():
        assert sum(hits) == (0 if empty else 2 * len(SEEDS)), method


@pytest.mark.parametrize("empty", [False, True])
def test_gates_keep_the_planted_heads_and_only_them(empty: bool, data: Prepared, tmp_path: Path) -> None:
    options = TrainOptions.model_validate(
        {"epochs": 1, "batch": {"sentences": 2, "tokens": 999}, "batching": "joint", "lr": {"encoder": 1e-6}}
    )
    sharing: dict[str, Any] = {"type": "l0", "mode": "static", "lambda": 2.0}
    hits = 0
    for seed in SEEDS:
        make_deterministic(seed, RunOptions())
        made = planted.plant(data, seed, sharing, empty=empty)
        points = ResumePoints(tmp_path / str(seed), "planted")
        model = train(made.model, Corpora.single(data), options, RunOptions(), seed, points, lambda *_: None).model
        gates = model.sharing.head_gates("gate")
        assert gates is not None
        hits += {(layer, head) for layer, head in gates.nonzero().tolist()} == set(made.places.values())
    assert hits == (0 if empty else len(SEEDS))
