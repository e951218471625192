"""What is wrong with analyses, to the letter: what could not work later is refused before anything runs."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from mtlspec.spec.load import LoadedSpec
from tests.unit.spec.small_project import SPEC

Complaints = Callable[..., list[str]]
Load = Callable[..., LoadedSpec]

GATED = SPEC.replace("analyses:", "  dp: {tasks: each, sharing: l0}\nanalyses:") + (
    """\
  arcs: {type: attention_probe, models: [stl, mtl], dep: dep}
  use: {type: head_utilisation, models: [dp]}
  curve: {type: sparsity_curve, models: [stl, dp]}
  cells: {type: stem_cells, models: [dp], tasks_at_least: 2, probes: [arcs]}
"""
)

# What is changed in the sound spec -> the lines that answer it, after the name of the file.
BROKEN: dict[str, tuple[tuple[str, str], list[str]]] = {
    "analysis that names a missing model group": (
        ("models: [stl, mtl]", "models: [stl, mlt]"),
        ["17:46: error E152: there is no model group 'mlt'; did you mean 'mtl'?"],
    ),
    "analysis that names a model group twice": (
        ("models: [stl, mtl]", "models: [stl, stl]"),
        ["17:46: error E153: the model group 'stl' is named twice"],
    ),
    "heads of tasks that choose none": (
        ("models: [stl, mtl]", "models: [stl, mtl]}\n  own: {type: task_heads, models: [mtl]"),
        ["18:35: error E945: in no model group of this analysis do tasks choose heads; add one with `sharing: iat`"],
    ),
    "tasks to be told apart in models of one task": (
        ("models: [stl, mtl]", "models: [stl, mtl]}\n  own: {type: iap, models: [stl]"),
        [
            "18:28: error E953: every model of this analysis learns one task, and it tells the tasks of a model apart; "
            "name a group with `tasks: all` or `tasks: pairs`"
        ],
    ),
    "tasks to be told apart that are not there": (
        ("models: [stl, mtl]", "models: [stl, mtl]}\n  own: {type: iap, models: [mtl], tasks: [pos, lme]"),
        ["18:48: error E956: there is no task 'lme'; did you mean 'lem'?"],
    ),
    "scores of a task that is not there": (
        ("models: [stl, mtl]", "models: [mtl]}\n  own: {type: ablation_table, further_scores: {lme: [f1]}"),
        ["18:48: error E956: there is no task 'lme'; did you mean 'lem'?"],
    ),
    "batches of models of one task": (
        ("models: [stl, mtl]", "models: [mtl]}\n  own: {type: sampling_composition, models: [stl]"),
        [
            "18:45: error E953: every model of this analysis learns one task, and it tells the tasks of a model apart; "
            "name a group with `tasks: all` or `tasks: pairs`"
        ],
    ),
    "one task to be told apart": (
        ("models: [stl, mtl]", "models: [stl, mtl]}\n  own: {type: iap, models: [mtl], tasks: [pos]"),
        ["18:43: error E957: one task cannot be told from others; name two at least"],
    ),
    "curve over what nothing is swept over": (
        ("models: [stl, mtl]", "models: [mtl]}\n  own: {type: sweep_curve, over: train.epochs"),
        [
            "18:34: error E993: no model group of several tasks in this analysis is swept over 'train.epochs'; name a "
            "group with `sweep: {train.epochs: [...]}`"
        ],
    ),
    "map of embeddings that no model has": (
        ("models: [stl, mtl]", "models: [stl, mtl]}\n  own: {type: task_embedding_map, models: [mtl]"),
        [
            "18:43: error E994: no model of several tasks in this analysis has embeddings of them; name a group with "
            "`sharing: ca_mtl` or `task_embedding`"
        ],
    ),
    "transfer by embeddings of models that all begin with the same": (
        ("models: [stl, mtl]", "models: [stl, mtl]}\n  own: {type: embedding_transfer, models: [stl]"),
        [
            "18:43: error E998: no model group of one task in this analysis is swept over 'sharing.embedding'; name a "
            "group with `start: {..., take: shared}` and `sweep: {sharing.embedding: [...]}`"
        ],
    ),
    "dev scores on the way that no model is asked for": (
        ("models: [stl, mtl]", "models: [stl, mtl]}\n  own: {type: sampling_curves, models: [mtl]"),
        [
            "18:40: error E944: no model of this analysis is asked for dev scores on the way, which it shows; write "
            "`train.evaluate_every: 50`"
        ],
    ),
    "entropies that no model is asked for": (
        (
            "train: {epochs: 8}}\nanalyses:",
            "train: {epochs: 8, evaluate_every: 9}}\nanalyses:\n  own: {type: entropy_curves}",
        ),
        [
            "17:8: error E944: no model of this analysis is asked for entropies of dev on the way, which it shows; "
            "write `train.evaluate_every: {updates: 50, entropy: true}`"
        ],
    ),
    "analysis whose baseline is no model group": (
        ("models: [stl, mtl]", "models: [stl, mtl], baseline: slt"),
        ["17:62: error E169: the baseline 'slt' is not a model group of this analysis; did you mean 'stl'?"],
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_analysis_is_told_to_the_letter(name: str, complaints: Complaints) -> None:
    (old, new), lines = BROKEN[name]
    assert SPEC.count(old) == 1
    assert complaints(SPEC.replace(old, new)) == [f"specs/study.yaml:{line}" for line in lines]


THIRD = SPEC.replace("train:\n", "  up: {type: tagging, layer: upos}\ntrain:\n", 1)
TOGETHER = THIRD.replace("tasks: all", "tasks: [pos, up]") + "  own: {type: iap, models: [mtl], tasks: [pos, lem]}\n"


def test_tasks_to_be_told_apart_are_learnt_by_one_model(complaints: Complaints, load: Load) -> None:
    assert complaints(TOGETHER) == [
        "specs/study.yaml:19:42: error E992: no model of this analysis learns two of these tasks together; its models "
        "of several tasks learn: pos, up"
    ]
    load(TOGETHER.replace("tasks: [pos, lem]", "tasks: [pos, lem, up]"))


@pytest.mark.parametrize(
    ("over", "values", "line"),
    [
        ("train.epohcs", "[1, 2]", "E993: no model group of several tasks in this analysis is swept over"),
        ("train.keep", "[best, last]", "E991: 'train.keep' is swept over 'best', and a curve goes over numbers"),
        ("train.clip", "[null, 1.0]", "E991: 'train.clip' is swept over null, and a curve goes over numbers"),
    ],
)
def test_a_curve_goes_over_numbers_of_a_sweep(over: str, values: str, line: str, complaints: Complaints) -> None:
    for text in _swept(over, over.replace("epohcs", "epochs"), values):
        (told,) = complaints(text)
        assert told.startswith("specs/study.yaml:") and line in told


def test_a_sweep_of_the_spec_or_of_a_group_makes_a_curve(complaints: Complaints, load: Load) -> None:
    for text in _swept("train.epochs", "train.epochs", "[1, 2]"):
        load(text)
    own = SPEC.replace("each, sharing: hard", "each, sharing: hard, sweep: {train.epochs: [1, 2]}")
    (told,) = complaints(own + "  own: {type: sweep_curve, over: train.epochs}\n")  # models of one task are passed over
    assert "E993" in told


def _swept(over: str, key: str, values: str) -> tuple[str, str]:
    """A curve of a setting that the whole spec is swept over, and one of a group's."""
    own, sweep = SPEC + f"  own: {{type: sweep_curve, over: {over}}}\n", f"sweep: {{{key}: {values}}}"
    return own.replace("models:\n", f"{sweep}\nmodels:\n", 1), own.replace("train: {epochs: 8}", sweep)


# The same of the spec with gated models, whose analyses begin in line 18.
UNGATED = "have no head gates, which this analysis reads"
BROKEN_GATED: dict[str, tuple[tuple[str, str], list[str]]] = {
    "an analysis that is not there": (
        ("probes: [arcs]", "probes: [arcs, arc]"),
        ["22:77: error E184: the analysis 'cells' reads 'arc', which does not stand above it; did you mean 'arcs'?"],
    ),
    "itself": (
        ("probes: [arcs]", "probes: [arcs, cells]"),
        ["22:77: error E184: the analysis 'cells' reads 'cells', which does not stand above it; known: arcs"],
    ),
    "an analysis that is no probe": (
        ("probes: [arcs]", "probes: [arcs, use]"),
        [
            "22:77: error E185: 'probes' reads analyses of type 'attended_value_probe' or 'attention_probe'; 'use' is "
            "of type 'head_utilisation'; known: arcs"
        ],
    ),
    "a probe twice": (
        ("probes: [arcs]", "probes: [arcs, arcs]"),
        ["22:77: error E186: the analysis 'arcs' is named twice"],
    ),
    "a group that is not there": (
        ("probes: [arcs]", "probes: [arcs], single: stll"),
        ["22:86: error E192: there is no model group 'stll'; did you mean 'stl'?"],
    ),
    "a group that was not probed": (
        ("probes: [arcs]", "probes: [arcs], joint: dp"),
        ["22:85: error E193: no analysis that is read here has the model group 'dp'; known: mtl, stl"],
    ),
    "a group by default that was not probed": (
        ("models: [stl, mtl], dep", "models: [stl], dep"),
        [
            "22:10: error E193: no analysis that is read here has the model group 'mtl', which `joint` is by default; "
            "set `joint`"
        ],
    ),
    "more tasks than there are": (
        ("tasks_at_least: 2", "tasks_at_least: 3"),
        [
            "22:59: error E197: 'tasks_at_least' is 3, but 2 tasks have single-task models in this analysis; "
            "add groups of such models to `models`, or lower `tasks_at_least`"
        ],
    ),
    "more tasks than there are, by default": (
        (", tasks_at_least: 2", ""),
        [
            "22:10: error E197: 'tasks_at_least' is 3, but 2 tasks have single-task models in this analysis; "
            "add groups of such models to `models`, or lower `tasks_at_least`"
        ],
    ),
    "no single-task models": (
        ("models: [dp], tasks", "models: [mtl], tasks"),
        [
            "22:60: error E197: 'tasks_at_least' is 2, but no tasks have single-task models in this analysis; "
            "add groups of such models to `models`, or lower `tasks_at_least`"
        ],
    ),
    "stem cells of whole models": (
        ("models: [dp], tasks", "models: [dp, stl], tasks"),
        [f"22:42: error E196: the models of group 'stl' {UNGATED}; name groups that have them under `models`: dp"],
    ),
    "utilisation of whole models": (
        ("models: [dp]}", "models: [mtl, stl]}"),
        [
            f"20:42: error E196: the models of group 'mtl' {UNGATED}; give them `sharing: l0`",
            f"20:47: error E196: the models of group 'stl' {UNGATED}; give them `sharing: l0`",
        ],
    ),
    "utilisation of all groups": (
        ("head_utilisation, models: [dp]}", "head_utilisation}"),
        [f"20:8: error E196: the models of group 'stl' {UNGATED}; name groups that have them under `models`: dp"],
    ),
    "utilisation of a group with gates at times": (
        ("sharing: l0}", "sharing: l0, sweep: {sharing: [l0, hard]}}"),
        [
            f"20:42: error E196: some models of group 'dp' {UNGATED}; give them `sharing: l0`",
            f"22:38: error E196: some models of group 'dp' {UNGATED}; give them `sharing: l0`",
        ],
    ),
    "a curve without gated models": (
        ("models: [stl, dp]", "models: [stl, mtl]"),
        ["21:41: error E194: no model group of this analysis has head gates; add one with `sharing: l0`"],
    ),
    "gates alone of whole models": (
        ("  use:", "  gates: {type: head_importance, models: [stl, mtl], methods: [gate]}\n  use:"),
        ["20:42: error E194: no model group of this analysis has head gates; add one with `sharing: l0`"],
    ),
}


@pytest.mark.parametrize("name", BROKEN_GATED)
def test_an_analysis_that_would_stop_later_is_refused_at_once(name: str, complaints: Complaints) -> None:
    (old, new), lines = BROKEN_GATED[name]
    assert GATED.count(old) == 1
    assert complaints(GATED.replace(old, new)) == [f"specs/study.yaml:{line}" for line in lines]


SOUND: dict[str, tuple[str, str]] = {
    "as it is": ("", ""),
    "gates come by a sweep of the group": ("sharing: l0}", "sharing: hard, sweep: {sharing: [{type: l0, eps: 1e-5}]}}"),
    "gates come by a sweep of the spec": ("dp: {tasks: each, sharing: l0}", "dp: {tasks: each, sharing: hard}"),
    "gates stay in a sweep": ("sharing: l0}", "sharing: l0, sweep: {sharing.lambda: [0.1, 0.5]}}"),
    "a curve of models some of which have gates": (
        "sharing: l0}",
        "sharing: l0}\n  other: {tasks: all, sharing: hard}",
    ),
    "stem cells pass over models of several tasks": ("models: [dp], tasks", "models: [dp, mtl], tasks"),
    "a pruning table shows whole models too": ("  use:", "  table: {type: pruning_table, models: [stl]}\n  use:"),
    "gates alone of models some of which have them": (
        "  use:",
        "  gates: {type: head_importance, models: [stl, dp], methods: [gate]}\n  use:",
    ),
    "gates beside another method": (
        "  use:",
        "  gates: {type: head_importance, models: [stl], methods: [gradient, gate]}\n  use:",
    ),
    "the probe is of all groups": ("models: [stl, mtl], dep", "dep"),
}


@pytest.mark.parametrize("name", SOUND)
def test_what_can_work_is_not_refused(name: str, load: Load) -> None:
    old, new = SOUND[name]
    text = GATED.replace(old, new) if old else GATED
    if "spec" in name:
        text += "sweep: {sharing: [l0]}\n"
    assert "cells" in load(text).spec.analyses


def test_a_broken_analysis_is_not_said_to_be_missing_by_those_that_read_it(complaints: Complaints) -> None:
    (line,) = complaints(GATED.replace("attention_probe,", "attention_probe, seed: x,"))
    assert line.startswith("specs/study.yaml:19:39: error E135: 'seed' must be")


def test_a_group_by_default_that_is_not_there(complaints: Complaints) -> None:
    assert complaints(GATED.replace(" mtl", " joined")) == [
        "specs/study.yaml:22:10: error E192: there is no model group 'mtl', which `joint` is by default; set `joint`"
    ]


def test_analyses_are_not_blamed_for_models_that_are_not_there(complaints: Complaints) -> None:
    assert len(complaints(SPEC, "models=[1]")) == 1


def test_analyses_are_not_blamed_for_a_group_that_is_wrong_itself(complaints: Complaints) -> None:
    (line,) = complaints(GATED.replace("sharing: l0}", "sharing: l1}"))
    assert "E132" in line
