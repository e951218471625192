"""Head utilisation: from models whose gates we chose to the tables that must follow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mtlspec.analyses._gates import Gated
from mtlspec.analyses._head_figures import run_colours
from mtlspec.analyses._utilisation import Agreement, Chance, summary
from mtlspec.analyses.head_utilisation import Options
from mtlspec.data.prepared import Prepared
from mtlspec.errors import StageError
from mtlspec.io.digest import digest_tree
from mtlspec.plan.rows import ModelRow
from mtlspec.results.findings import Findings
from mtlspec.results.jobs import AnalysisJob
from mtlspec.results.tables import Table
from mtlspec.results.variants import Variant
from tests.model_rows import model_row
from tests.unit.analyses.gated_models import CLOSED, OPEN, write_model

FIRST = [[OPEN, OPEN, CLOSED, CLOSED], [OPEN, CLOSED, CLOSED, CLOSED]]
OTHER = [[CLOSED, CLOSED, OPEN, CLOSED], [CLOSED, CLOSED, 0.0, CLOSED]]
Made = tuple[list[ModelRow], dict[str, Path]]


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory, toy_encoder: Path, toy_prepared: Path) -> Made:
    """`pos` uses the same heads in three runs, `ner` others each time, `hard` has no gates."""
    root, data = tmp_path_factory.mktemp("models"), Prepared.load(toy_prepared)
    rng = np.random.default_rng(2)
    rows, inputs = [], {}
    for group, task in (("dp", "pos"), ("dp", "ner"), ("plain", "pos")):
        for seed in (1, 2, 3):
            gates: Any = FIRST
            if task == "ner":
                gates = rng.permuted(np.array(OTHER), axis=1)
            one = model_row(group, [task], seed)
            rows.append(one)
            inputs[one.train] = write_model(
                root / one.train, toy_encoder, data, [task], seed, None if group == "plain" else gates
            )
    return rows, inputs


def _run(models: Made, out: Path, chosen: list[ModelRow] | None = None, **options: Any) -> dict[str, Any]:
    rows, inputs = models
    gated = [one for one in rows if one.group == "dp"] if chosen is None else chosen
    return Options(type="head_utilisation", draws=100, **options).run(AnalysisJob(tuple(gated), inputs, out))


def test_tables_follow_from_the_gates(models: Made, tmp_path: Path) -> None:
    facts = _run(models, tmp_path)
    assert facts == {"models": 2, "kept": {"dp-pos": pytest.approx(3 / 8), "dp-ner": pytest.approx(2 / 8)}}
    (pos, ner) = Table.read(tmp_path / "tables/utilisation.json").rows
    assert pos[1].value == pytest.approx(1.0)
    assert ner[2].value is not None and ner[2].value < 0.9  # type: ignore[operator]
    assert pos[2].value == pytest.approx(ner[1].value)
    (pos, ner) = Table.read(tmp_path / "tables/agreement.json").rows
    assert [cell.value for cell in pos[1:4]] == pytest.approx([37.5, 1.0, 1.0])
    assert pos[5].value == 1.0 and pos[5].mark == "*" and ner[5].mark == ""
    (pos, _) = Table.read(tmp_path / "tables/overlap.json").rows
    assert pos[1].value == 1.0
    findings = Findings.read(tmp_path)
    assert findings.summary[0] == "Of their heads, models keep from 25 % (dp: ner) to 38 % (dp: pos)."
    assert findings.summary[1] == (
        "Runs keep the same heads (overlap) beyond what shuffled heads give in 1 of 2 models: dp: pos."
    )
    assert not any(line[2].mark for line in Table.read(tmp_path / "tables/agreement.json").rows)
    assert findings.summary[2].endswith("(adjusted R²) beyond what shuffled heads give in none of 2 models.")


def test_stars_are_corrected_for_how_many_there_could_be(models: Made, tmp_path: Path) -> None:
    _run(models, tmp_path / "many")
    caption = Table.read(tmp_path / "many/tables/agreement.json").caption
    assert "Holm's correction over 2 comparisons: overlap of every model's runs" in caption
    assert "So few draws" not in caption
    rows, inputs = models
    gated = tuple(one for one in rows if one.group == "dp")
    Options(type="head_utilisation", draws=30).run(AnalysisJob(gated, inputs, tmp_path / "few"))
    table = Table.read(tmp_path / "few/tables/agreement.json")
    (pos, ner) = (row[5] for row in table.rows)
    assert pos.data["p"] < 0.05 <= pos.data["p_holm"]  # 1 of 31 draws, twice
    assert (pos.mark, ner.mark) == ("", "")
    assert table.caption.endswith("So few draws cannot pass that correction; set `draws` to 40 at least.")


@pytest.mark.parametrize("measure", ["p_open", "expected_z"])
def test_other_measures_change_utilisation_and_not_what_is_kept(measure: str, models: Made, tmp_path: Path) -> None:
    _run(models, tmp_path / "gate")
    _run(models, tmp_path / "other", utilisation=measure)
    kept = [Table.read(tmp_path / which / "tables/overlap.json").rows for which in ("gate", "other")]
    assert kept[0] == kept[1]
    maps = [(tmp_path / which / "figures/utilisation.png").read_bytes() for which in ("gate", "other")]
    assert maps[0] != maps[1]


@pytest.mark.parametrize("seeds", [1, 2])
def test_fewer_seeds_are_fine(seeds: int, models: Made, tmp_path: Path) -> None:
    chosen = [one for one in models[0] if one.group == "dp" and one.seed <= seeds]
    _run(models, tmp_path, chosen)
    (pos, _) = Table.read(tmp_path / "tables/agreement.json").rows
    assert pos[2].text == ("–" if seeds == 1 else "1.00")
    findings = Findings.read(tmp_path)
    assert ("With one seed" in findings.summary[1]) == (seeds == 1)
    assert ("runs agree" in findings.figures[0].caption) == (seeds > 1)


def test_each_measure_of_agreement_speaks_for_itself() -> None:
    """What is said about one measure must not contradict the stars of the other; undefined ones are counted."""
    runs = tuple(model_row("a", ("pos",), seed) for seed in (1, 2))
    gates = np.ones((2, 2, 4))
    gated = [Gated(Variant(group, ("pos",), (), runs), gates, gates, (4, 4)) for group in ("a", "b", "c")]
    nan = float("nan")
    found = [
        Agreement(0.9, 0.1, 0.01, 0.5, 0.5, 0.5),
        Agreement(0.1, 0.1, 0.6, 0.5, 0.5, 0.5),
        Agreement(nan, nan, nan, nan, nan, nan),
    ]
    assert summary(gated, found, Chance(100, 0.05, 1)) == (
        "Each of 3 models keeps 100 % of its heads.",
        "Runs keep the same heads (overlap) beyond what shuffled heads give in none of 3 models (not defined in 1).",
        "Runs predict how much another run uses a head (adjusted R²) beyond what shuffled heads give in 1 of 3 models "
        "(not defined in 1): a: pos.",
    )


def test_models_without_gates_are_named(models: Made, tmp_path: Path) -> None:
    with pytest.raises(StageError, match=r"E453: the models of group 'plain' have no head gates; .*`sharing: l0`"):
        _run(models, tmp_path, models[0])


def test_the_same_bytes_every_time(models: Made, tmp_path: Path) -> None:
    _run(models, tmp_path / "a")
    _run(models, tmp_path / "b")
    assert digest_tree(tmp_path / "a") == digest_tree(tmp_path / "b")


def test_colours_say_which_run_uses_a_head() -> None:
    runs = np.array([[[1, 1, 0, 0.25]], [[1, 0, 0, 0.5]], [[1, 0, 0, 1.0]]])
    colours = run_colours(runs)[0]
    assert colours.tolist() == [[0, 0, 0], [0, 1, 1], [1, 1, 1], [0.75, 0.5, 0]]
    assert run_colours(runs[:1])[0].tolist()[1] == [0, 0, 0]
    assert run_colours(runs[:2])[0].tolist()[1] == [0, 1, 0.5]
    assert np.array_equal(run_colours(np.concatenate([runs, runs])), run_colours(runs))
