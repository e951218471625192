"""Transfer by embedding, on scores made by hand."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mtlspec.analyses._embedding_transfer import Size, Transfer, _corrected, exchanged
from mtlspec.analyses.embedding_transfer import Options
from mtlspec.contract.analyses import ToyRun, check_analysis
from mtlspec.errors import StageError
from tests.unit.analyses.averaged import Study

ANALYSIS = Options(type="embedding_transfer", rounds=2000)
SCORES = {  # embedding -> examples -> test accuracies of four seeds
    "pos": {0: (30, 31, 29, 30), 40: (60, 62, 61, 63)},
    "ner": {0: (31, 29, 30, 30), 40: (70, 71, 72, 70)},
    "random": {0: (29, 30, 31, 30), 40: (50, 52, 51, 50)},
}


@pytest.fixture
def study(tmp_path: Path) -> Study:
    made = Study(tmp_path / "study")
    made.add("stl", {"dep": (90, 90, 90, 90)})
    for embedding, sizes in SCORES.items():
        for examples, scores in sizes.items():
            sweep = (("sharing.embedding", embedding), ("train.examples", examples))
            made.add("few", {"dep": scores}, sweep)
    for row in made.rows:  # dev is test, but for the second seed, which prefers random
        path = made.inputs[row.evaluate] / "scores.json"
        about = json.loads(path.read_text())
        prefers = row.seed == 2 and dict(row.sweep).get("sharing.embedding") == "random"
        about["dep"]["dev"] = {"accuracy": 99.0 if prefers else about["dep"]["test"]["accuracy"]}
        path.write_text(json.dumps(about))
    return made


def test_findings_are_complete_and_the_same_every_time(study: Study, tmp_path: Path) -> None:
    check_analysis(ANALYSIS, ToyRun(tuple(study.rows), study.inputs), tmp_path)


def test_scores_by_embedding_and_size_and_what_dev_would_choose(study: Study) -> None:
    findings, facts = study.run(ANALYSIS)
    assert facts == {"models": 6, "tasks": 1}
    scores, tests = findings.tables
    assert scores.columns == ("begins with", "0", "40")
    assert [row[0].text for row in scores.rows] == ["pos", "ner", "random", "mean of known tasks", "chosen on dev"]
    assert [row[2].value for row in scores.rows] == pytest.approx([61.5, 70.75, 50.75, 66.125, 66.0])
    assert [cell.text for cell in tests.rows[1][:4]] == ["40", "ner", "random", "20.00"]
    assert findings.summary == (
        "few: dep: the embedding matters with 40 examples (p < 0.05 after correction): with 40 it is best to begin "
        "with ner (70.8), worst with random (50.8).",
    )
    nothing, something = findings.numbers["transfers"][0]["sizes"]
    assert nothing["p"] > 0.5 > 0.01 > something["p"]
    assert something["p_holm"] == pytest.approx(2 * something["p"])
    assert [cell.value for cell in tests.rows[1][-2:]] == [something["p"], something["p_holm"]]


def test_embeddings_that_are_alike_are_told_apart_in_one_study_of_twenty() -> None:
    """Over all numbers of examples: with three tests at 5 % each, one study of seven would be told of a difference."""
    stream, told = np.random.default_rng(5), {"p": 0, "p_holm": 0}
    for _ in range(400):
        ps = [exchanged(stream.normal(60, 3, (8, 3)), 200, seed=1) for _ in range(3)]
        sizes = tuple(Size(examples, np.zeros((8, 3)), np.zeros((8, 3)), p) for examples, p in enumerate(ps))
        (corrected,) = _corrected([Transfer("few", "dep", "accuracy", ("a",) * 8, sizes, "")])
        for name in told:
            found = [size.numbers()[name] for size in corrected.sizes]
            told[name] += any(p < 0.05 for p in found)
    assert told["p_holm"] <= 28 < 40 < told["p"]


@settings(max_examples=25, deadline=None)
@given(st.lists(st.lists(st.integers(0, 4), min_size=3, max_size=3), min_size=2, max_size=3))
def test_the_test_is_that_of_all_exchanges(rows: list[list[int]]) -> None:
    """Beside every exchange there is, one by one."""
    scores = np.array(rows, np.float64)
    observed = scores.mean(1).var()
    columns = [list(itertools.permutations(scores[:, seed])) for seed in range(3)]
    every = [np.array(chosen).T.mean(1).var() for chosen in itertools.product(*columns)]
    exact = float(np.mean([one >= observed - 1e-12 for one in every]))
    found = exchanged(scores, 4000, seed=1)
    assert found == pytest.approx(exact, abs=0.04)


def test_one_seed_or_one_embedding_shows_nothing() -> None:
    assert exchanged(np.array([[1.0], [2.0]]), 100, 1) is None
    assert exchanged(np.array([[1.0, 2.0]]), 100, 1) is None


def test_models_that_begin_with_nothing_are_told_what_to_write(tmp_path: Path) -> None:
    study = Study(tmp_path / "study")
    study.add("stl", {"dep": (90, 90)})
    with pytest.raises(StageError, match=r"E949: .*sweep over `sharing.embedding`"):
        study.run(ANALYSIS)
