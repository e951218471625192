"""Figures of CA-MTL: what is printed, what follows from it, and verdicts that follow from tests."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mtlspec.io.digest import canonical_json
from mtlspec.report.conditional import Conditional, conditional_findings, conditional_section
from mtlspec.results.evaluations import read_evaluations
from mtlspec.results.variants import variants
from mtlspec.spec.packs import pack_names
from mtlspec.spec.published import ConditionalPack, load_published, restored_published
from tests.unit.analyses.averaged import Study

GLUE = ("cola", "mnli_m", "mnli_mm", "mrpc", "qnli", "qqp", "rte", "sst2", "stsb")
STRANGE = {("bert_large", "adapters"), ("bert_large", "MT-DNN"), ("roberta_large", "RoBERTa (ensemble)")}


def _pack(name: str) -> ConditionalPack:
    found = load_published(f"ca_mtl/{name}")
    assert isinstance(found, ConditionalPack)
    return found


def test_every_encoder_has_a_pack_that_comes_back_from_parameters() -> None:
    names = [name.split("/")[1] for name in pack_names() if name.startswith("ca_mtl/")]
    assert names == ["bert_base", "bert_large", "roberta_large"]
    for name in names:
        pack = _pack(name)
        assert restored_published(json.loads(canonical_json(pack.stored()))) == pack
        for table in pack.tables:
            assert all(len(row) == len(table.columns) for row in table.rows), f"{name}, {table.title}"
            assert len(set(table.names)) == len(table.names)


def test_averages_are_those_of_their_scores_but_for_three_that_the_notes_name() -> None:
    strange = set()
    for name in ("bert_base", "bert_large", "roberta_large"):
        for table in _pack(name).tables:
            if not set(GLUE) <= set(table.columns):
                continue
            for row in table.names:
                known = dict(zip(table.columns[1:], table.numbers(row), strict=True))
                scores = [known[task] for task in GLUE]
                if None not in (*scores, known["average"]) and abs(np.mean(scores) - known["average"]) > 0.1:  # type: ignore[arg-type, operator]
                    strange.add((name, row))
    assert strange == STRANGE


def test_most_of_the_gain_of_frozen_layers_is_rte() -> None:
    table = _pack("bert_large").table("freezing")
    assert table is not None
    rest = [table.columns.index(task) - 1 for task in GLUE if task != "rte"]
    rows = [table.numbers(row) for row in ("ca_mtl", "ca_mtl (a quarter)", "ca_mtl (half)")]
    means = [float(np.mean([row[at] for at in rest])) for row in rows]  # type: ignore[misc]
    assert means == pytest.approx([85.9, 85.7, 86.0], abs=0.05)


Scores = Mapping[str, Sequence[int]]


def side(folder: Path, groups: Mapping[str, tuple[dict[str, Any], Sequence[Scores]]], pack: str) -> Conditional:
    """Groups with their way of training, and the scores of their models, seed by seed."""
    study = Study(folder)
    for group, (_, models) in groups.items():
        for scores in models:
            study.add(group, scores)
    found = variants(study.rows)
    spec = {"models": {group: about for group, (about, _) in groups.items()}}
    return Conditional(_pack(pack), spec, found, read_evaluations(found, study.inputs))


def _way(sharing: str, sampler: str = "random") -> dict[str, Any]:
    return {"sharing": {"type": sharing}, "train": {"sampler": {"type": sampler}}}


def test_findings_are_asked_of_other_tasks_by_tests(tmp_path: Path) -> None:
    groups = {
        "stl": (_way("hard"), [{"pos": [80, 81, 82]}, {"ner": [70, 71, 72]}]),
        "mtl": (_way("hard"), [{"pos": [79, 80, 81], "ner": [60, 61, 62]}]),
        "ca": (_way("ca_mtl"), [{"pos": [84, 85, 86], "ner": [75, 76, 77]}]),
        "sure": (_way("ca_mtl", "mt_uncertainty"), [{"pos": [84, 85, 86], "ner": [75, 76, 77]}]),
    }
    average, sigma, sampling, above = conditional_findings(side(tmp_path, groups, "bert_base"))
    assert (average.published, average.verdict) == ("84.03 against 80.61", "holds")
    assert average.here == "ca: pos + ner against mtl: pos + ner: +10.00"
    assert (sigma.published, sigma.verdict) == ("10.02 against 14.41", "undecided")  # scores of a seed move together
    assert (sampling.published, sampling.verdict) == ("84.03 against 83.12", "undecided")
    assert sampling.here == "sure: pos + ner against ca: pos + ner: 0.00"
    assert above.published == "5 of 9 tasks not below"
    assert above.here == "not below on 2 of 2 tasks"


def test_a_run_without_such_models_answers_nothing(tmp_path: Path) -> None:
    groups = {"mtl": (_way("hard"), [{"pos": [79], "ner": [60]}])}
    made = side(tmp_path, groups, "roberta_large")
    found = conditional_findings(made)
    assert {finding.verdict for finding in found} == {"not in this run"}
    assert [finding.published for finding in found] == ["83.1 against 80.7", "–", "–", "15 of 24 tasks not below"]
    section = conditional_section(made)
    assert [table.name for table in section.tables] == [
        "findings", *(f"paper_{table.id}" for table in made.pack.tables)
    ]  # fmt: skip
    assert section.tables[2].rows[0][0].text == "RoBERTa (ensemble)"
