"""The pruning table: masked and pruned models predict alike, and the figures are those worked out by hand."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mtlspec.analyses._pruning_cost import multiply_adds
from mtlspec.analyses.pruning_table import Options
from mtlspec.data.prepared import Prepared
from mtlspec.io.digest import digest_tree
from mtlspec.model.encoder.encoder import Encoder
from mtlspec.plan.rows import ModelRow
from mtlspec.results.findings import Findings
from mtlspec.results.jobs import AnalysisJob, Measurement
from mtlspec.results.tables import Table
from tests.model_rows import model_row
from tests.trainings import write_training
from tests.unit.analyses.gated_models import CLOSED, OPEN, write_model

HALF = [[OPEN, 0.5, CLOSED, CLOSED], [CLOSED, OPEN, -0.5, CLOSED]]
EMPTY_LAYER = [[CLOSED] * 4, [OPEN, OPEN, OPEN, 1.0]]
OPTIONS = Options(type="pruning_table", rounds=2, sentences=8)
Made = tuple[list[ModelRow], dict[str, Path], dict[str, Any]]


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory, toy_encoder: Path, toy_prepared: Path) -> Made:
    """stl without gates, sp with half of the heads, dp for two tasks with an empty layer; two seeds each."""
    root, data = tmp_path_factory.mktemp("models"), Prepared.load(toy_prepared)
    rows, inputs, found = [], {}, {}
    for group, tasks, gates in (("stl", ["pos"], None), ("sp", ["pos"], HALF), ("dp", ["pos", "ner"], EMPTY_LAYER)):
        for seed in (1, 2):
            one = model_row(group, tasks, seed)
            train = write_model(root / one.train, toy_encoder, data, tasks, seed, gates)
            out = root / one.measure
            out.mkdir()
            found[one.measure] = OPTIONS.measure(Measurement(one, {"train": train, "prepare-toy": toy_prepared}, out))
            rows.append(one)
            inputs |= {one.measure: out, one.train: train}
    return rows, inputs, found


def test_pruned_models_predict_what_masked_ones_do(measured: Made) -> None:
    _, inputs, _ = measured
    for name, kept in (("measure-sp-pos-s1", [0.5, 0.5]), ("measure-dp-pos-ner-s2", [0.0, 1.0])):
        about = json.loads((inputs[name] / "pruning.json").read_bytes())
        assert about["gated"] and about["share"] == 0.5 and about["share_by_layer"] == kept
        assert about["max_difference"] <= 1e-5
        assert about["heads"] == {"before": 8, "after": 4}
        assert set(about["changed_predictions"].values()) == {0}
        assert about["parameters"]["after"] < about["parameters"]["before"]
        for task in about["tasks"].values():
            assert task["masked"] == task["pruned"]
    plain = json.loads((inputs["measure-stl-pos-s1"] / "pruning.json").read_bytes())
    assert not plain["gated"] and plain["share_by_layer"] == [1.0, 1.0] and "pruned" not in plain["tasks"]["pos"]


def test_work_is_counted_by_hand(toy_encoder: Path, toy_prepared: Path, measured: Made) -> None:
    """Width 32, heads of 8, feed-forward 64, two layers."""
    split = Prepared.load(toy_prepared).test
    lengths = [count + 2 for count in split.piece_counts.tolist()]

    def work(heads: int) -> int:
        return sum(n * 4 * 32 * 8 * heads + 2 * n * n * 8 * heads + 2 * (n * 2 * 32 * 64) for n in lengths)

    assert multiply_adds(Encoder.load(toy_encoder), split) == work(8)
    about = json.loads((measured[1]["measure-sp-pos-s1"] / "pruning.json").read_bytes())
    assert about["multiply_adds"] == pytest.approx(work(4) / work(8))


def test_speeds_are_told_and_never_written(measured: Made) -> None:
    _, inputs, found = measured
    timings = found["measure-dp-pos-ner-s1"].timings
    parts = [f"{form}_{part}samples_per_second" for form in ("whole", "masked", "pruned") for part in ("", "encoder_")]
    gains = [f"{part}speed_up_over_{form}" for form in ("whole", "masked") for part in ("", "encoder_")]
    assert set(timings) == {*parts, *gains} and all(value > 0 for value in timings.values())
    assert set(found["measure-stl-pos-s1"].timings) == {
        "masked_samples_per_second",
        "masked_encoder_samples_per_second",
    }
    places = [directory for name, directory in inputs.items() if name.startswith("measure")]
    assert {path.name for directory in places for path in directory.iterdir()} == {"pruning.json", "counts.npz"}
    assert all("second" not in (directory / "pruning.json").read_text() for directory in places)


def test_measuring_again_gives_the_same_bytes(measured: Made, toy_prepared: Path, tmp_path: Path) -> None:
    rows, inputs, _ = measured
    one = rows[2]
    again = tmp_path / "again"
    again.mkdir()
    train = inputs[one.measure].parent / one.train
    OPTIONS.measure(Measurement(one, {"train": train, "prepare-toy": toy_prepared}, again))
    assert digest_tree(again) == digest_tree(inputs[one.measure])


def test_the_table_compares_with_the_whole_single_task_model(measured: Made, tmp_path: Path) -> None:
    rows, inputs, _ = measured
    facts = OPTIONS.run(AnalysisJob(tuple(rows), inputs, tmp_path))
    assert facts == {"models": 3, "pruned": 2}
    table = Table.read(tmp_path / "tables/pruning.json")
    assert [(heading, [line[0].text for line in lines]) for heading, lines in table.sections] == [
        ("pos", ["stl: pos", "sp: pos", "dp: pos + ner"]),
        ("ner", ["dp: pos + ner"]),
    ]
    (stl, sp, _), (ner,) = (lines for _, lines in table.sections)
    assert sp[2].value == sp[1].value and sp[5].value == 50.0 and sp[8].value == 0
    assert sp[3].value == pytest.approx(float(sp[2].value or 0) - float(stl[1].value or 0))
    assert stl[2].text == "–" and ner[3].text == "–" and ner[4].text == "–"
    low, high = sp[4].data["interval"]  # two seeds, six sentences: nothing is known
    assert low < float(sp[3].value or 0) < high
    assert sp[4].data["within 1"] == "undecided"
    findings = Findings.read(tmp_path)
    assert findings.summary[0].startswith("sp keeps 50 % of the heads and scores ")
    assert findings.summary[0].endswith(
        " is excluded in 0 of 1 comparisons by their intervals, shown in 0, undecided in 1."
    )
    assert findings.summary[-1].endswith(" and 0 predictions.")
    OPTIONS.run(AnalysisJob(tuple(rows), inputs, tmp_path / "again"))
    first = {path.relative_to(tmp_path): path.read_bytes() for path in (tmp_path / "figures").iterdir()}
    assert first == {
        path.relative_to(tmp_path / "again"): path.read_bytes() for path in (tmp_path / "again/figures").iterdir()
    }


def test_a_control_that_trained_as_long_takes_the_place_of_the_baseline(measured: Made, tmp_path: Path) -> None:
    """Without one, the sentence says that pruned models were trained for longer."""
    rows, inputs, _ = measured
    stl, pruned = rows[:2], [replace(row, starts=(f"train-stl-pos-s{row.seed}",), gated=True) for row in rows[2:4]]
    control = [replace(model_row("ft", ["pos"], row.seed), starts=row.starts) for row in pruned]
    inputs = dict(inputs)
    for row, whole in zip([*pruned, *control], [*stl, *stl], strict=True):
        inputs[row.train] = write_training(tmp_path / row.train, ["pos"], 50, start=inputs[whole.train])
    for row, whole in zip(control, stl, strict=True):
        inputs[row.measure] = inputs[whole.measure]
    OPTIONS.run(AnalysisJob((*stl, *pruned), inputs, tmp_path / "without"))
    told = Findings.read(tmp_path / "without").summary[0]
    assert " points against stl, " in told and told.endswith(", but sp had 1.5 times the updates of stl.")
    OPTIONS.run(AnalysisJob((*stl, *pruned, *control), inputs, tmp_path / "with"))
    findings = Findings.read(tmp_path / "with")
    assert " points against ft, " in findings.summary[0] and "but" not in findings.summary[0]
    (table,) = findings.tables
    assert "sp is compared with ft, which went on from the same models without gates. Its interval" in table.caption
    lengths = {line[0].text: [cell.text for cell in line[-2:]] for line in table.rows}
    assert lengths == {"stl: pos": ["100", "800"], "sp: pos": ["150", "1,200"], "ft: pos": ["150", "1,200"]}
    assert table.csv().splitlines()[0].endswith(",updates,examples")


def test_joint_models_are_compared_with_the_joint_model_without_gates(measured: Made, tmp_path: Path) -> None:
    """Beside a single-task model, what joint training costs would look like the price of pruning."""
    rows, inputs = measured[0], dict(measured[1])
    stl, joint = rows[:2], rows[4:]
    OPTIONS.run(AnalysisJob((*stl, *joint), inputs, tmp_path / "single"))
    findings = Findings.read(tmp_path / "single")
    assert " points against stl (what joint training costs included), on average" in findings.summary[0]
    assert findings.numbers["groups"][0]["unequal"].startswith(" (what joint training costs included)")
    assert "What joint training costs is in the Δ of dp." in findings.tables[0].caption
    whole = [_without_gates("mtl", row, inputs, tmp_path, updates=100) for row in joint]
    longer = [_without_gates("drawn", row, inputs, tmp_path, updates=200) for row in joint]
    OPTIONS.run(AnalysisJob((*stl, *joint, *whole, *longer), inputs, tmp_path / "joint"))
    findings = Findings.read(tmp_path / "joint")
    assert " points against mtl, on average" in findings.summary[0] and "joint training" not in findings.summary[0]
    (group,) = findings.numbers["groups"]
    assert group["against"] == "mtl" and group["unequal"] == ""
    assert [loss["difference"] for loss in group["losses"]] == [0.0, 0.0]  # the very same predictions: nothing is lost
    caption = findings.tables[0].caption
    assert "dp is compared with mtl, which learns the same tasks together without gates. Its interval" in caption
    OPTIONS.run(AnalysisJob((*stl, *joint, *longer), inputs, tmp_path / "longer"))
    (told,) = Findings.read(tmp_path / "longer").numbers["groups"]
    assert told["against"] == "drawn" and told["unequal"] == ", but dp had 0.50 times the updates of drawn"


def _without_gates(group: str, row: ModelRow, inputs: dict[str, Path], root: Path, updates: int) -> ModelRow:
    """A model of the same tasks that has no gates and predicts what the gated one does."""
    one = model_row(group, row.tasks, row.seed)
    inputs[one.train] = write_training(root / one.train, row.tasks, updates)
    inputs[one.measure] = root / one.measure
    shutil.copytree(inputs[row.measure], root / one.measure)
    told = json.loads((inputs[row.measure] / "pruning.json").read_bytes())
    (root / one.measure / "pruning.json").write_text(json.dumps({**told, "gated": False}))
    return one


def test_runs_that_share_one_start_have_no_interval(measured: Made, tmp_path: Path) -> None:
    rows, inputs, _ = measured
    pruned = [replace(row, starts=("train-stl-pos-s1",), gated=True) for row in rows[2:4]]
    OPTIONS.run(AnalysisJob((*rows[:2], *pruned), inputs, tmp_path))
    line = Table.read(tmp_path / "tables/pruning.json").rows[1]
    assert line[3].value is not None and line[4].text == "–" and line[4].data["p"] is None


def test_without_gates_it_says_so(measured: Made, tmp_path: Path) -> None:
    rows, inputs, _ = measured
    OPTIONS.run(AnalysisJob(tuple(rows[:2]), inputs, tmp_path))
    assert "nothing was pruned" in Findings.read(tmp_path).summary[0]


def test_a_missing_or_gated_baseline_is_told(measured: Made, tmp_path: Path) -> None:
    rows, inputs, _ = measured
    OPTIONS.run(AnalysisJob(tuple(rows[2:]), inputs, tmp_path / "none"))
    table, why = Table.read(tmp_path / "none/tables/pruning.json"), "the group stl is not part of this analysis"
    assert all(line[3].text == line[4].text == "–" for line in table.rows)
    assert f"Δ is empty: {why}; name it under `models`." in table.caption and "Δ is the" not in table.caption
    assert f"What pruning costs is not told: {why}; name it under `models`." in Findings.read(tmp_path / "none").summary
    OPTIONS.model_copy(update={"baseline": "sp"}).run(AnalysisJob(tuple(rows[2:]), inputs, tmp_path / "gated"))
    caption = Table.read(tmp_path / "gated/tables/pruning.json").caption
    assert "single-task model of sp, which has gates itself and is taken with closed heads masked. Its" in caption
