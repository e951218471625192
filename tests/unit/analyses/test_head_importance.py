"""The atlas of heads: it names planted heads, and tells stable importance from noise."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch

from mtlspec.analyses._importance import SCHEMA, normalised
from mtlspec.analyses.head_importance import Options
from mtlspec.data.prepared import Prepared
from mtlspec.io.digest import digest_tree
from mtlspec.results.findings import Findings
from mtlspec.results.jobs import AnalysisJob, Measurement
from mtlspec.results.tables import Table
from tests import planted
from tests.model_rows import model_row

METHODS = ("gradient", "token_abs", "ablation", "gate")


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("planted")
    planted.write_data(path)
    return path


def _measure(root: Path, out: Path, sharing: dict[str, Any], **options: Any) -> tuple[planted.Planted, list[Any]]:
    made = planted.plant(Prepared.load(root / "prepared"), 4, sharing)
    (out / "train").mkdir(parents=True)
    (out / "measured").mkdir()
    made.model.save(out / "train", tokenizer=root / "encoder")
    chosen = Options(type="head_importance", methods=METHODS, sentences=24, **options)
    inputs = {"train": out / "train", "prepare-toy": root / "prepared"}
    found = chosen.measure(Measurement(model_row("x", ["previous", "next"], 1), inputs, out / "measured"))
    rows = pq.read_table(out / "measured/heads.parquet").to_pylist()
    assert found.facts["heads"] == 8 and set(found.facts["methods"]) == {entry["method"] for entry in rows}
    return made, rows


@pytest.mark.parametrize("ablation", ["loss", "score"])
def test_every_method_names_the_planted_heads(ablation: str, root: Path, tmp_path: Path) -> None:
    made, rows = _measure(root, tmp_path, {"type": "hard"}, ablation=ablation)
    assert {entry["method"] for entry in rows} == {"gradient", "token_abs", "ablation"}  # there are no gates
    assert len(rows) == 3 * 2 * 8
    for task, (layer, head) in made.places.items():
        for method in ("gradient", "token_abs", "ablation"):
            own = [entry for entry in rows if entry["task"] == task and entry["method"] == method]
            best = max(own, key=lambda entry: entry["value"])
            assert (best["layer"], best["head"]) == (layer + 1, head + 1), method


def test_gates_are_a_method_where_a_model_has_them(root: Path, tmp_path: Path) -> None:
    _, rows = _measure(root, tmp_path, {"type": "l0"})
    gates = [entry["value"] for entry in rows if entry["method"] == "gate"]
    assert gates == [1.0] * 16


def test_measuring_again_gives_the_same_bytes(root: Path, tmp_path: Path) -> None:
    for name in ("a", "b"):
        _measure(root, tmp_path / name, {"type": "hard"})
    assert digest_tree(tmp_path / "a/measured") == digest_tree(tmp_path / "b/measured")


def test_layers_are_normalised_all_or_all_but_the_last() -> None:
    values = torch.tensor([[[3.0, 4.0], [6.0, 8.0]]], dtype=torch.float64)
    assert normalised(values, "none") is values
    assert torch.allclose(normalised(values, "layers"), torch.tensor([[[0.6, 0.8], [0.6, 0.8]]]).double())
    assert torch.allclose(normalised(values, "released"), torch.tensor([[[0.6, 0.8], [6.0, 8.0]]]).double())
    assert torch.equal(normalised(torch.zeros(1, 2, 2), "layers"), torch.zeros(1, 2, 2))


def _atlas(root: Path, values: dict[str, dict[str, list[np.ndarray]]]) -> tuple[list[Any], dict[str, Path]]:
    """Measurements made up: group -> method -> a map for every seed."""
    rows, inputs = [], {}
    for group, methods in values.items():
        for seed in range(1, 1 + len(next(iter(methods.values())))):
            one = model_row(group, ["pos"], seed)
            entries = [
                {"task": "pos", "method": method, "layer": layer + 1, "head": head + 1, "value": float(value)}
                for method, maps in methods.items()
                for (layer, head), value in np.ndenumerate(maps[seed - 1])
            ]
            (root / one.measure).mkdir(parents=True)
            pq.write_table(pa.Table.from_pylist(entries, SCHEMA), root / one.measure / "heads.parquet")
            (root / one.measure / "undefined.json").write_text("{}")
            rows.append(one)
            inputs[one.measure] = root / one.measure
    return rows, inputs


def test_verdicts_tell_signal_from_noise(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    signal = rng.random((4, 6))
    near = [signal + 0.05 * rng.random((4, 6)) for _ in range(6)]
    noise = [rng.random((4, 6)) for _ in range(6)]
    other = rng.random((4, 6))
    rows, inputs = _atlas(
        tmp_path / "in",
        {
            "good": {"gradient": near[:3], "ablation": near[3:]},
            "noisy": {"gradient": noise[:3], "ablation": noise[3:]},
            "split": {"gradient": near[:3], "ablation": [other + 0.05 * rng.random((4, 6)) for _ in range(3)]},
            "alone": {"gradient": near[:1], "ablation": near[1:2]},
        },
    )
    facts = Options(type="head_importance").run(AnalysisJob(tuple(rows), inputs, tmp_path / "out"))
    assert facts == {
        "models": 4,
        "verdicts": {"methods disagree": 1, "one seed, methods agree": 1, "seed noise": 1, "stable": 1},
    }
    table = Table.read(tmp_path / "out/tables/stability.json")
    verdicts = ["stable", "seed noise", "methods disagree", "one seed, methods agree"]
    assert [line[-1].text for line in table.rows] == verdicts
    assert float(table.rows[0][1].value or 0) > 0.9 and table.rows[3][1].text == "–"
    top = Table.read(tmp_path / "out/tables/top_heads.json").rows[0]
    place = np.unravel_index(np.mean(near[:3], axis=0).argmax(), (4, 6))
    assert top[2].value == f"{place[0] + 1}.{place[1] + 1}"
    atlas = pq.read_table(tmp_path / "out/heads.parquet")
    assert atlas.column_names == ["model", "group", "seed", "task", "method", "layer", "head", "value"]
    assert atlas.num_rows == 10 * 2 * 24
    summary = Findings.read(tmp_path / "out").summary
    assert summary[0].startswith("In 1 of 4 models and tasks seeds and methods agree on which heads matter")
    Options(type="head_importance").run(AnalysisJob(tuple(rows), inputs, tmp_path / "again"))
    assert digest_tree(tmp_path / "out") == digest_tree(tmp_path / "again")


def test_one_seed_is_never_said_to_agree_with_others(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    first, reverse = rng.random((4, 6)), -rng.random((4, 6))
    maps = {"both": {"gradient": [first], "ablation": [-first]}, "alone": {"gradient": [reverse]}}
    rows, inputs = _atlas(tmp_path / "in", maps)
    facts = Options(type="head_importance").run(AnalysisJob(tuple(rows), inputs, tmp_path / "out"))
    assert facts["verdicts"] == {"one seed": 1, "one seed, methods disagree": 1}
    (first_sentence, second) = Findings.read(tmp_path / "out").summary
    assert first_sentence == (
        "In 1 of 2 models and tasks methods disagree on which heads matter (rank correlation below 0.5); whether seeds "
        "agree cannot be judged from one."
    )
    assert "one seed only and methods cannot be compared" in second


def test_equal_values_are_said_to_be_equal_and_never_listed_as_important(tmp_path: Path) -> None:
    zeros = [np.zeros((2, 3))] * 2
    rows, inputs = _atlas(tmp_path / "in", {"closed": {"gradient": zeros, "gate": zeros}})
    facts = Options(type="head_importance").run(AnalysisJob(tuple(rows), inputs, tmp_path / "out"))
    assert facts["verdicts"] == {"all equal": 1}
    assert Findings.read(tmp_path / "out").summary == (
        "closed: pos, pos: all heads of a run have the same value, so there is no order that seeds could agree on.",
    )
    top = Table.read(tmp_path / "out/tables/top_heads.json").rows
    assert [[cell.text for cell in line[2:]] for line in top] == [["–"] * 5] * 2


def test_methods_are_not_compared_by_a_few_heads_that_are_left(tmp_path: Path) -> None:
    """Two heads are open: every method gives 0 to all others, which is no agreement on what matters."""
    few = np.zeros((4, 6))
    few[0, :2] = 1.0, 2.0
    rows, inputs = _atlas(tmp_path / "in", {"dp": {"gradient": [few, few], "ablation": [few, few]}})
    facts = Options(type="head_importance").run(AnalysisJob(tuple(rows), inputs, tmp_path / "out"))
    assert facts["verdicts"] == {"seeds agree": 1}
    (line,) = Table.read(tmp_path / "out/tables/stability.json").rows
    assert [cell.text for cell in line[1:]] == ["1.00", "1.00", "–", "seeds agree"]
    assert [cell.value for cell in Table.read(tmp_path / "out/tables/top_heads.json").rows[0][2:]] == [
        "1.2", "1.1", None, None, None,
    ]  # fmt: skip


def test_models_that_no_method_applies_to_are_named(tmp_path: Path) -> None:
    maps = [np.arange(6.0).reshape(2, 3)] * 2
    rows, inputs = _atlas(tmp_path / "in", {"dp": {"gate": maps}, "stl": {"gate": [np.zeros((0, 0))] * 2}})
    options = Options(type="head_importance", methods=("gate",))
    assert options.run(AnalysisJob(tuple(rows), inputs, tmp_path / "out"))["verdicts"] == {"seeds agree": 1}
    lacking = "Gates are the only method of this analysis, and {} has gates."
    assert Findings.read(tmp_path / "out").summary[1] == lacking.format("none of stl: pos")
    assert options.run(AnalysisJob(tuple(rows[2:]), inputs, tmp_path / "none")) == {"models": 1, "verdicts": {}}
    assert Findings.read(tmp_path / "none").summary == (lacking.format("no model"),)
