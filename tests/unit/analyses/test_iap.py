"""Masked models: planted specialisation is found, copies of one task are not told apart, back-up heads are found."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from mtlspec.analyses._iap.dissociation import Dissociation, verdict
from mtlspec.analyses._iap.measure import COUNTS, FILE
from mtlspec.analyses._iap.sample import sample
from mtlspec.analyses.iap import Options
from mtlspec.contract import toy, toy_language
from mtlspec.contract.analyses import ToyRun, check_analysis, make_toy_run
from mtlspec.data.choices import Choice
from mtlspec.data.corpora import Corpora
from mtlspec.data.prepared import Prepared, PreparedSplit
from mtlspec.errors import StageError
from mtlspec.io.digest import digest_tree
from mtlspec.metrics.accuracy import TagAccuracy
from mtlspec.model.predict import predict_corpora
from mtlspec.model.predict_masked import predict_masked
from mtlspec.results.findings import Findings
from mtlspec.results.jobs import AnalysisJob, Measurement
from mtlspec.results.tables import Table
from mtlspec.spec.models import BatchLimits
from tests import planted
from tests.model_rows import model_row
from tests.unit.analyses.test_dissociation import BASE, TABLE_3

COPIES = {"previous": "previous", "again": "previous"}
GOLDEN = ("mnli", "qqp", "qnli", "ag", "sst2")


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("planted")
    planted.write_data(path)
    return path


def _plant(root: Path, seed: int, **how: Any) -> planted.Planted:
    made = planted.plant(Prepared.load(root / "prepared"), seed, {"type": "hard"}, **how)
    if how.get("asks"):
        with torch.no_grad():  # decoders of copies differ a little, as if trained apart
            weight = made.model.tasks[1].module["tagger"].weight
            weight.add_(0.05 * torch.randn_like(weight))
    return made


def _measure(root: Path, out: Path, made: planted.Planted, options: Options) -> Path:
    for name in ("train", "measured"):
        (out / name).mkdir(parents=True)
    made.model.save(out / "train", tokenizer=root / "encoder")
    row = model_row("mtl", [task.name for task in made.model.tasks])
    inputs = {"train": out / "train", "prepare-toy": root / "prepared"}
    options.measure(Measurement(row, inputs, out / "measured"))
    return out / "measured"


def _run(
    root: Path, out: Path, options: Options, seeds: int, **how: Any
) -> tuple[list[planted.Planted], dict[str, Any], list[dict[str, Any]]]:
    """Models of so many seeds measured and analysed: the models, `numbers` of the findings, the measurements."""
    models = [_plant(root, seed, **how) for seed in range(seeds)]
    places = [_measure(root, out / str(seed), made, options) for seed, made in enumerate(models)]
    rows = [model_row("mtl", [task.name for task in models[0].model.tasks], seed) for seed in range(seeds)]
    inputs = {row.measure: place for row, place in zip(rows, places, strict=True)}
    options.run(AnalysisJob(tuple(rows), inputs, out / "found"))
    measured = [json.loads((place / FILE).read_bytes()) for place in places]
    return models, dict(Findings.read(out / "found").numbers["models"][0]), measured


def _verdicts(found: dict[str, Any]) -> list[str]:
    pairs = Dissociation(np.array(found["pairs"]))
    return [verdict(own) for own in pairs.by_task.tolist()]


def test_tasks_that_need_disjoint_heads_are_told_apart_in_every_seed(root: Path, tmp_path: Path) -> None:
    options = Options(type="iap", alpha=0.125, sentences=32, draws=3)
    models, found, measured = _run(root, tmp_path, options, seeds=20)
    assert _verdicts(found) == ["distinct double dissociation"] * 20
    assert found["verdict"] == "distinct double dissociation" and found["shown"]
    assert found["average"]["difference"] > 50 > 20 > abs(np.mean(found["random"]) - 100)
    for made, facts in zip(models, measured, strict=True):
        own = [[[place[0] + 1, place[1] + 1]] for place in made.places.values()]
        assert facts["sets"] == own and facts["masked_heads"] == 1
    told = Findings.read(tmp_path / "found").summary
    assert told[0].startswith("mtl: previous + next: distinct double dissociation, shown by intervals")
    assert "in 1 of 1 models the difference is significant" in told[1]


def test_copies_of_one_task_are_never_told_apart(root: Path, tmp_path: Path) -> None:
    for alpha, seeds in ((0.125, 12), (0.3, 8)):
        options = Options(type="iap", alpha=alpha, sentences=32, draws=1)
        _, found, _ = _run(root, tmp_path / str(alpha), options, seeds=seeds, asks=COPIES)
        assert "distinct double dissociation" not in _verdicts(found)
        assert abs(found["average"]["difference"]) < 5
        assert found["verdict"] != "distinct double dissociation"


def test_going_step_by_step_finds_a_back_up_head_that_one_ranking_misses(root: Path, tmp_path: Path) -> None:
    base = {"type": "iap", "alpha": 0.25, "sentences": 64, "draws": 1}
    for name, iterative in (("once", False), ("steps", True)):
        options = Options.model_validate({**base, "iterative": iterative})
        models, found, measured = _run(root, tmp_path / name, options, seeds=6, backup=True)
        for number, (made, facts) in enumerate(zip(models, measured, strict=True)):
            assert made.backup is not None
            first, spare = ([layer + 1, head + 1] for layer, head in (made.places["previous"], made.backup))
            heads = facts["sets"][facts["tasks"].index("previous")]
            left = found["masked"][number][0][0] / found["base"][number][0]
            assert first in heads
            assert (spare in heads) == iterative
            assert (left < 0.3) == iterative, "the back-up head keeps the score as long as it is not masked, too"
        if iterative:
            assert all(len(own) == 2 for own in measured[0]["one_shot_sets"])
            assert "step by step" in Findings.read(tmp_path / name / "found").summary[-1]


def test_steps_of_all_heads_are_one_ranking(root: Path, tmp_path: Path) -> None:
    made = _plant(root, 3)
    options = Options(type="iap", alpha=0.5, sentences=16, draws=1, iterative=True, step=4)
    facts = json.loads((_measure(root, tmp_path, made, options) / FILE).read_bytes())
    assert facts["sets"] == facts["one_shot_sets"]


def test_maskings_read_together_predict_what_each_predicts_alone(root: Path) -> None:
    model, corpora = _plant(root, 1).model, Corpora.single(Prepared.load(root / "prepared"))
    masks = np.random.default_rng(1).random((5, planted.LAYERS, planted.HEADS)) < 0.4
    masks[0] = False
    masks[2, 0] = masks[3, 0] = masks[0, 0]  # these share the first layer with the whole model
    for limits in (BatchLimits(), BatchLimits(sentences=1, tokens=1)):
        together = predict_masked(model, corpora, "test", limits, masks)
        for mask, found in zip(masks, together, strict=True):
            with model.encoder.heads.gated(torch.from_numpy(~mask).float()):
                assert found == predict_corpora(model, corpora, "test", BatchLimits())


def test_measuring_again_gives_the_same_bytes(root: Path, tmp_path: Path) -> None:
    options = Options(type="iap", alpha=0.3, sentences=16, draws=2)
    for name in ("a", "b"):
        _measure(root, tmp_path / name, _plant(root, 2), options)
    assert digest_tree(tmp_path / "a/measured") == digest_tree(tmp_path / "b/measured")


def test_random_controls_have_as_many_heads_in_every_layer(root: Path, tmp_path: Path) -> None:
    options = Options(type="iap", alpha=0.5, sentences=16, draws=4)
    facts = json.loads((_measure(root, tmp_path, _plant(root, 2), options) / FILE).read_bytes())
    assert np.array(facts["random"]).shape == (4, 2, 2)
    assert len({tuple(np.ravel(draw)) for draw in facts["random"]}) > 1, "draws differ"


def test_a_sample_is_scored_as_in_the_whole_split(root: Path, tmp_path: Path) -> None:
    made, found, facts = _plant(root, 2), {}, {}
    for scored in (None, 5):
        options = Options(type="iap", alpha=0.3, sentences=16, draws=1, scored=scored)
        place = _measure(root, tmp_path / str(scored), made, options)
        found[scored] = dict(np.load(place / COUNTS, allow_pickle=False))
        facts[scored] = json.loads((place / FILE).read_bytes())
    assert facts[5]["sets"] == facts[None]["sets"]
    for task in ("previous", "next"):
        rows = found[5][f"examples/{task}"]
        assert len(rows) == 5 and found[None][f"examples/{task}"].tolist() == list(range(16))
        np.testing.assert_array_equal(found[5][f"counts/{task}"], found[None][f"counts/{task}"][:, rows])
        assert rows.tolist() != sorted(range(5)), "a sample, not the beginning"


def test_a_sample_keeps_the_choices_of_a_question_together(root: Path) -> None:
    corpora = Corpora.single(Prepared.load(root / "prepared"))
    task = _Asking(None, [Choice(f"q{row // 4}", "", 1.0) for row in range(16)])
    drawn = sample(corpora, [task], "test", 2, seed=1)  # type: ignore[list-item]
    rows = drawn.rows[""].tolist()
    assert len(rows) == 8 and {row // 4 * 4 + i for row in rows for i in range(4)} == set(rows)
    words = [corpora.named(None).test.words(row) for row in rows]
    assert [drawn.corpora.named(None).test.words(place) for place in range(8)] == words
    assert len(drawn.corpora.named(None).train) == 128, "other splits stay whole"
    assert len(sample(corpora, [task], "test", 9, seed=1).rows[""]) == 16  # type: ignore[list-item]


def test_tasks_that_are_not_asked_for_change_nothing(root: Path, tmp_path: Path) -> None:
    three = {"previous": "previous", "again": "previous", "next": "next"}
    made, options = _plant(root, 2, asks=three), {"type": "iap", "alpha": 0.125, "sentences": 32, "draws": 1}
    facts = {}
    for name, tasks in (("all", ()), ("some", ("next", "previous"))):
        place = _measure(root, tmp_path / name, made, Options.model_validate({**options, "tasks": tasks}))
        facts[name] = json.loads((place / FILE).read_bytes())
        counts = np.load(place / COUNTS, allow_pickle=False)
        assert ("counts/again" in counts.files) == (name == "all")
    assert facts["some"]["tasks"] == ["previous", "next"] and facts["some"]["left_out"] == {}
    assert facts["some"]["sets"] == [facts["all"]["sets"][0], facts["all"]["sets"][2]]


@dataclass(frozen=True)
class _Asking:
    """A task of which nothing but its gold is asked."""

    corpus: str | None
    gold: list[Choice]

    def rows(self, split: PreparedSplit) -> torch.Tensor:
        return torch.arange(len(split))

    def gold_values(self, split: PreparedSplit) -> list[Choice]:
        return self.gold


def _write(place: Path, tasks: tuple[str, ...], base: Any, masked: Any, examples: int = 10_000) -> None:
    """A measurement made up: scores of so many examples, without heads; sets are the first heads of two layers."""
    place.mkdir(parents=True)
    if len(tasks) == 1:
        facts: dict[str, Any] = {"tasks": list(tasks), "left_out": {}, "heads": [4, 4], "masked_heads": 2}
        (place / FILE).write_text(json.dumps(facts))
        np.savez(place / COUNTS, allow_pickle=False)
        return
    arrays, hits = {}, np.rint(np.vstack([base, masked]) * examples / 100).astype(np.int64)  # [1 + T, T]
    for number, task in enumerate(tasks):
        correct = np.arange(examples) < hits[:, number, None]
        arrays[f"counts/{task}"] = np.stack([correct, np.ones_like(correct)], axis=-1).astype(np.int64)
        arrays[f"examples/{task}"] = np.arange(examples)
    facts = {
        "tasks": list(tasks),
        "left_out": {},
        "heads": [4, 4],
        "masked_heads": 2,
        "sets": [[[1, 1], [2, 1 + number % 4]] for number in range(len(tasks))],
        "random": [np.broadcast_to(base, (len(tasks), len(tasks))).tolist()] * 2,
        "metrics": {task: TagAccuracy().describe() for task in tasks},
        "corpora": {task: task for task in tasks},
        "split": "test",
    }
    (place / FILE).write_text(json.dumps(facts))
    np.savez(place / COUNTS, allow_pickle=False, **arrays)


def _analyse(root: Path, models: dict[tuple[str, tuple[str, ...]], list[Any]], **options: Any) -> Findings:
    """(group, tasks) -> (base, masked) of each seed."""
    rows, inputs = [], {}
    for (group, tasks), runs in models.items():
        for seed, (base, masked) in enumerate(runs, 1):
            row = model_row(group, tasks, seed)
            _write(root / row.measure, tasks, base, masked, options.get("examples", 400))
            rows.append(row)
            inputs[row.measure] = root / row.measure
    Options(type="iap").run(AnalysisJob(tuple(rows), inputs, root / "out"))
    return Findings.read(root / "out")


def test_the_published_matrix_becomes_the_published_tables(tmp_path: Path) -> None:
    shift = [-0.4, 0.1, 0.3]
    runs = [(BASE, np.clip(TABLE_3 + by, 0, 100)) for by in shift]
    found = _analyse(tmp_path, {("mtl", GOLDEN): runs}, examples=10_000)
    scores, pairs, layers = (
        Table.read(tmp_path / f"out/tables/{name}.json") for name in ("masked_scores", "pairs", "heads_per_layer")
    )
    assert [row[0].text for row in scores.rows] == [
        *(f"heads of {task}" for task in GOLDEN), "random heads", "nothing", "dissociation"
    ]  # fmt: skip
    own = [float(cell.value or 0) for cell in scores.rows[-1][1:]]
    np.testing.assert_allclose(own, [7.24, 5.26, 9.83, 11.08, 3.28], atol=0.01)
    np.testing.assert_allclose([float(cell.value or 0) for cell in scores.rows[0][1:]], TABLE_3[0], atol=0.01)
    assert [row[place + 1].text for place, row in enumerate(pairs.rows)] == ["–"] * 5
    assert float(pairs.rows[4][3].value or 0) == pytest.approx(18.24, abs=0.01)  # QNLI against SST-2, Table 10
    assert layers.rows[-1][0].text == "spread" and float(layers.rows[-1][1].value or 0) == 0
    assert found.numbers["models"][0]["verdict"] == "double dissociation"
    overlaps = Table.read(tmp_path / "out/tables/overlaps.json")
    assert overlaps.rows[0][2].text == "50.0 (25)" and overlaps.rows[0][5].text == "100.0 (25)"


def _pair(first: float, second: float) -> tuple[Any, Any]:
    """Base scores of 80 and 90, and dissociations of two tasks."""
    base = np.array([80.0, 90.0])
    return base, np.array([[80 * (0.9 - first / 100), 81.0], [72.0, 90 * (0.9 - second / 100)]])


def test_groups_are_compared_with_the_first_that_learns_the_same_tasks(tmp_path: Path) -> None:
    tasks = ("a", "b")
    found = _analyse(
        tmp_path,
        {
            ("mtl", tasks): [_pair(12, 15), _pair(14, 16), _pair(13, 14)],
            ("frozen", tasks): [_pair(1, -1), _pair(0, 2), _pair(-1, 0)],
            ("single", ("a",)): [],
        },
    )
    assert [one["verdict"] for one in found.numbers["models"]] == [
        "distinct double dissociation",
        "none",
    ]
    assert found.numbers["models"][0]["shown"]
    (compared,) = found.numbers["comparisons"]
    assert (compared["model"], compared["reference"]) == ("frozen: a + b", "mtl: a + b")
    assert compared["found"]["difference"] == pytest.approx(-13.8, abs=0.4) and compared["p_holm"] < 0.01
    assert any(line.startswith("frozen is less specialised than mtl by 13") for line in found.summary)
    assert {figure.name for figure in found.figures} >= {"average_dissociation", "groups", "heads_per_layer_mtl-a-b"}


def test_few_examples_make_intervals_wider(tmp_path: Path) -> None:
    runs = [_pair(12, 15), _pair(12.5, 15.5), _pair(13, 16)]
    widths = []
    for examples in (100, 4000):
        found = _analyse(tmp_path / str(examples), {("mtl", ("a", "b")): runs}, examples=examples)
        low, high = found.numbers["models"][0]["average"]["interval"]
        widths.append(high - low)
    assert widths[0] > 1.5 * widths[1]


def test_models_that_score_nothing_and_models_of_one_task_are_named(tmp_path: Path) -> None:
    dead = (np.array([80.0, 0.0]), np.array([[40.0, 0.0], [70.0, 0.0]]))
    found = _analyse(
        tmp_path / "some",
        {("mtl", ("a", "b")): [_pair(5, 5)] * 2, ("dead", ("a", "b")): [dead] * 2, ("stl", ("a",)): [dead]},
    )
    assert found.summary[-1] == (
        "Not part of this: dead: a + b (b: it scores nothing even with all heads); stl: a (it learns one task)."
    )
    with pytest.raises(StageError, match="no model here has two tasks to tell apart") as error:
        _analyse(tmp_path / "none", {("dead", ("a", "b")): [dead] * 2})
    assert error.value.code == "E952"


def test_single_task_models_are_measured_as_such(root: Path, tmp_path: Path) -> None:
    made = planted.plant(Prepared.load(root / "prepared"), 1, {"type": "hard"}, asks={"previous": "previous"})
    facts = json.loads((_measure(root, tmp_path, made, Options(type="iap")) / FILE).read_bytes())
    assert facts["tasks"] == ["previous"] and "sets" not in facts


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory, toy_encoder: Path) -> ToyRun:
    """Two tasks alone and together, with two seeds each."""
    folder = tmp_path_factory.mktemp("trained")
    splits = {
        "train": toy_language.corpus(1, 120),
        "dev": toy_language.corpus(2, 30),
        "test": toy_language.corpus(3, 30),
    }
    return make_toy_run(folder, toy_encoder, toy.write_prepared(folder / "prepared", toy_encoder, splits))


@pytest.mark.parametrize("iterative", [False, True])
def test_trained_models_give_complete_findings_twice_the_same(iterative: bool, trained: ToyRun, tmp_path: Path) -> None:
    check_analysis(Options(type="iap", sentences=16, draws=2, iterative=iterative), trained, tmp_path)
    told = Findings.read(tmp_path / "findings/a").summary
    assert told[0].startswith("mtl: pos + names: ")
    assert told[-1] == "Not part of this: stl: pos (it learns one task); stl: names (it learns one task)."
