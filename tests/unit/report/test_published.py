"""Published figures beside ours, and verdicts that follow from tests."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mtlspec.analyses._tables import Table
from mtlspec.analyses._variants import Seeded, Variant
from mtlspec.report.published import Ours, Side, role_of
from mtlspec.report.published_findings import Finding, published_findings
from mtlspec.spec.packs import load_pack
from tests.finished_run import make_run

TASKS = ("pos", "ner", "dep", "con", "srl")
MODEL = Variant("mtl", TASKS, (), (Seeded(1, "evaluate-mtl-all-s1", "train-mtl-all-s1"),))
BERT = load_pack("stem_cell/bert")


def _side(**deltas: tuple[float, float | None]) -> Side:
    """`mtl__pos=(delta, p)`; a pair is `pos_ner__pos`."""
    ours = {}
    for key, (delta, p) in deltas.items():
        role, _, task = key.partition("__")
        name = role.replace("_", "+") if role.count("_") == 1 and not role.endswith(("dp", "sp")) else role
        ours[name, task] = Ours(90.0, 0.1, MODEL, delta, p)
    return Side(BERT, TASKS, ours, {}, 0.05)


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


def test_a_pair_that_surely_gains_on_both_sides_refutes_that_none_does() -> None:
    gain = _side(con_srl__con=(0.5, 0.01), con_srl__srl=(0.5, 0.01))
    assert _verdict(gain, "No pair").verdict == "does not hold"
    half_sure = _side(con_srl__con=(0.5, 0.01), con_srl__srl=(0.5, 0.5))
    assert _verdict(half_sure, "No pair").verdict == "undecided"
    loss = _side(con_srl__con=(0.5, 0.01), con_srl__srl=(-0.1, 0.5))
    assert _verdict(loss, "No pair").verdict == "holds"


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
    side = replace(_side(), kept={("stl_dp", "pos"): shares})
    assert _verdict(side, "stl_dp keeps about 48 %").verdict == verdict


def test_roles_come_from_what_models_are_and_not_from_their_names() -> None:
    def role(sharing: dict[str, Any], tasks: tuple[str, ...]) -> str | None:
        spec = {"models": {"any": {"sharing": sharing}}}
        return role_of(Variant("any", tasks, (), ()), spec, TASKS)

    assert role({"type": "hard"}, ("dep",)) == "stl"
    assert role({"type": "hard"}, ("srl", "ner")) == "ner+srl"
    assert role({"type": "l0", "mode": "dynamic"}, ("dep",)) == "stl_dp"
    assert role({"type": "l0", "mode": "static"}, ("dep",)) == "stl_sp"
    assert role({"type": "l0", "mode": "dynamic"}, TASKS) == "mtl_dp"
    assert role({"type": "hard"}, TASKS[:4]) is None
    assert role({"type": "other"}, TASKS) is None


def test_the_chapter_shows_both_sides(tmp_path: Path) -> None:
    run = make_run(tmp_path, seeds=(1, 2), compare_to="stem_cell/bert")
    folder = run.places.artifact("report")
    scores = Table.read(folder / "tables" / "beside-paper" / "scores_beside.json")
    assert scores.columns == ("model", "pos, paper", "pos, here", "ner, paper", "ner, here")
    stl = next(row for row in scores.rows if row[0].value == "stl")
    assert stl[1].text == "98.32 ± 0.02"
    assert "evaluate-stl-pos-s1" in stl[2].source
    pair = next(row for row in scores.rows if row[0].value == "pos+ner")
    assert [cell.text for cell in pair[1::2]] == ["98.28 ± 0.01", "89.34 ± 0.24"]
    page = (folder / "report.html").read_text()
    assert "Beside the paper: The Stem Cell Hypothesis, BERT" in page
    assert (folder / "figures" / "beside-paper" / "changes_beside.svg").is_file()
