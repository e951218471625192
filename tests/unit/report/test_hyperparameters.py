"""Hyper-parameters: what differs between models side by side, the rest once."""

from __future__ import annotations

from typing import Any

from mtlspec.report.hyperparameters import hyperparameter_tables
from mtlspec.results.tables import Table
from mtlspec.results.variants import variants
from tests.model_rows import model_row

_HARD: dict[str, Any] = {"tasks": {"type": "each"}, "sharing": {"type": "hard"}, "sweep": {}, "train": {"epochs": 3}}
_SPEC: dict[str, Any] = {"encoder": {"card": "tiny", "data": None}, "tasks": {"pos": {"type": "tagging", "data": None}}}


def _made(models: dict[str, Any], *rows: Any) -> tuple[Table, ...]:
    return hyperparameter_tables({**_SPEC, "models": models}, variants(rows))


def _columns(table: Table) -> dict[str, list[str]]:
    return {row[0].text: [cell.text for cell in row[1:]] for row in table.rows}


def test_single_models_with_settings_of_their_own_have_a_column_and_the_others_share_one() -> None:
    own = {**_HARD, "by_tasks": {"srl": {"train": {"epochs": 9, "batch": {"sentences": 16}}}}}
    gated = {**_HARD, "sharing": {"type": "l0", "lambda": 0.5}, "start": "stl", "train": {"epochs": 3, "clip": None}}
    rows = [model_row("stl", [task]) for task in ("pos", "ner", "srl")]
    differing, constant = _made({"stl": own, "dp": gated}, *rows, model_row("dp", ["pos"]))
    assert differing.columns == ("setting", "stl: pos, ner", "stl: srl", "dp")
    found = _columns(differing)
    assert found["train.epochs"] == ["3", "9", "3"]
    assert found["train.batch.sentences"] == ["32", "16", "32"]
    assert found["train.clip"] == ["1.0", "1.0", "none"]
    assert found["sharing"] == ["hard", "hard", "l0"]
    assert found["sharing.lambda"] == ["", "", "0.5"]
    assert found["start"] == ["", "", "stl"]
    once = _columns(constant)
    assert once["train.lr.encoder"] == ["5e-05"]
    assert once["tasks.pos"] == ["tagging"]
    assert not once.keys() & found.keys()
    assert "encoder.data" not in once
    assert "train.checkpoint_every" not in {*once, *found}


def test_points_of_a_sweep_are_columns_with_their_values() -> None:
    swept = {**_HARD, "sweep": {"train.lr.encoder": [1e-5, 1e-4]}}
    rows = [
        model_row("stl", [task], sweep=[("train.lr.encoder", value)])
        for task in ("pos", "ner")
        for value in (1e-5, 1e-4)
    ]
    differing, _ = _made({"stl": swept}, *rows)
    assert differing.columns == ("setting", "stl [encoder 1e-05]", "stl [encoder 0.0001]")
    assert _columns(differing) == {"train.lr.encoder": ["1e-05", "0.0001"]}


def test_where_nothing_differs_there_is_one_table() -> None:
    (constant,) = _made({"stl": _HARD}, model_row("stl", ["pos"]))
    assert constant.title == "Hyper-parameters"
    assert _columns(constant)["train.epochs"] == ["3"]
