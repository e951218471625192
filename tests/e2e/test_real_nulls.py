"""The default test on models that were really trained: the same configuration twice, and one that learnt from less."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from mtlspec.results.evaluations import Evaluation
from mtlspec.results.inference import compare_models, compare_runs
from tests.e2e.study import DATA_CARD, ENCODER_CARD, SPEC, Study

_SEEDS = (1, 2, 3, 4, 5, 6)
_TASKS = ("pos", "ner")
_SPEC = (
    SPEC.replace(", decoder: crf", "")
    .replace(
        "epochs: 1, batch: {sentences: 16,", "epochs: 4, lr: {encoder: 2e-3, decoder: 3e-3}, batch: {sentences: 8,"
    )
    .replace("seeds: [1]", f"seeds: {list(_SEEDS)}")
    .replace("mtl: {tasks: all, sharing: hard}", "less: {tasks: each, sharing: hard, sweep: {train.examples: [100]}}")
    .replace("[stl, mtl]", "[stl, less]")
)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Study:
    study = Study.create(tmp_path_factory.mktemp("nulls") / "study", _SPEC)
    data = DATA_CARD.replace("train: 60, dev: 20, test: 20", "train: 600, dev: 100, test: 300")
    (study.root / "registry/data/mini.yaml").write_text(data)
    size = "layers: 1, heads: 2, width: 16, feed_forward: 32, epochs: 1"
    encoder = ENCODER_CARD.replace(size, "layers: 2, heads: 4, width: 32, feed_forward: 64, epochs: 8")
    (study.root / "registry/encoders/micro.yaml").write_text(encoder)
    study.mtlspec("run", "small", "--no-publish")
    return study


def _evaluations(study: Study, slug: str) -> list[Evaluation]:
    folder: Path = study.root / "registry/runs/small/artifacts"
    return [Evaluation.read(folder / f"evaluate-{slug}-s{seed}") for seed in _SEEDS]


@pytest.mark.slow
def test_six_seeds_of_one_model_are_not_told_apart_and_less_data_is(trained: Study) -> None:
    found: dict[str, list[float]] = {"runs": [], "sentences": [], "less": []}
    for task in _TASKS:
        runs = _evaluations(trained, f"stl-{task}")
        (place,) = (trained.root / "registry/runs/small/artifacts").glob(f"evaluate-less-{task}*-s1")
        slug = place.name.removeprefix("evaluate-").removesuffix("-s1")
        less = [one.counts[task] for one in _evaluations(trained, slug)]
        metric, rows = runs[0].metrics[task], [one.counts[task] for one in runs]
        splits = [(first, tuple(set(range(6)) - set(first))) for first in combinations(range(6), 3) if 0 in first]
        assert len(splits) == 10
        for first, second in splits:
            a, b = ([rows[number] for number in side] for side in (first, second))
            found["runs"].append(compare_runs(metric, a, b).p or 0.0)
            found["sentences"].append(compare_models(metric, a, b, 1000, 1).p or 0.0)
            found["less"].append(compare_runs(metric, a, [less[number] for number in second]).p or 0.0)
    rejected = {name: float(np.mean(np.array(ps) < 0.05)) for name, ps in found.items()}
    assert rejected["runs"] <= 0.1  # of 20 comparisons, those of a task sharing their models
    assert rejected["sentences"] > 0.1  # the same models: what a test that forgets seeds would star
    assert rejected["less"] >= 0.8
