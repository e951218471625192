"""Published figures beside ours, and verdicts that follow from tests."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mtlspec.io.digest import canonical_json
from mtlspec.metrics.attachment import Attachment
from mtlspec.plan.rows import restored_rows
from mtlspec.report.published import Ours, Side, bring_together, role_of
from mtlspec.report.published_findings import Finding, published_findings
from mtlspec.report.published_section import published_section
from mtlspec.report.published_tests import compared_scores, told_tests
from mtlspec.results.comparisons import ToldTest, ToldTests, difference_of
from mtlspec.results.evaluations import Evaluation, read_evaluations
from mtlspec.results.findings import Findings
from mtlspec.results.inference import Difference, Family
from mtlspec.results.lengths import Times
from mtlspec.results.tables import Table
from mtlspec.results.variants import Variant, variants
from mtlspec.spec.packs import Pack, load_pack
from tests.finished_run import FinishedRun, make_run
from tests.model_rows import model_row

TASKS = ("pos", "ner", "dep", "con", "srl")
MODEL = Variant("mtl", TASKS, (), (model_row("mtl", TASKS),))
BERT = load_pack("stem_cell/bert")


@pytest.fixture(scope="module")
def beside(tmp_path_factory: pytest.TempPathFactory) -> FinishedRun:
    return make_run(tmp_path_factory.mktemp("project"), tasks=("pos", "dep", "con"), compare_to="stem_cell/bert")


def _side(**deltas: tuple[float, float | None]) -> Side:
    """`mtl__pos=(delta, p)`; a pair is `pos_ner__pos`."""
    ours = {}
    for key, (delta, p) in deltas.items():
        role, _, task = key.partition("__")
        name = role.replace("_", "+") if role.count("_") == 1 and not role.endswith(("dp", "sp")) else role
        ours[name, task] = Ours(90.0, 0.1, MODEL, Difference(delta, "runs", (3, 3)), p)
    return Side(BERT, TASKS, ours, {}, 0.05)


def _runs(*shares: float) -> dict[str, float]:
    return {f"train-{number}": share for number, share in enumerate(shares)}


def _role(sharing: dict[str, Any], tasks: tuple[str, ...], pack: Pack = BERT) -> str | None:
    return role_of(Variant("any", tasks, (), ()), {"models": {"any": {"sharing": sharing}}}, pack)


def _verdict(side: Side, start: str) -> Finding:
    return next(finding for finding in published_findings(side) if finding.statement.startswith(start))


@pytest.mark.parametrize(
    ("delta", "p", "verdict"),
    [(-1.0, 0.001, "holds"), (1.0, 0.001, "does not hold"), (-1.0, 0.2, "undecided"), (-1.0, None, "undecided")],
)
def test_a_finding_follows_the_tests_and_not_the_means(delta: float, p: float | None, verdict: str) -> None:
    side = _side(**{f"mtl__{task}": (delta, p) for task in TASKS})
    finding = _verdict(side, "All tasks together are")
    assert finding.published == "below in 5 of 5 tasks, −0.31 points on average"
    assert finding.verdict == verdict


def test_a_finding_at_unequal_training_says_so() -> None:
    roles = {"mtl": TASKS, "stl_dp": TASKS, "con_srl": ("con", "srl")}
    side = _side(**{f"{role}__{task}": (-1.0, 0.001) for role, tasks in roles.items() for task in tasks})
    longer = replace(side, ours={key: replace(ours, times=Times(5.0, 1.0)) for key, ours in side.ours.items()})
    for start in ("All tasks together are", "Pruning while training", "No pair", "con mostly"):
        assert "but" not in _verdict(side, start).here
        told = ", but our models had 5.0 times the updates of single-task ones, with as many examples of a task"
        assert _verdict(longer, start).here.endswith(told)
        assert _verdict(longer, start).verdict == _verdict(side, start).verdict


def test_a_pair_that_surely_gains_on_both_sides_refutes_that_none_does() -> None:
    gain = _side(con_srl__con=(0.5, 0.01), con_srl__srl=(0.5, 0.01))
    assert _verdict(gain, "No pair").verdict == "does not hold"
    half_sure = _side(con_srl__con=(0.5, 0.01), con_srl__srl=(0.5, 0.5))
    assert _verdict(half_sure, "No pair").verdict == "undecided"
    one_pair = _side(con_srl__con=(0.5, 0.01), con_srl__srl=(-0.1, 0.001))
    assert _verdict(one_pair, "No pair").verdict == "undecided"


@pytest.mark.parametrize(("p", "verdict"), [(0.001, "holds"), (0.5, "undecided")])
def test_that_no_pair_gains_needs_a_sure_loss_in_every_pair(p: float, verdict: str) -> None:
    names = [tuple(name.split("+")) for name in BERT.pairs]
    side = _side(**{f"{a}_{b}__{task}": (0.5 if task == a else -0.5, p) for a, b in names for task in (a, b)})
    assert _verdict(side, "No pair").verdict == verdict


def test_electra_s_own_figures_have_two_pairs_that_gain() -> None:
    side = replace(_side(), pack=load_pack("stem_cell/electra"))
    finding = _verdict(side, "Some pairs")
    assert finding.published == "2 of 10 pairs (pos+ner, pos+srl)"
    assert finding.verdict == "not in this run"


@pytest.mark.parametrize(
    ("shares", "verdict"),
    [((46.0, 48.0, 50.0), "holds"), ((99.0, 100.0, 99.0), "does not hold"), ((10.0, 90.0), "undecided")],
)
def test_the_share_of_heads_needs_an_interval(shares: tuple[float, ...], verdict: str) -> None:
    side = replace(_side(), kept={("stl_dp", "pos"): _runs(*shares)})
    assert _verdict(side, "stl_dp keeps about 48 %").verdict == verdict


@pytest.mark.parametrize("share", [48.0, 100.0])
def test_one_run_has_no_interval_and_so_no_verdict(share: float) -> None:
    finding = _verdict(replace(_side(), kept={("stl_dp", "pos"): _runs(share)}), "stl_dp keeps")
    assert (finding.verdict, finding.test) == ("undecided", "one run: no interval")


def test_a_joint_run_counts_once_and_not_once_a_task() -> None:
    shares = _runs(45.0, 55.0)
    finding = _verdict(replace(_side(), kept={("mtl_dp", task): shares for task in TASKS}), "mtl_dp keeps")
    assert finding.test.startswith("95 % t interval over 2 runs: 0 to 100 %")  # five times each: 46 to 54
    assert finding.verdict == "undecided"


def test_tasks_are_blocks_and_not_more_runs_of_one_model() -> None:
    """Five tasks whose runs agree: that tasks keep different shares does not widen the interval of their mean."""
    kept = {
        ("stl_dp", task): {f"{task}-{seed}": share + seed for seed in (1, 2, 3)}
        for task, share in zip(TASKS, (26.0, 36.0, 46.0, 56.0, 66.0), strict=True)
    }
    finding = _verdict(replace(_side(), kept=kept), "stl_dp keeps")
    assert finding.here == "48 % on average, tasks from 28 to 68 %"
    assert finding.test.startswith("95 % t interval over 15 runs of 5 tasks: 47 to 49 %")
    assert finding.verdict == "holds"
    one_run = kept | {("stl_dp", "srl"): {"srl-1": 67.0}}
    assert _verdict(replace(_side(), kept=one_run), "stl_dp keeps").verdict == "undecided"


def test_roles_come_from_what_models_are_and_not_from_their_names() -> None:
    assert _role({"type": "hard"}, ("dep",)) == "stl"
    assert _role({"type": "hard"}, ("srl", "ner")) == "ner+srl"
    assert _role({"type": "l0", "mode": "dynamic"}, ("dep",)) == "stl_dp"
    assert _role({"type": "l0", "mode": "static"}, ("dep",)) == "stl_sp"
    assert _role({"type": "l0", "mode": "dynamic"}, TASKS) == "mtl_dp"
    assert _role({"type": "l0", "mode": "dynamic"}, TASKS[:2]) is None
    assert _role({"type": "hard"}, TASKS) == "mtl"
    assert _role({"type": "hard"}, TASKS[:2]) == "pos+ner"  # also where a spec has no other tasks
    assert _role({"type": "hard"}, TASKS[:4]) is None
    assert _role({"type": "other"}, TASKS) is None


def test_roles_survive_that_stored_parameters_have_sorted_keys() -> None:
    stored = json.loads(canonical_json(BERT.model_dump(mode="json")))
    shuffled = Pack.model_validate(stored)
    assert _role({"type": "hard"}, ("pos", "dep"), shuffled) == "pos+dep"
    assert set(replace(_side(), pack=shuffled).roles) == {*BERT.scores, *BERT.pairs}
    assert replace(_side(), pack=shuffled).roles[0] == "stl"
    again = Pack.restored(json.loads(canonical_json(BERT.stored())))
    assert again == BERT
    assert [*again.metrics, *again.pairs, *again.scores] == [*BERT.metrics, *BERT.pairs, *BERT.scores]


def test_a_sweep_over_the_kind_of_sharing_leaves_a_model_without_a_role() -> None:
    spec = {"models": {"any": {"sharing": {"type": "hard"}}}}
    swept = Variant("any", ("pos",), (("sharing", {"type": "l0"}),), ())
    assert role_of(swept, spec, BERT) is None
    assert role_of(replace(swept, sweep=(("train.epochs", 3),)), spec, BERT) == "stl"


@pytest.mark.parametrize(("values", "shown"), [((0.5,), True), ((0.5, 1000), False)])
def test_a_group_with_several_sweep_points_is_not_set_beside_the_paper(
    beside: FinishedRun, values: tuple[float, ...], shown: bool
) -> None:
    report = beside.plan.stage("report")
    params, inputs = report.params, {role: beside.places.artifact(name) for role, name in report.inputs.items()}
    stl = next(variant for variant in variants(restored_rows(params["models"])) if variant.tasks == ("pos",))
    models = [replace(stl, sweep=(("train.epochs", value),)) for value in values]
    evaluations = read_evaluations([stl], inputs)
    side = bring_together(BERT, params["spec"], models, evaluations, [], inputs)
    assert (("stl", "pos") in side.ours) == shown


def test_mostly_means_more_than_half_of_the_papers_tasks() -> None:
    one_of_two = _side(mtl_dp__pos=(-1.0, 0.001), mtl_dp__ner=(0.1, 0.6))
    assert _verdict(one_of_two, "All tasks together, pruned,").verdict == "undecided"
    three = _side(**{f"mtl_dp__{task}": (-1.0, 0.001) for task in TASKS[:3]})
    assert _verdict(three, "All tasks together, pruned,").verdict == "holds"
    assert _verdict(_side(pos_ner__ner=(1.0, 0.001)), "ner mostly gains").verdict == "undecided"


@pytest.mark.parametrize(
    ("interval", "p", "verdict"),
    [
        ((-0.4, 0.2), 0.9, "holds"),
        ((-3.0, 2.0), 0.9, "undecided"),
        (None, 0.9, "undecided"),
        ((-4.0, -2.0), None, "does not hold"),
        (None, 0.001, "does not hold"),
    ],
)
def test_scores_are_kept_if_intervals_exclude_a_loss_and_not_if_nothing_is_significant(
    interval: tuple[float, float] | None, p: float | None, verdict: str
) -> None:
    side = _side(**{f"stl_dp__{task}": (-0.1, p) for task in TASKS})
    side = replace(
        side,
        ours={
            key: replace(ours, found=Difference(-0.1, "runs", (3, 3), interval=interval))
            for key, ours in side.ours.items()
        },
    )
    assert _verdict(side, "Pruning while training").verdict == verdict
    fewer = replace(side, ours={key: ours for key, ours in side.ours.items() if key[1] != "srl"})
    assert _verdict(fewer, "Pruning while training").verdict == ("undecided" if verdict == "holds" else verdict)


def test_the_chapter_shows_both_sides(beside: FinishedRun) -> None:
    folder = beside.places.artifact("report")
    scores = Table.read(folder / "tables" / "beside-paper" / "scores_beside.json")
    assert scores.columns[1:] == ("pos, paper", "pos, here", "dep, paper", "dep, here", "con, paper", "con, here")
    stl = next(row for row in scores.rows if row[0].value == "stl")
    assert stl[1].text == "98.32 ± 0.02"
    assert "evaluate-stl-pos-s1" in stl[2].source
    page = (folder / "report.html").read_text()
    assert "Beside the paper: The Stem Cell Hypothesis, BERT" in page
    assert (folder / "figures" / "beside-paper" / "changes_beside.svg").is_file()


def test_every_pair_finds_its_row_and_rows_have_the_papers_order(beside: FinishedRun) -> None:
    changes = Table.read(beside.places.artifact("report") / "tables" / "beside-paper" / "changes.json")
    expected = [name for name in BERT.pairs if name != "ner+srl"]  # the run has neither of the two
    assert [row[0].value for row in changes.rows] == [*expected, "mtl", "stl_sp", "stl_dp", "mtl_dp"]
    shown = {str(row[0].value): sum(cell.text not in ("", "–") for cell in row[2::2]) for row in changes.rows}
    assert {role for role, number in shown.items() if number} == {"pos+dep", "pos+con", "dep+con"}
    assert shown["mtl"] == 0  # three tasks together are not the paper's five


def test_a_task_without_test_labels_stands_beside_the_paper_with_a_dash(beside: FinishedRun, tmp_path: Path) -> None:
    params = beside.plan.stage("report").params
    models = variants(restored_rows(params["models"]))
    inputs = {stage.name: beside.places.artifact(stage.name) for stage in beside.plan.stages}
    unlabelled = {
        name: replace(
            found,
            scores={
                task: {key: value for key, value in about.items() if (task, key) != ("dep", "test")}
                for task, about in found.scores.items()
            },
        )
        for name, found in read_evaluations(models, inputs).items()
    }
    side = bring_together(BERT, params["spec"], models, unlabelled, [], inputs)
    assert side.unscored == ("dep",)
    assert {task for _, task in side.ours} == {"pos", "con"}
    assert _verdict(side, "dep mostly").verdict == "not in this run"
    section = published_section(replace(side, kept={("stl_dp", "dep"): _runs(50.0)}), tmp_path)
    tables = {table.name: table for table in section.tables}
    assert tables["scores_beside"].caption.count("Here, test has no labels of dep, or constant gold.") == 1
    row = next(row for row in tables["heads_beside"].rows if row[0].text == "stl_dp")
    assert row[tables["heads_beside"].columns.index("dep, here")].text == "50.00"


def _trees(seed: int, words: float, marks_right: float) -> Evaluation:
    """Counts of 40 sentences of ten words, two of them punctuation, with the chances that a word or a mark is right."""
    rng = np.random.default_rng(seed)
    inner, marks = rng.binomial(8, words, 40), rng.binomial(2, marks_right, 40)
    columns = [inner + marks, inner + marks, np.full(40, 10), inner, inner, np.full(40, 8)]
    metric, counts = Attachment("unicode_p"), np.stack(columns, axis=1)
    scores = {name: float(value) for name, value in metric.score_rows(counts).items()}
    return Evaluation({"dep": {"main": "las", "labels": {}, "test": scores}}, {"dep": metric}, {"dep": counts})


def test_like_is_compared_with_like_where_las_is_published_without_punctuation() -> None:
    rows = [model_row(group, tasks, seed) for group, tasks in (("stl", ["dep"]), ("mtl", TASKS)) for seed in (1, 2, 3)]
    found = {row.evaluate: _trees(row.seed, *((0.9, 0.5) if row.group == "stl" else (0.7, 0.9))) for row in rows}
    models = variants([replace(row, tasks=("dep",)) if row.group == "stl" else row for row in rows])
    single, joint = models
    family = Family("mtl with stl", 2, 0.05)
    by_las = difference_of(joint, single, "dep", found)
    told = [ToldTest(joint.label, task, single.label, by_las, family, 0.9) for task in ("dep",)]
    matrix = Findings("score_matrix", "", (), (), (), ToldTests("stl", 0.05, tuple(told)).stored())
    scores = compared_scores(BERT, TASKS, [single], found)
    assert scores == {"dep": "las_no_punct"}
    tests, _ = told_tests([matrix], models, found, scores)
    test = tests[joint.label, "dep", single.label]
    expected = difference_of(joint, single, "dep", found, score="las_no_punct")
    assert test.found == expected
    assert test.p_holm == expected.p
    assert expected.difference == pytest.approx(-20, abs=4)
    assert abs(by_las.difference - expected.difference) > 3
    assert told_tests([matrix], models, found, {"dep": "las"})[0][joint.label, "dep", single.label].found == by_las


def test_another_score_than_the_published_one_is_named(beside: FinishedRun) -> None:
    table = Table.read(beside.places.artifact("report") / "tables/beside-paper/scores_beside.json")
    assert "dep LAS without punctuation" in table.caption
    assert "Not the same score: here, dep is F1, not LAS without punctuation." in table.caption
