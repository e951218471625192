"""Task similarity as an analysis: measured vectors, files of brain data, transfer, and what is said of all of it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from itertools import combinations, permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from mtlspec.analyses._similarity.brain_file import read_brain
from mtlspec.analyses._similarity.measure import ABOUT, BRAIN, VECTORS
from mtlspec.analyses.task_similarity import BrainFile, Options
from mtlspec.contract.analyses import check_findings
from mtlspec.data.batching import collate
from mtlspec.data.prepared import Prepared
from mtlspec.errors import DataError, StageError
from mtlspec.io.digest import digest_tree
from mtlspec.metrics.accuracy import TagAccuracy
from mtlspec.model.multitask import load_model
from mtlspec.plan.rows import ModelRow
from mtlspec.results.findings import Findings
from mtlspec.results.jobs import AnalysisJob, Measurement
from mtlspec.results.tables import Table
from tests import planted
from tests.model_rows import model_row
from tests.unit.analyses.test_dissociation import TABLE_10

TASKS = ("mnli", "qqp", "qnli", "ag", "sst2")
SEEDS = (1, 2)


def _options(**said: Any) -> Options:
    return Options.model_validate({"type": "task_similarity", "dissociation": ["specialisation"], **said})


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("planted")
    planted.write_data(path)
    made = planted.plant(Prepared.load(path / "prepared"), 1, {"type": "hard"}, asks={"previous": "previous"})
    (path / "train").mkdir()
    made.model.save(path / "train", tokenizer=path / "encoder")
    for folder in ("registry", "specs"):
        (path / folder).mkdir()
    return path


def _measure(root: Path, out: Path, options: Options, row: ModelRow | None = None) -> Path:
    out.mkdir(parents=True)
    inputs = {"train": root / "train", "prepare-toy": root / "prepared"}
    options.measure(Measurement(row or model_row("stl", ["previous"]), inputs, out))
    return out


def test_vectors_are_means_of_a_sentences_sub_tokens(root: Path, tmp_path: Path) -> None:
    found = np.load(_measure(root, tmp_path / "all", _options(sentences=None)) / VECTORS)
    assert found.shape == (16, planted.WIDTH) and found.dtype == np.float32
    model, split = load_model(root / "train", "cpu"), Prepared.load(root / "prepared").test
    for row in range(16):  # each sentence alone: nothing is padded, and the specials stand at both ends
        with torch.inference_mode():
            pieces = model.states(collate(split, torch.tensor([row]), model.encoder.specials), 0).pieces[0]
        np.testing.assert_allclose(found[row], pieces[1:-1].mean(0).numpy(), atol=1e-5)
    some = np.load(_measure(root, tmp_path / "some", _options(sentences=5)) / VECTORS)
    assert len(some) == 5 and all(any(np.allclose(one, other, atol=1e-5) for other in found) for one in some)
    first = np.load(_measure(root, tmp_path / "first", _options(sentences=None, vector="first")) / VECTORS)
    assert not np.allclose(first, found)


def test_measuring_again_gives_the_same_bytes_and_brain_data_are_predicted(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(root)
    vectors = np.load(_measure(root, tmp_path / "vectors", _options(sentences=None)) / VECTORS).astype(np.float64)
    voxels = np.concatenate([vectors @ np.random.default_rng(1).normal(size=(planted.WIDTH, 3)), np.ones((16, 1))], 1)
    np.save(root / "brain.npy", voxels)
    digest = hashlib.sha256((root / "brain.npy").read_bytes()).hexdigest()
    options = _options(brain=[{"file": "brain.npy", "sha256": digest}], folds=4)
    for name in ("a", "b"):
        _measure(root, tmp_path / name, options)
    assert digest_tree(tmp_path / "a") == digest_tree(tmp_path / "b")
    with np.load(tmp_path / "a" / BRAIN) as found:
        assert found["0"].shape == (4,) and found["0"][:3].min() > 0.5 and found["0"][3] == 0


def test_models_that_stand_for_no_task_and_too_few_sentences(root: Path, tmp_path: Path) -> None:
    out = _measure(root, tmp_path / "mtl", _options(), model_row("mtl", ["previous", "next"]))
    assert json.loads((out / ABOUT).read_bytes()) == {"task": None} and not (out / VECTORS).exists()
    with pytest.raises(StageError, match=r"the split test of toy gives 12 sentences, .* at least 15") as error:
        brain = [{"file": "x.npy", "sha256": "0" * 64}]
        _measure(root, tmp_path / "few", _options(sentences=12, brain=brain))
    assert error.value.code == "E896"


def _file(root: Path, name: str, content: bytes) -> BrainFile:
    (root / name).write_bytes(content)
    return BrainFile(file=name, sha256=hashlib.sha256(content).hexdigest())


def test_brain_data_are_read_from_text_and_arrays(tmp_path: Path) -> None:
    wanted = [[1.0, -2.5, 3.0], [4.0, 5.0, 6e2]]
    for content in (b"1,-2.5,3\n4,5,6e2\n", b"1 -2.5\t3\n\n 4; 5; 600\n"):
        assert read_brain(_file(tmp_path, "a.csv", content), tmp_path, 2, "it").tolist() == wanted
    np.save(tmp_path / "a.npy", np.array(wanted, np.float32))
    said = _file(tmp_path, "b.npy", (tmp_path / "a.npy").read_bytes())
    assert read_brain(said, tmp_path, 2, "it").tolist() == wanted


@pytest.mark.parametrize(
    ("name", "content", "code", "line"),
    [
        ("a.csv", b"1,2\n3\n", "E894", "a.csv:2: error E894: this line has 1 numbers, and the first one has 2"),
        ("a.csv", b"1,2\n3,left\n", "E892", "a.csv:2:3: error E892: this cell of the brain data is no number: 'left'"),
        ("a.csv", b"1,2\n3,nan\n", "E892", "a.csv:2:3: error E892: this cell of the brain data is no number: 'nan'"),
        ("a.csv", b"1,2\n", "E895", "have 1 rows, and the split test of x has 2 sentences"),
        ("a.csv", b"\n\n", "E893", "this file is none: it is empty"),
        ("a.csv", b"\xff\xfe1", "E893", "it is no text, and its name does not end in `.npy`"),
        ("a.npy", b"1,2\n", "E893", "numpy cannot read it"),
        ("shape", np.zeros(3), "E893", "it has the shape [3] and the type float64"),
        ("words", np.array([["a"], ["b"]]), "E893", "the type <U1"),
        ("gap", np.array([[1.0, 2.0], [3.0, np.inf]]), "E892", "row 2, column 2 of the brain data is no number: 'inf'"),
    ],
)
def test_bad_brain_data_are_one_clear_line(tmp_path: Path, name: str, content: Any, code: str, line: str) -> None:
    if not isinstance(content, bytes):
        np.save(tmp_path / f"{name}.npy", content)
        name, content = f"{name}.npy", (tmp_path / f"{name}.npy").read_bytes()
    with pytest.raises(DataError) as error:
        read_brain(_file(tmp_path, name, content), tmp_path, 2, "the split test of x")
    assert error.value.code == code and line in str(error.value) and "\n" not in str(error.value)


def test_missing_and_changed_brain_data(tmp_path: Path) -> None:
    said = _file(tmp_path, "a.csv", b"1\n2\n")
    (tmp_path / "a.csv").write_bytes(b"1\n3\n")
    with pytest.raises(DataError, match=r"write `sha256: [0-9a-f]{64}`") as error:
        read_brain(said, tmp_path, 2, "it")
    assert error.value.code == "E891"
    with pytest.raises(DataError) as error:
        read_brain(said.model_copy(update={"file": "b.csv"}), tmp_path, 2, "it")
    assert error.value.code == "E890" and str(error.value).startswith("b.csv: error E890")


# The analysis, on vectors made up so that tasks are the less alike the more they dissociate in the paper


def _world(root: Path, tasks: tuple[str, ...] = TASKS, brain: int = 0) -> tuple[tuple[ModelRow, ...], dict[str, Path]]:
    """Single-task models whose vectors lie apart as Table 10's pairs do; `iap` numbers of a joint model of all."""
    apart = (TABLE_10 + TABLE_10.T)[: len(tasks), : len(tasks)] / 2
    centred = apart.max() - apart + np.diag([apart.max()] * len(tasks))
    values, vectors = np.linalg.eigh(centred)
    places = vectors * np.sqrt(np.maximum(values, 0))  # inner products are about `centred`
    rows, inputs = [], {}
    shared = np.random.default_rng(0).normal(size=(len(tasks), 30, 12))
    for seed in SEEDS:
        for number, task in enumerate(tasks):
            row = model_row("stl", [task], seed)
            place = root / row.measure  # type: ignore[operator]
            place.mkdir(parents=True)
            noise = 0.05 * np.random.default_rng(seed).normal(size=(30, 12))
            np.save(place / VECTORS, (np.tensordot(places[number], shared, 1) + noise).astype(np.float32))
            voxels = {str(p): np.abs(places[number] @ shared[:, p, :]) for p in range(brain)}
            np.savez(place / BRAIN, allow_pickle=False, **voxels)
            (place / ABOUT).write_text(json.dumps({"task": task, "corpus": "wiki", "sentences": 30}))
            rows.append(row)
            inputs[row.measure] = place
    model = {
        "model": f"mtl: {' + '.join(tasks)}",
        "group": "mtl",
        "tasks": list(tasks),
        "pairs": [(TABLE_10.T[: len(tasks), : len(tasks)] + by).tolist() for by in (-0.2, 0.2)],
    }
    Findings("iap", "x", ("x",), (), (), {"models": [model]}).write(root / "iap")
    inputs["analyse-specialisation"] = root / "iap"
    return tuple(rows), {str(role): path for role, path in inputs.items()}


def test_similar_tasks_dissociate_less(tmp_path: Path) -> None:
    models, inputs = _world(tmp_path)
    check_findings("task_similarity", lambda out: _options().run(AnalysisJob(models, inputs, out)), tmp_path / "out")
    found = Findings.read(tmp_path / "out/a")
    dse, cra = found.numbers["relations"]
    assert dse["measure"] == "dse" and dse["r"] < -0.9 and dse["p"] < 1e-4 and dse["slope"] < 0
    assert dse["p_exchanged"] < 0.05 and dse["p_holm"] > dse["p_exchanged"]
    assert min(dse["p_holm"], cra["p_holm"]) == pytest.approx(2 * min(dse["p_exchanged"], cra["p_exchanged"]))
    point = next(point for point in dse["points"] if point["tasks"] == ["qnli", "sst2"])
    assert point["y"] == pytest.approx((18.246 + 4.236) / 2)
    assert found.summary[0].startswith("Tasks that are more alike dissociate less in 2 of 2 relations")
    assert {figure.name for figure in found.figures} == {"dse_mtl", "cra_mtl"}
    table = Table.read(tmp_path / "out/a/tables/similarities.json")
    assert table.columns == (
        "tasks", "sentence vectors (DSE)", "geometry of vectors (CRA)", "dissociation, mtl"
    )  # fmt: skip
    same = next(row for row in table.rows if row[0].text == "ag, seeds")
    assert float(same[1].value or 0) > 0.9


def test_brain_data_make_a_relation_of_their_own(tmp_path: Path) -> None:
    models, inputs = _world(tmp_path, brain=2)
    files = [{"file": f"{number}.npy", "sha256": "0" * 64} for number in range(2)]
    options = _options(brain=files, voxels=6)
    options.run(AnalysisJob(models, inputs, tmp_path / "out"))
    found = Findings.read(tmp_path / "out")
    assert [one["measure"] for one in found.numbers["relations"]] == ["cnm", "dse", "cra"]
    known: dict[str, list[Any]] = {}
    for task in TASKS[:2]:
        with np.load(tmp_path / f"measure-stl-{task}-s1" / BRAIN) as arrays:
            known[task] = [arrays[str(number)] for number in range(2)]
    by_hand = []
    for number in range(2):
        loaded = []
        for row in models:
            with np.load(inputs[str(row.measure)] / BRAIN) as arrays:
                loaded.append(arrays[str(number)])
        best = np.argsort(-np.mean(loaded, axis=0))[:6]
        a, b = (known[task][number][best] for task in TASKS[:2])
        by_hand.append(a @ b / np.linalg.norm(a) / np.linalg.norm(b))
    pair = found.numbers["similarities"][0]["pairs"][0]
    assert pair["tasks"] == list(TASKS[:2]) and pair["seeds"][0] == pytest.approx(np.mean(by_hand))


def _evaluate(place: Path, task: str, correct: Any) -> None:
    place.mkdir(parents=True)
    counts = np.stack([correct, np.ones_like(correct)], axis=1).astype(np.int64)
    metric = TagAccuracy()
    score = float(metric.score_rows(counts)[metric.main])
    (place / "scores.json").write_text(json.dumps({task: {"main": metric.main, "test": {metric.main: score}}}))
    (place / "metrics.json").write_text(json.dumps({task: metric.describe()}))
    np.savez(place / "counts.npz", allow_pickle=False, **{task: counts})


def test_transfer_is_judged_by_contests_of_sources(tmp_path: Path) -> None:
    models, inputs = _world(tmp_path, TASKS[:3])
    rows = list(models)
    wins = {("qqp", "mnli"): 9, ("qnli", "mnli"): 3, ("mnli", "qqp"): 8, ("qnli", "qqp"): 4}
    for source, target in permutations(TASKS[:3], 2):
        for seed in SEEDS:
            start = next(row for row in models if row.tasks == (source,) and row.seed == seed)
            row = replace(model_row(f"from_{source}", [target], seed), starts=(start.train,))
            _evaluate(tmp_path / row.evaluate, target, np.arange(10) < wins.get((source, target), 5))
            inputs[row.evaluate] = tmp_path / row.evaluate
            rows.append(row)
    options = _options(transfer=[f"from_{task}" for task in TASKS[:3]])
    options.run(AnalysisJob(tuple(rows), inputs, tmp_path / "out"))
    found = {
        tuple(one["tasks"]): one["seeds"] for one in Findings.read(tmp_path / "out").numbers["similarities"][2]["pairs"]
    }
    to_mnli = 6.5 / (6.5 + 0.5)  # qqp beats qnli on six examples and is never beaten
    to_qqp = 4.5 / (4.5 + 0.5)
    assert found["mnli", "qqp"] == pytest.approx([(to_mnli + to_qqp) / 2] * 2)
    assert found["mnli", "qnli"] == pytest.approx([(1 - to_mnli + 0.5) / 2] * 2)
    rows.append(replace(rows[-1], group="from_mnli"))
    with pytest.raises(StageError, match=r"several models of .* that start from") as error:
        options.run(AnalysisJob(tuple(rows), inputs, tmp_path / "again"))
    assert error.value.code == "E898"


def test_what_cannot_be_said_is_said(tmp_path: Path) -> None:
    models, inputs = _world(tmp_path / "a")
    _options(transfer=["nobody"]).run(AnalysisJob(models, inputs, tmp_path / "out"))
    assert Findings.read(tmp_path / "out").summary[-1].startswith("Nothing can be said of transfer")
    for chosen in (models[:2], ()):
        with pytest.raises(StageError, match="needs three tasks with single-task models in 'stl'") as error:
            _options().run(AnalysisJob(chosen, inputs, tmp_path / "none"))
        assert error.value.code == "E897"
    Findings("iap", "x", ("x",), (), (), {"models": []}).write(tmp_path / "a/iap")
    with pytest.raises(StageError, match="no group of models has dissociations of three pairs"):
        _options().run(AnalysisJob(models, inputs, tmp_path / "none"))


def test_pairs_of_a_group_are_gathered_and_points_of_a_sweep_are_told_apart(tmp_path: Path) -> None:
    models, inputs = _world(tmp_path, TASKS[:3])
    pairs = [
        {
            "model": f"pair: {a} + {b} [alpha {alpha}]",
            "group": "pair",
            "tasks": [a, b],
            "pairs": [[[0, alpha], [3 * alpha, 0]]],
        }
        for alpha in (1, 2)
        for a, b in combinations(TASKS[:3], 2)
    ]
    Findings("iap", "x", ("x",), (), (), {"models": pairs}).write(tmp_path / "iap")
    _options().run(AnalysisJob(models, inputs, tmp_path / "out"))
    found = Findings.read(tmp_path / "out").numbers["relations"]
    assert [one["dissociation"] for one in found] == ["pair [alpha 1]"] * 2 + ["pair [alpha 2]"] * 2
    assert [point["y"] for point in found[2]["points"]] == [4, 4, 4]
    assert found[0]["r"] is None and found[0]["p_holm"] is None, "nothing varies, nothing is told"
