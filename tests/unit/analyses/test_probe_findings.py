"""Both probes from trained models to tables: what a reader of the report relies on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mtlspec.analyses import attended_value_probe, attention_probe
from mtlspec.analyses._probes.changes import changes_of
from mtlspec.analyses._probes.hits import read_hits
from mtlspec.analyses._probes.results import gather
from mtlspec.analyses._probes.tables import summary
from mtlspec.io.digest import digest_tree
from mtlspec.plan.rows import ModelRow
from mtlspec.results.findings import Findings
from mtlspec.results.jobs import AnalysisJob, Measurement
from mtlspec.results.lengths import Length, Seen
from tests import toy
from tests.model_rows import model_row

Study = tuple[list[ModelRow], dict[str, Path]]


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """Single-task models of `pos` and `ner` and a joint one, two seeds each, trained for a moment."""
    root = tmp_path_factory.mktemp("study")
    encoder = toy.write_encoder(root / "encoder")
    splits = {"train": toy.corpus(1, 16), "dev": toy.corpus(2, 30), "test": toy.corpus(3, 30)}
    prepared = toy.write_prepared(root / "prepare", encoder, splits)
    rows, inputs = [], {"encoder": encoder, "prepare-toy": prepared}
    for group, tasks in (("stl", ["pos"]), ("stl", ["ner"]), ("mtl", ["pos", "ner"])):
        for seed in (1, 2):
            name = f"{group}-{'-'.join(tasks)}-s{seed}"
            toy.run_train(root / name, encoder, prepared, toy.train_params(tasks, seed=seed, epochs=1))
            inputs[f"train-{name}"] = root / name / "out"
            rows.append(model_row(group, tasks, seed))
    return rows, inputs


def _probe(module: Any, study: Study, root: Path, **options: Any) -> tuple[Any, Path]:
    rows, inputs = study
    parsed = module.Options(type=module.__name__.rsplit(".", 1)[-1], **options)
    shared = {"prepare-toy": inputs["prepare-toy"]}
    measured: dict[str, Path] = {}
    for row in (None, *rows):
        name = "measure-encoder" if row is None else str(row.measure)
        place = measured[name] = root / name
        place.mkdir(parents=True)
        own = {"encoder": inputs["encoder"]} if row is None else {"train": inputs[row.train]}
        parsed.measure(Measurement(row, shared | own, place))
    facts = parsed.run(AnalysisJob(tuple(rows), {**inputs, **measured}, root / "out"))
    return facts, root / "out"


def test_value_probes_of_trained_models(study: Study, tmp_path: Path) -> None:
    facts, out = _probe(attended_value_probe, study, tmp_path, pos="pos", ner="ner", con="con", min_count=10)
    findings = Findings.read(out)
    table = next(table for table in findings.tables if table.name == "labels_pos")
    assert table.columns == (
        "label",
        "items",
        "stl",
        "pre-trained",
        "mtl + ner",
        "random encoder",
        "shuffled labels (stl)",
    )
    assert facts["labels"]["pos"] == len(table.rows) - 1
    mean, first = table.rows[0], table.rows[1]
    assert mean[0].text == "mean of labels"
    assert [bool(row[0].data.get("summary")) for row in table.rows] == [True] + [False] * (len(table.rows) - 1)
    labels = table.rows[1:]
    assert mean[2].value == pytest.approx(sum(row[2].value for row in labels) / len(labels))  # type: ignore[misc]
    assert [row[1].value for row in labels] == sorted((row[1].value for row in labels), reverse=True)  # type: ignore[type-var]
    assert first[4].data["delta"] == pytest.approx(first[4].value - first[2].value)  # type: ignore[operator]
    assert "train-mtl-pos-ner-s1" in first[4].source
    assert "seeds 1, 2" in first[4].source
    assert {figure.name for figure in findings.figures} >= {"layers_pos", "changes_pos", "layers_ner"}
    assert "shuffled labels (stl): the same heads, asked for labels that mean nothing." in table.caption
    con = next(table for table in findings.tables if table.name == "labels_con")
    assert "stl" not in con.columns  # no model learns it: the pre-trained encoder and the controls remain
    assert ("mtl-pos-ner", 2, "pos") in read_hits(out)


def test_attention_probes_of_models_that_learn_something_else(study: Study, tmp_path: Path) -> None:
    facts, out = _probe(attention_probe, study, tmp_path, dep="dep", srl="srl")
    findings = Findings.read(out)
    table = next(table for table in findings.tables if table.name == "labels_dep")
    assert table.columns == ("label", "items", "pre-trained", "random encoder", "position alone", "random attention")
    assert facts["labels"]["dep"] >= 3
    assert len(findings.summary) == 2
    assert all("position alone" in said and "random attention" in said for said in findings.summary)
    assert "shuffled" not in " ".join(findings.summary)
    assert all(row[1].value >= 20 for row in table.rows[1:])  # type: ignore[operator]


def test_labels_without_enough_items_leave_a_sentence(study: Study, tmp_path: Path) -> None:
    facts, out = _probe(attention_probe, study, tmp_path, srl="srl", min_count=100_000)
    assert facts["labels"] == {"srl": 0}
    assert Findings.read(out).summary == ("srl: no label has enough items to be probed.",)


@pytest.mark.parametrize(
    ("updates", "drawn", "expected"),
    [
        (5, 5, ")."),
        (15, 5, ", but mtl had 3.0 times the updates of stl, with as many examples of a task."),
        (5, 2, ", but tasks of mtl read 0.40 times the examples of stl, in as many updates."),
    ],
)
def test_a_joint_model_at_another_length_is_told_as_such(
    study: Study, tmp_path: Path, updates: int, drawn: int, expected: str
) -> None:
    """A model of three tasks or more is told beside single-task models."""
    rows, inputs = study
    _, out = _probe(attended_value_probe, study, tmp_path, pos="pos", min_count=10)
    options = attended_value_probe.Options(type="attended_value_probe", pos="pos", min_count=10)
    measured = {str(row.measure): tmp_path / str(row.measure) for row in rows}
    places = {**inputs, **measured, "measure-encoder": tmp_path / "measure-encoder"}
    (result,) = gather(options, AnalysisJob(tuple(rows), places, out))
    joint = replace(result.others[0], variant=replace(result.others[0].variant, tasks=("pos", "ner", "dep")))
    whole = {row.train: Length(5, 5, 0, {"pos": Seen(5, 40, 40)}) for row in rows}
    seen = dict.fromkeys(("pos", "ner", "dep"), Seen(drawn, 8 * drawn, 8 * drawn))
    lengths = whole | {run.train: Length(updates, updates, 0, seen) for run in joint.variant.runs}
    told = replace(result, others=(joint,), lengths=lengths)
    assert summary(told, changes_of(told))[1].endswith(expected)


def test_a_map_of_some_labels_says_so(study: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    captions = []
    for number, rows in enumerate((24, 2)):
        monkeypatch.setattr("mtlspec.analyses._probes.tables.ROWS", rows)
        facts, out = _probe(attended_value_probe, study, tmp_path / str(number), pos="pos", min_count=10)
        (caption,) = (figure.caption for figure in Findings.read(out).figures if figure.name == "changes_pos")
        captions.append(caption)
    assert 2 < facts["labels"]["pos"] <= 24
    assert captions[0].endswith("single labels, every model with stl).")
    assert captions[1].endswith(f" The 2 most frequent of {facts['labels']['pos']} labels; the table has all.")


def test_the_same_bytes_every_time(study: Study, tmp_path: Path) -> None:
    for name in ("a", "b"):
        _probe(attended_value_probe, study, tmp_path / name, ner="ner")
    assert digest_tree(tmp_path / "a") == digest_tree(tmp_path / "b")
