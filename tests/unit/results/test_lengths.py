"""How long models were trained: counts with their starts, and when a sentence says that two lengths are not equal."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mtlspec.results.lengths import (
    Length,
    Seen,
    Times,
    but_unequal,
    length_of,
    lengths_table,
    model_cells,
    read_length,
    read_lengths,
    task_cells,
    times,
)
from mtlspec.results.variants import Variant, baseline_for, variants
from tests.model_rows import model_row
from tests.trainings import write_training


def test_a_length_is_the_sum_of_a_chain(tmp_path: Path) -> None:
    """A task counts where it was learnt; the encoder's updates are all of them."""
    first = write_training(tmp_path / "1", ["pos", "ner"], 10)
    second = write_training(tmp_path / "2", {"ner": 20}, 20, start=first)
    third = write_training(tmp_path / "3", {"pos": 3, "dep": 2}, 5, start=second)
    assert read_length(third) == Length(
        35, 35, 30, {"pos": Seen(13, 104, 104), "ner": Seen(30, 240, 240), "dep": Seen(2, 16, 16)}
    )


def test_what_stops_early_was_given_what_was_planned(tmp_path: Path) -> None:
    stopped = write_training(tmp_path / "a", ["pos"], 60, planned=100)
    assert read_length(stopped) == Length(60, 100, 0, {"pos": Seen(60, 480, 800)})
    whole, early = _variant("stl"), _variant("stl_ft")
    inputs = {whole.runs[0].train: write_training(tmp_path / "b", ["pos"]), early.runs[0].train: stopped}
    assert times(early, whole, "pos", read_lengths([whole, early], inputs)) == Times(1.0, 1.0)


def _variant(group: str, tasks: tuple[str, ...] = ("pos",), seeds: tuple[int, ...] = (1,), **row: Any) -> Variant:
    return variants([replace(model_row(group, tasks, seed), **row) for seed in seeds])[0]


def _told(root: Path, *models: tuple[Variant, Any, int]) -> dict[str, Length]:
    inputs = {run.train: write_training(root / run.train, own, n) for one, own, n in models for run in one.runs}
    return read_lengths([one for one, _, _ in models], inputs)


@pytest.mark.parametrize(
    ("own", "updates", "expected"),
    [
        (("pos", "ner"), 100, ""),  # joint batches
        ({"pos": 104, "ner": 96}, 200, ", but mtl had 2.0 times the updates of stl, with as many examples of a task"),
        ({"pos": 50, "ner": 50}, 100, ", but tasks of mtl read 0.50 times the examples of stl, in as many updates"),
        (
            {"pos": 150, "ner": 50},
            200,
            ", but mtl had 2.0 times the updates of stl, with 0.50 to 1.5 times the examples of a task",
        ),
        (("pos", "ner"), 200, ", but mtl had 2.0 times the updates of stl"),
        (("pos", "ner"), 109, ""),  # within a tenth
        (("pos", "ner"), 92, ""),
        (("pos", "ner"), 111, ", but mtl had 1.1 times the updates of stl"),
        (("pos", "ner"), 50, ", but mtl had 0.50 times the updates of stl"),
    ],
)
def test_a_sentence_says_what_is_unequal_and_nothing_else(
    tmp_path: Path, own: Any, updates: int, expected: str
) -> None:
    singles = [_variant("stl", (task,)) for task in ("pos", "ner")]
    joint = _variant("mtl", ("pos", "ner"))
    lengths = _told(tmp_path, *((one, one.tasks, 100) for one in singles), (joint, own, updates))
    found = [times(joint, one, one.tasks[0], lengths) for one in singles]
    assert but_unequal("mtl", "stl", found) == expected


def test_cells_and_the_table_tell_means_over_seeds(tmp_path: Path) -> None:
    joint = _variant("mtl", ("pos", "ner"), (1, 2))
    drawn = [{"pos": 1500, "ner": 500}, {"pos": 1510, "ner": 490}]
    inputs = {
        run.train: write_training(tmp_path / run.train, own, 2000) for run, own in zip(joint.runs, drawn, strict=True)
    }
    lengths = read_lengths([joint], inputs)
    assert length_of(joint, lengths).tasks["pos"] == (1505, 12040, 12040)
    assert [cell.text for cell in model_cells(joint, lengths)] == ["2,000", "3,960 to 12,040"]
    assert [cell.value for cell in model_cells(joint, lengths)] == [2000, 8000]
    assert [(cell.text, cell.value) for cell in task_cells(joint, "ner", lengths)] == [
        ("495 of 2,000", 495),
        ("3,960", 3960),
    ]
    table = lengths_table([joint], lengths)
    assert table.csv().splitlines() == [
        "model,task,updates,before its start,with the task,examples read",
        "mtl: pos + ner,pos,2000.0,0.0,1505.0,12040.0",
        "mtl: pos + ner,ner,2000.0,0.0,495.0,3960.0",
    ]


def test_a_gated_model_that_started_is_compared_with_its_control() -> None:
    """The control started from the very same models, has the same tasks and no gates; otherwise the baseline serves."""

    def started(group: str, gated: bool, start: str = "stl-pos", tasks: tuple[str, ...] = ("pos",)) -> Variant:
        rows = [replace(model_row(group, tasks, s), starts=(f"train-{start}-s{s}",), gated=gated) for s in (1, 2)]
        return variants(rows)[0]

    stl, pruned = _variant("stl", seeds=(1, 2)), started("stl_sp", True)
    control = started("stl_ft", False)
    assert baseline_for(pruned, "pos", "stl", (stl, pruned, control)) is control
    assert baseline_for(control, "pos", "stl", (stl, pruned, control)) is stl
    for other in (started("sp2", True), started("ft", False, "other-pos"), started("ft", False, tasks=("ner",))):
        assert baseline_for(pruned, "pos", "stl", (stl, pruned, other)) is stl
    dynamic = _variant("stl_dp", seeds=(1, 2), gated=True)
    assert baseline_for(dynamic, "pos", "stl", (stl, control, dynamic)) is stl
    joint = started("mtl_sp", True, "mtl-all", ("pos", "ner"))
    whole = started("mtl_ft", False, "mtl-all", ("pos", "ner"))
    assert baseline_for(joint, "pos", "stl", (stl, control, joint, whole)) is whole
