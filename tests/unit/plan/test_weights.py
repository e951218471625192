"""Which stages read how much of a trained model; only what nobody reads any more may go."""

from __future__ import annotations

from pathlib import Path

from mtlspec.plan.weights import kept, readers, suffices
from tests.unit.plan.test_build import _plan
from tests.unit.spec.small_project import SPEC

MORE = """\
  dp: {tasks: each, sharing: {type: l0, lambda: 0.1}, keep: gates}
  sp: {tasks: each, sharing: hard, start: dp, keep: scores}
analyses:
  heads: {type: head_utilisation, models: [dp]}
  matter: {type: head_importance, models: [dp]}
  mixed: {type: sampling_composition, models: [mtl]}
"""


def test_stages_read_weights_gates_or_how_long_training_was(tmp_path: Path) -> None:
    found = readers(_plan(tmp_path, SPEC.replace("analyses:\n", MORE)))
    assert found["train-dp-pos-s1"] == {
        "evaluate-dp-pos-s1": "weights",
        "train-sp-pos-s1": "weights",
        "measure-matter-dp-pos-s1": "weights",
        "analyse-heads": "gates",
        "analyse-matter": "scores",  # its measurements have read the models
        "report": "scores",
    }
    assert found["train-mtl-all-s1"]["analyse-mixed"] == "scores"  # histories


def test_models_that_a_choice_rests_on_are_read_by_those_that_may_take_them_over(tmp_path: Path) -> None:
    more = "  pair: {tasks: pairs, sharing: hard}\n"
    more += "  best: {tasks: {type: oracle, single: stl, pairs: pair}, sharing: hard}\nanalyses:"
    found = readers(_plan(tmp_path, SPEC.replace("analyses:", more)))
    assert found["train-pair-pos-lem-s1"]["train-best-pos-s2"] == "weights"
    assert found["train-stl-pos-s2"]["train-best-pos-s1"] == "weights"
    assert not any(name.startswith("train-") for name in found["train-mtl-all-s1"])


def test_a_spec_says_how_much_is_kept(tmp_path: Path) -> None:
    found = kept(_plan(tmp_path, SPEC.replace("analyses:\n", MORE)))
    assert {name.split("-")[1]: keep for name, keep in found.items()} == {
        "stl": "weights",
        "mtl": "weights",
        "dp": "gates",
        "sp": "scores",
    }
    assert suffices("gates", "scores") and suffices("weights", "weights") and not suffices("scores", "gates")
