"""Who helps whom, from scores that are planted: arrows, counts, oracles, and what is made of them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mtlspec import kinds
from mtlspec.analyses.transfer_table import Options
from mtlspec.errors import StageError
from mtlspec.metrics.accuracy import TagAccuracy
from mtlspec.plan.rows import ModelRow
from mtlspec.results.findings import Findings
from mtlspec.results.jobs import AnalysisJob
from mtlspec.results.transfer import Transfer
from mtlspec.spec.families import ANALYSES, AnalysisOptions
from tests.model_rows import model_row

TASKS = ("pos", "chunk", "ner", "hyp")
SENTENCES, WORDS = 50, 20
ALONE = {"pos": 90.0, "chunk": 70.0, "ner": 60.0, "hyp": 50.0}
PAIRED = {("pos", "chunk"): 10.0, ("chunk", "pos"): 4.0, ("hyp", "ner"): -10.0, ("ner", "hyp"): 10.0}


def gain(task: str, others: Sequence[str]) -> float:
    return sum(PAIRED.get((other, task), 0.0) for other in others)


def write(root: Path, row: ModelRow, learnt: Sequence[str]) -> dict[str, Path]:
    """Seeds scatter by 0.4 points around what is planted; every sentence has as many right words."""
    folder, about, counts = root / row.evaluate, {}, {}
    folder.mkdir(parents=True)
    for task in learnt:
        score = ALONE[task] + gain(task, [other for other in learnt if other != task]) + 0.4 * (row.seed - 2)
        right = np.full(SENTENCES, round(score / 100 * WORDS * SENTENCES) // SENTENCES)
        right[: round(score / 100 * WORDS * SENTENCES) % SENTENCES] += 1
        counts[task] = np.stack([right, np.full(SENTENCES, WORDS)], 1)
        scored = {"accuracy": 100 * float(right.sum()) / (WORDS * SENTENCES)}
        about[task] = {"main": "accuracy", "columns": ["correct", "words"], "test": scored, "dev": scored}
    (folder / "scores.json").write_text(json.dumps(about))
    (folder / "metrics.json").write_text(json.dumps({task: TagAccuracy().describe() for task in learnt}))
    np.savez(folder / "counts.npz", allow_pickle=False, **counts)
    return {row.evaluate: folder}


def models(root: Path, seeds: Sequence[int] = (1, 2, 3)) -> tuple[tuple[ModelRow, ...], dict[str, Path]]:
    sets = [("stl", (task,)) for task in TASKS]
    sets += [("pair", (a, b)) for i, a in enumerate(TASKS) for b in TASKS[i + 1 :]]
    sets += [("all", TASKS), *(("but", tuple(t for t in TASKS if t != task)) for task in TASKS)]
    rows: list[ModelRow] = []
    inputs: dict[str, Path] = {}
    for group, tasks in sets:
        for seed in seeds:
            rows.append(model_row(group, tasks, seed))
            inputs |= write(root, rows[-1], tasks)
    helpers: dict[str, tuple[str, ...]] = {"pos": ("chunk",), "chunk": ("pos",), "ner": (), "hyp": ("ner",)}
    for task, chosen in helpers.items():
        for seed in seeds:
            rows.append(replace(model_row("oracle", (task,), seed), select=f"select-oracle-{task}", chosen=chosen))
            inputs |= write(root, rows[-1], (task, *chosen))
    return tuple(rows), inputs


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> tuple[tuple[ModelRow, ...], dict[str, Path]]:
    return models(tmp_path_factory.mktemp("planted"))


def run(
    planted: tuple[tuple[ModelRow, ...], Mapping[str, Path]], out: Path, **options: Any
) -> tuple[Findings, dict[str, Any]]:
    out.mkdir(parents=True)
    facts = Options(type="transfer_table", **options).run(AnalysisJob(planted[0], planted[1], out))
    return Findings.read(out), dict(facts)


@pytest.mark.parametrize("arrows", ["k_sigma", "tests"])
def test_what_was_planted_is_found(planted: Any, tmp_path: Path, arrows: str) -> None:
    findings, facts = run(planted, tmp_path / "out", arrows=arrows)
    found = Transfer.restored(findings.numbers["transfer"])
    ups = {(a, b) for a, row in found.pairs.items() for b, score in row.items() if score.arrow == "up"}
    downs = {(a, b) for a, row in found.pairs.items() for b, score in row.items() if score.arrow == "down"}
    assert ups == {("pos", "chunk"), ("chunk", "pos"), ("ner", "hyp")} and downs == {("hyp", "ner")}
    assert facts == {"tasks": 4, "pairs_higher": 3, "pairs_lower": 1}
    by = {"tests": "tests", "k_sigma": "the rule of 1.5 standard deviations"}[arrows]
    assert findings.summary[0].startswith(f"By {by}, tasks in pairs (pair) are higher than alone in 3 of 12 cases")
    assert {task: score.arrow for task, score in found.all.items()} == {
        "pos": "up", "chunk": "up", "ner": "down", "hyp": "up",
    }  # fmt: skip
    assert found.without["hyp"]["ner"].arrow == "up" and found.without["pos"]["chunk"].arrow == "down"
    assert {task: found.helpers(task) for task in TASKS} == dict(found.chosen)
    assert found.oracle["ner"].arrow == "" and found.oracle["ner"].mean == found.alone["ner"].mean
    assert found.average("chunk") == pytest.approx((80 + 70 + 70) / 3, abs=0.1)


def test_the_tables_are_laid_out_as_the_papers(planted: Any, tmp_path: Path) -> None:
    findings, _ = run(planted, tmp_path / "out")
    pairs, without, chosen = findings.tables
    assert pairs.columns == ("trained with", *TASKS, "#↑", "#↓")
    rows = {row[0].text: [cell.text for cell in row[1:]] for row in pairs.rows}
    assert rows["+pos"] == ["90.00", "80.00 ↑", "60.00", "50.00", "1", "0"]
    assert rows["+hyp"] == ["90.00", "70.00", "50.00 ↓", "50.00", "0", "1"]
    assert rows["#↑"][:4] == ["1", "1", "0", "1"] and rows["#↓"][:4] == ["0", "0", "1", "0"]
    assert rows["oracle"] == ["94.00 ↑", "80.00 ↑", "60.00", "60.00 ↑", "3", "0"]
    assert {row[0].text: row[1].text for row in without.rows}["all − pos"] == "–"
    assert [row[1].text for row in chosen.rows] == ["chunk", "pos", "none: the task alone", "ner"]
    assert r"80.00 $\uparrow$" in pairs.latex()
    assert any("Harms others most often (once): hyp." in sentence for sentence in findings.summary)


def test_one_seed_gives_no_arrow_and_says_so(tmp_path: Path) -> None:
    findings, facts = run(models(tmp_path / "one", seeds=(2,)), tmp_path / "out")
    assert facts["pairs_higher"] == facts["pairs_lower"] == 0
    assert findings.summary[-1] == "One seed does not show how seeds scatter: there are no arrows."


def test_groups_of_two_ways_of_sharing_need_two_tables(planted: Any, tmp_path: Path) -> None:
    rows, inputs = planted
    twice = (*rows, *(replace(row, group="other", evaluate=row.evaluate) for row in rows if row.group == "pair"))
    with pytest.raises(StageError, match=r"E774.*'pair' and 'other' both have models of pairs of tasks"):
        run((twice, inputs), tmp_path / "twice")
    swept = (*rows, *(replace(row, sweep=(("train.lr", 1),)) for row in rows if row.group == "pair"))
    with pytest.raises(StageError, match=r"E775.*'pair' is swept"):
        run((swept, inputs), tmp_path / "swept")
    with pytest.raises(StageError, match=r"E776.*no models of pairs"):
        run((tuple(row for row in rows if row.group != "pair"), inputs), tmp_path / "none")


@pytest.mark.parametrize("kind", ["relative_improvement", "benefit_graph", "pair_predicts_all"])
def test_analyses_go_on_from_a_table(planted: Any, tmp_path: Path, kind: str) -> None:
    run(planted, tmp_path / "table")
    analysis = kinds.parse(ANALYSES, AnalysisOptions, {"type": kind, "transfer": ["ours"]})
    assert analysis.reads() == ("ours",)
    for out in (tmp_path / "a", tmp_path / "b"):
        out.mkdir()
        facts = dict(analysis.run(AnalysisJob((), {"analyse-ours": tmp_path / "table"}, out)))
    findings = Findings.read(tmp_path / "a")
    files = {path.name: path.read_bytes() for path in (tmp_path / "a").rglob("*") if path.is_file()}
    assert files == {path.name: path.read_bytes() for path in (tmp_path / "b").rglob("*") if path.is_file()}
    assert findings.figures and findings.tables and findings.summary
    if kind == "benefit_graph":
        assert facts == {"edges": {"ours": 2}}
        assert findings.numbers["edges"]["ours"] == [
            {"source": "pos", "target": "chunk", "kind": "help each other"},
            {"source": "ner", "target": "hyp", "kind": "helps but is harmed"},
        ]
    elif kind == "relative_improvement":
        chunk = findings.numbers["gains"]["ours"][1]
        assert chunk["pairs"]["pos"] == pytest.approx(100 / 7, abs=0.2) and chunk["all"] == pytest.approx(
            100 / 7, abs=0.2
        )
        assert "3 of 4 tasks gain with some other task, 0 with every" in findings.summary[0]
    else:
        assert findings.numbers["predictions"]["ours"]["same_direction"] == 4
        assert facts["correlations"]["ours"] == pytest.approx(1.0)
        assert "+1.00 (all samples of so few tasks agree; p = " in findings.summary[0]
