"""The score matrix against numbers worked by hand."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mtlspec.analyses.score_matrix import Options
from mtlspec.errors import StageError
from mtlspec.io.write import write_json
from mtlspec.metrics.accuracy import TagAccuracy
from mtlspec.metrics.significance import holm, paired_randomisation
from mtlspec.plan.rows import ModelRow
from mtlspec.results.comparisons import Asked, ToldTests, compare
from mtlspec.results.estimates import mean_and_std
from mtlspec.results.evaluations import Evaluation
from mtlspec.results.findings import Findings
from mtlspec.results.inference import Family, compare_runs
from mtlspec.results.jobs import AnalysisJob
from mtlspec.results.learnt import with_choices
from mtlspec.results.tables import Cell, Table, latex_escape, markdown, signed
from mtlspec.results.variants import Variant, baseline_for, variants
from tests.model_rows import model_row
from tests.trainings import write_training


def _evaluation(directory: Path, correct: list[int], words: int = 10) -> None:
    counts = np.stack([np.array(correct), np.full(len(correct), words)], 1).astype(np.int64)
    score = 100 * counts[:, 0].sum() / counts[:, 1].sum()
    about = {
        "main": "accuracy",
        "columns": ["correct", "words"],
        "test": {"accuracy": score},
        "dev": {"accuracy": score},
    }
    directory.mkdir(parents=True)
    (directory / "scores.json").write_text(json.dumps({"pos": about}))
    (directory / "metrics.json").write_text(json.dumps({"pos": TagAccuracy().describe()}))
    np.savez(directory / "counts.npz", pos=counts)


def _inputs(root: Path, rows: list[ModelRow]) -> dict[str, Path]:
    """Evaluations, and trainings of equal length."""
    trained = {row.train: write_training(root / row.train, row.tasks) for row in rows}
    return {**trained, **{row.evaluate: root / row.evaluate for row in rows}}


@pytest.fixture
def two_models(tmp_path: Path) -> tuple[list[ModelRow], dict[str, Path]]:
    """stl scores 80 and 90 (mean 85, std sqrt(50)); mtl scores 92 and 96 (mean 94, std sqrt(8))."""
    rows = [model_row(group, ["pos"], seed) for group in ("stl", "mtl") for seed in (1, 2)]
    correct = [[8] * 10, [9] * 10, [9] * 8 + [10] * 2, [9] * 4 + [10] * 6]
    for row, values in zip(rows, correct, strict=True):
        _evaluation(tmp_path / row.evaluate, values)
    return rows, _inputs(tmp_path, rows)


def test_means_deviations_and_differences_are_those_worked_by_hand(two_models, tmp_path: Path) -> None:
    rows, inputs = two_models
    out = tmp_path / "out"
    facts = Options(type="score_matrix", rounds=200).run(AnalysisJob(tuple(rows), inputs, out))
    assert facts["models"] == 2
    assert facts["comparisons"] == 1
    table = Table.read(out / "tables" / "scores.json")
    stl, mtl = (row[1] for row in table.rows)
    assert stl.value == pytest.approx(85.0)
    assert stl.spread == pytest.approx(50**0.5)
    assert stl.text == "85.00 ± 7.07"
    assert mtl.value == pytest.approx(94.0)
    assert mtl.spread == pytest.approx(8**0.5)
    assert mtl.data["delta"] == pytest.approx(9.0)
    assert mtl.data["n"] == 2
    assert mtl.data["seeds"] == {"1": pytest.approx(92.0), "2": pytest.approx(96.0)}
    assert mtl.tone == ""  # with two seeds, nine points are no proof
    assert "evaluate-mtl-pos-s1" in mtl.source
    assert "seeds 1, 2" in mtl.source


def _read(inputs: dict[str, Path]) -> dict[str, Evaluation]:
    return {name: Evaluation.read(path) for name, path in inputs.items() if name.startswith("evaluate")}


def test_unequal_training_is_told_in_the_sentence_and_in_the_tables(two_models, tmp_path: Path) -> None:
    rows, inputs = two_models
    Options(type="score_matrix").run(AnalysisJob(tuple(rows), inputs, tmp_path / "equal"))
    assert Findings.read(tmp_path / "equal").summary[0].endswith("significantly below in 0.")
    for row in rows[2:]:
        write_training(inputs[row.train], ["pos"], 250, start=inputs[rows[0].train])
    Options(type="score_matrix").run(AnalysisJob(tuple(rows), inputs, tmp_path / "longer"))
    findings = Findings.read(tmp_path / "longer")
    assert findings.summary[0].endswith("significantly below in 0, but mtl had 3.5 times the updates of stl.")
    assert {one["unequal"] for one in findings.numbers["tests"]} == {", but mtl had 3.5 times the updates of stl"}
    scores, _, tests = findings.tables
    assert [[cell.text for cell in row[-2:]] for row in scores.rows] == [["100", "800"], ["350", "2,800"]]
    assert [cell.value for cell in tests.rows[0][-2:]] == [3.5, 3.5]
    assert tests.csv().splitlines()[0].endswith("times the updates,times the examples")


def test_static_pruning_is_compared_with_a_control_that_trained_as_long(two_models, tmp_path: Path) -> None:
    """Models that started from stl: one with gates, one without; the first is compared with the second."""
    rows, inputs = two_models
    started = [
        replace(model_row(group, ["pos"], seed), starts=(f"train-stl-pos-s{seed}",))
        for group in ("ft", "sp")
        for seed in (1, 2)
    ]
    started = [replace(row, gated=row.group == "sp") for row in started]
    for row, same in zip(started, (rows[2], rows[3], rows[0], rows[1]), strict=True):
        inputs[row.evaluate] = inputs[same.evaluate]
        inputs[row.train] = write_training(tmp_path / row.train, ["pos"], start=inputs[f"train-stl-pos-s{row.seed}"])
    Options(type="score_matrix").run(AnalysisJob((*rows[:2], *started), inputs, tmp_path / "out"))
    findings = Findings.read(tmp_path / "out")
    assert findings.summary[0].startswith("ft against stl: +9.00 points")
    assert findings.summary[0].endswith(", but ft had 2.0 times the updates of stl.")
    assert findings.summary[1].startswith("sp against ft: −9.00 points") and "but" not in findings.summary[1]
    tests = [dict(zip(findings.tables[2].columns, row, strict=True)) for row in findings.tables[2].rows]
    assert [(test["compared with"].value, test["its score"].value) for test in tests] == [("stl", 85), ("ft", 94)]
    assert " sp is compared with ft, which went on from the same models without gates." in findings.tables[1].caption
    assert {test.family.name for test in ToldTests.restored(findings.numbers).tests} == {"ft, sp with stl, ft"}


def test_p_values_are_those_of_runs_by_default(two_models) -> None:
    rows, inputs = two_models
    evaluations = _read(inputs)
    (comparison,) = compare(variants(rows), evaluations, Asked("stl"))
    sides = [
        [evaluations[f"evaluate-{group}-pos-s{seed}"].counts["pos"] for seed in (1, 2)] for group in ("mtl", "stl")
    ]
    assert comparison.found == compare_runs(TagAccuracy(), *sides)
    assert comparison.found.p is not None
    assert comparison.found.p > 0.1  # 92 and 96 against 80 and 90: two seeds each show nothing
    assert comparison.adjusted == comparison.found.p
    assert comparison.family == Family("mtl with stl", 1, 0.05)


def test_sentences_as_unit_pool_the_seeds_and_speak_of_trained_models(two_models, tmp_path: Path) -> None:
    rows, inputs = two_models
    evaluations = _read(inputs)
    (comparison,) = compare(variants(rows), evaluations, Asked("stl", unit="sentences", rounds=300, seed=7))
    pooled = [
        sum(evaluations[f"evaluate-{group}-pos-s{seed}"].counts["pos"] for seed in (1, 2)) for group in ("mtl", "stl")
    ]
    assert comparison.found.p == paired_randomisation(TagAccuracy(), *pooled, 300, 7)
    Options(type="score_matrix", unit="sentences", rounds=200).run(AnalysisJob(tuple(rows), inputs, tmp_path / "out"))
    findings = Findings.read(tmp_path / "out")
    assert findings.summary[0].endswith("; these trained models score significantly above in 1, below in 0.")
    told = [*findings.summary, *(table.caption for table in findings.tables)]
    assert not any("better" in text for text in told)
    assert "these trained models differ" in findings.tables[0].caption
    assert "no test of training" in findings.tables[0].caption


def test_one_seed_gives_differences_and_says_that_nothing_is_tested(two_models, tmp_path: Path) -> None:
    rows, inputs = two_models
    Options(type="score_matrix").run(AnalysisJob(tuple(row for row in rows if row.seed == 1), inputs, tmp_path / "out"))
    findings = Findings.read(tmp_path / "out")
    assert findings.summary == (
        "mtl against stl: +12.00 points on average; higher in 1 of 1 comparisons, none of which could be tested "
        "(one seed does not show how seeds scatter).",
    )
    assert findings.tables[0].caption.endswith(
        "No difference could be tested: one seed does not show how seeds scatter."
    )
    assert not any(cell.mark for table in findings.tables for row in table.rows for cell in row)


def test_runs_of_one_start_are_tested_only_against_runs_of_the_same_start(two_models, tmp_path: Path) -> None:
    rows, inputs = two_models
    one = [replace(row, starts=("train-first-s1",)) if row.group == "mtl" else row for row in rows]
    (found,) = compare(variants(one), _read(inputs), Asked("stl"))
    assert (found.delta, found.found.p, found.found.interval, found.found.error) == (
        pytest.approx(9.0),
        None,
        None,
        None,
    )
    assert found.adjusted is None and found.family is not None and found.family.size == 0
    Options(type="score_matrix").run(AnalysisJob(tuple(one), inputs, tmp_path / "one"))
    assert "start from one trained model and share its luck" in Table.read(tmp_path / "one/tables/scores.json").caption
    known = compare(variants(rows), _read(inputs), Asked("stl"))[0].found
    own = [replace(row, starts=(f"train-first-s{row.seed}",)) if row.group == "mtl" else row for row in rows]
    both = [replace(row, starts=("train-first-s1",)) for row in rows]
    for same in (own, both):
        assert compare(variants(same), _read(inputs), Asked("stl"))[0].found == known
    Options(type="score_matrix").run(AnalysisJob(tuple(both), inputs, tmp_path / "both"))
    assert "speaks of this start" in Table.read(tmp_path / "both/tables/comparisons.json").caption
    assert compare(variants(one), _read(inputs), Asked("stl", unit="sentences", rounds=100))[0].found.p is not None


def test_a_model_that_chose_nothing_is_not_tested_against_itself(two_models, tmp_path: Path) -> None:
    rows, inputs = two_models
    selected = [replace(row, group="oracle", train=f"train-o-s{row.seed}", select="select-o") for row in rows[:2]]
    for row in selected:
        inputs[row.train] = write_training(tmp_path / row.train, ["pos"])
        write_json(inputs[row.train] / "model.json", {"tasks": [{"name": "pos"}]})
    job = AnalysisJob((*rows, *selected), inputs, tmp_path / "out")
    facts = Options(type="score_matrix").run(replace(job, models=with_choices(job.models, inputs)))
    assert facts["comparisons"] == 1
    findings = Findings.read(tmp_path / "out")
    assert [test.family.size for test in ToldTests.restored(findings.numbers).tests] == [1]
    assert any("Not compared: oracle: pos (none selected). Nothing was selected" in told for told in findings.summary)
    assert not any("no single-task model to be compared with" in told for told in findings.summary)
    other = [replace(row, group="oracle", train=f"train-o-s{row.seed}", select="select-o") for row in rows[2:]]
    assert len(compare(variants(with_choices((*rows, *other), inputs)), _read(inputs), Asked("stl"))) == 2


def test_the_summary_says_what_could_have_been_found(two_models, tmp_path: Path) -> None:
    rows, inputs = two_models
    Options(type="score_matrix").run(AnalysisJob(tuple(rows), inputs, tmp_path / "out"))
    findings = Findings.read(tmp_path / "out")
    (test,) = ToldTests.restored(findings.numbers).tests
    assert findings.summary[1] == (
        f"With 2 seeds, a difference of {test.found.detectable:.2f} points is found in four of five cases at 5 % (mtl "
        "with stl): smaller ones may have been missed."
    )
    shown = next(table for table in findings.tables if table.name == "comparisons")
    assert dict(zip(shown.columns, shown.rows[0], strict=True))["could be found"].value == test.found.detectable


def test_families_are_all_comparisons_or_those_of_a_group(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    rows = [model_row(group, ["pos"], seed) for group in ("stl", "a", "b", "c") for seed in (1, 2, 3)]
    for row in rows:
        shift = {"stl": 0, "a": 1, "b": 0, "c": 2}[row.group]
        _evaluation(tmp_path / row.evaluate, [int(v) for v in rng.integers(5, 8, 30) + shift])
    evaluations = _read({row.evaluate: tmp_path / row.evaluate for row in rows})
    found = compare(variants(rows), evaluations, Asked("stl"))
    ps = [item.found.p for item in found]
    assert [item.adjusted for item in found] == pytest.approx([float(value) for value in holm(ps)])
    assert {item.family for item in found} == {Family("a, b, c with stl", 3, 0.05)}
    assert [item.significant for item in found] == [True, False, True]
    apart = compare(variants(rows), evaluations, Asked("stl", family="group"))
    assert [item.adjusted for item in apart] == ps
    assert [item.family.name for item in apart if item.family] == ["a with stl", "b with stl", "c with stl"]


def test_different_numbers_of_seeds_are_compared(two_models) -> None:
    rows, inputs = two_models
    (comparison,) = compare(variants(rows[:3]), _read(inputs), Asked("stl"))
    assert comparison.found.seeds == (1, 2)
    assert comparison.adjusted is None
    assert comparison.family == Family("mtl with stl", 0, 0.05)


def test_without_a_baseline_there_are_scores_and_a_sentence(two_models, tmp_path: Path) -> None:
    rows, inputs = two_models
    facts = Options(type="score_matrix", baseline="single").run(AnalysisJob(tuple(rows), inputs, tmp_path / "out"))
    assert facts["comparisons"] == 0
    analysis = json.loads((tmp_path / "out" / "analysis.json").read_text())
    assert analysis["tables"] == ["scores"]
    assert "no single-task model of group single" in analysis["summary"][0]


def test_counts_that_do_not_give_the_score_are_refused(two_models) -> None:
    _, inputs = two_models
    directory = inputs["evaluate-stl-pos-s1"]
    np.savez(directory / "counts.npz", pos=np.ones((10, 2), np.int64))
    with pytest.raises(StageError, match=r"E441.*counts of task 'pos' give 100.0000, its recorded score is 80.0000"):
        Evaluation.read(directory)


def test_the_same_bytes_every_time(two_models, tmp_path: Path) -> None:
    rows, inputs = two_models
    for name in ("a", "b"):
        Options(type="score_matrix", rounds=200).run(AnalysisJob(tuple(rows), inputs, tmp_path / name))
    first = sorted(path.relative_to(tmp_path / "a") for path in (tmp_path / "a").rglob("*") if path.is_file())
    assert {path.suffix for path in first} == {".json", ".csv", ".tex", ".svg", ".png"}
    for path in first:
        assert (tmp_path / "a" / path).read_bytes() == (tmp_path / "b" / path).read_bytes(), path


def _variant(group: str, tasks: tuple[str, ...], *sweep: tuple[str, Any]) -> Variant:
    return variants([model_row(group, tasks, 1, sweep)])[0]


def test_a_swept_baseline_is_matched_by_value_and_an_unswept_one_serves_all() -> None:
    low, high = (_variant("stl", ("pos",), ("train.lr", value)) for value in (0.1, 0.2))
    model = _variant("mtl", ("pos", "ner"), ("train.lr", 0.2))
    assert baseline_for(model, "pos", "stl", (low, high)) is high
    assert baseline_for(_variant("mtl", ("pos",)), "pos", "stl", (low, high)) is None
    assert baseline_for(model, "pos", "stl", (_variant("stl", ("pos",)),)) is not None
    assert baseline_for(high, "pos", "stl", (low, high)) is None


def test_a_sweep_over_kinds_with_options_is_compared_and_named_in_short(tmp_path: Path) -> None:
    points: list[Any] = [{"type": "l0", "lambda": 0.1}, "hard", {"type": "l0", "stretch": {"low": -1, "high": [1, 2]}}]
    rows = [model_row("stl", ["pos"])]
    for number, value in enumerate(points):
        rows.append(model_row("sw", ["pos"], 1, [["sharing", value]], name=f"sw{number}"))
    for number, row in enumerate(rows):
        _evaluation(tmp_path / row.evaluate, [5 + number] * 10)
    inputs = _inputs(tmp_path, rows)
    facts = Options(type="score_matrix", rounds=200).run(AnalysisJob(tuple(rows), inputs, tmp_path / "out"))
    assert facts["comparisons"] == 3
    table = Table.read(tmp_path / "out/tables/deltas.json")
    assert [(line[0].text, line[1].value) for line in table.rows] == [
        ("sw: pos [sharing l0 (lambda 0.1)]", pytest.approx(10)),
        ("sw: pos [sharing hard]", pytest.approx(20)),
        ("sw: pos [sharing l0 (stretch low -1, high 1 + 2)]", pytest.approx(30)),
    ]


def test_numbers_as_text() -> None:
    assert mean_and_std([1.0, 3.0]) == (2.0, pytest.approx(2**0.5))
    assert mean_and_std([4.0]) == (4.0, None)
    assert [signed(value) for value in (0.5, -0.5, 0.001, -0.001)] == ["+0.50", "−0.50", "0.00", "0.00"]


def test_tables_escape_what_their_format_would_run() -> None:
    hostile = "a_b & 50% | <b> =1"
    table = Table("t", "T", "100 %", ("x_y", "n"), (("", ((Cell(hostile, "=cmd()"), Cell("1.00", 1.0)),)),))
    assert r"a\_b \& 50\% | $<$b$>$ =1" in table.latex()
    assert table.csv() == "x_y,n\n'=cmd(),1.0\n"
    assert r"a\_b & 50% \| \<b\> =1" in markdown(table)
    assert latex_escape("\\{") == r"\textbackslash{}\{"
