"""Sharing strategies that do not work, and samplers beside joint batches: told where they are said, in sweeps too."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from mtlspec.errors import Problems
from mtlspec.io.project import Project
from mtlspec.spec.load import LoadedSpec, load_spec
from tests.unit.spec.small_project import SPEC

Complaints = Callable[..., list[str]]
Load = Callable[..., LoadedSpec]

STATIC = "`mode: static` prunes models that are trained already: name their group with `start`"
RELATIVE = "a `relative` penalty is added to the balanced loss: leave out `order: penalty_then_balance`"


@pytest.mark.parametrize(
    ("sharing", "column", "problem"),
    [
        ("{type: l0, kept: 0.01, mode: static}", 59, STATIC),
        ("{type: l0, relative: true, order: penalty_then_balance}", 64, RELATIVE),
    ],
)
def test_a_sharing_that_does_not_work_is_told_at_the_option_that_is_to_blame(
    sharing: str, column: int, problem: str, complaints: Complaints
) -> None:
    text = SPEC.replace("sharing: hard, train", f"sharing: {sharing}, train")
    assert complaints(text) == [
        f"specs/study.yaml:15:{column}: error E180: the sharing of model 'mtl' does not work: {problem}"
    ]


@pytest.mark.parametrize(
    ("sharing", "sweep", "told"),
    [
        ("{type: l0}", "{sharing.mode: [dynamic, static]}", (75, STATIC)),
        ("hard", "{sharing: [hard, {type: l0, mode: static}]}", (78, STATIC)),
        ("{type: l0}", "{sharing.relative: [true], sharing.order: [penalty_then_balance]}", (93, RELATIVE)),
        ("{type: l0}", "{sharing.relative: [true, false], sharing.order: [balance_then_penalty]}", None),
        ("{type: l0}, start: stl", "{sharing.mode: [dynamic, static]}", None),
        ("{type: l0, mode: static}", "{sharing.mode: [dynamic]}", None),  # what it says itself is never trained
    ],
)
def test_a_sharing_that_only_a_sweep_brings_in_is_checked_too(
    sharing: str, sweep: str, told: tuple[int, str] | None, complaints: Complaints, load: Load
) -> None:
    text = SPEC.replace("all, sharing: hard, train: {epochs: 8}", f"each, sharing: {sharing}, sweep: {sweep}")
    if told is None:
        assert load(text)
    else:
        where = f"specs/study.yaml:15:{told[0]}: error E180: the sharing of model 'mtl' does not work"
        assert complaints(text) == [f"{where}: {told[1]}"]


TAKEN = "`take: shared` of models of 'stl', whose sharing is 'hard'"
NAMED = "`embedding: pos` is that of a task of a model to start from: `start: {..., take: shared}`"
START = "start: {group: stl, take: shared, tasks: [pos]}"


@pytest.mark.parametrize(
    ("stl", "mtl", "problem"),
    [
        ("hard", f"ca_mtl, {START}", TAKEN),
        ("hard", "{type: ca_mtl, embedding: pos}", NAMED),
        ("hard", "{type: ca_mtl, embedding: pos}, start: {group: stl, take: encoder, tasks: [pos]}", NAMED),
        ("pals", f"pals, {START}", "what it adds belongs to tasks, and these may be others: `take: shared`"),
        (
            "ca_mtl",
            f"{{type: ca_mtl, embedding: lem}}, {START}",
            "`embedding: lem`: the model to start from has no such task, but pos",
        ),
        ("ca_mtl", f"{{type: ca_mtl, embedding: pos}}, {START}", None),
        ("ca_mtl", f"ca_mtl, {START}", None),
        ("hard", f"hard, {START}", None),
    ],
)
def test_what_a_strategy_added_is_taken_over_where_it_can_be(
    stl: str, mtl: str, problem: str | None, complaints: Complaints, load: Load
) -> None:
    old = "sharing: hard, train: {epochs: 8}}"
    text = SPEC.replace(old, "sharing: MTL}").replace("sharing: hard", f"sharing: {stl}").replace("MTL", mtl)
    if problem is None:
        assert load(text).spec.models["mtl"].starts_from is not None
        return
    (line,) = complaints(text)
    assert line.endswith(f"error E180: the sharing of model 'mtl' does not work: {problem}")


def test_a_sharing_that_does_not_fit_the_tasks_is_told_where_models_learn_them_together(complaints: Complaints) -> None:
    text = SPEC.replace("sharing: hard", "sharing: task_embedding")
    reason = "it has one tagger for all tasks, and 'lem' and 'pos' have other decoders"
    assert complaints(text) == [
        f"specs/study.yaml:15:30: error E180: the sharing of model 'mtl' does not work: {reason}"
    ]


def test_a_sweep_of_the_whole_spec_is_told_once(complaints: Complaints) -> None:
    text = SPEC.replace("analyses:", "sweep: {sharing: [hard, {type: l0, mode: static}]}\nanalyses:")
    (line,) = complaints(text)
    assert line.startswith("specs/study.yaml:16:42: error E180: ")


def test_a_penalty_that_overflows_is_refused(complaints: Complaints) -> None:
    text = SPEC.replace("sharing: hard, train", "sharing: {type: l0, lambda: 1e30}, train")
    assert complaints(text) == [
        "specs/study.yaml:15:49: error E135: 'lambda' must be a number from 0 to 1000000.0, not 1e+30"
    ]


NOTHING_TO_DRAW = "leave it out, or write `batching: sampled`"


def test_a_sampler_beside_joint_batches_is_an_error(complaints: Complaints) -> None:
    everywhere = SPEC.replace("  epochs: 5", "  batching: joint")
    of_all = "error E198: the sampler has nothing to draw: the batches of every model are joint"
    assert complaints(everywhere) == [f"specs/study.yaml:11:3: {of_all}; {NOTHING_TO_DRAW}"]
    own = SPEC.replace("{epochs: 8}", "{batching: joint, sampler: random}")
    of_one = "error E198: the sampler has nothing to draw: the batches of model 'mtl' are joint"
    assert complaints(own) == [f"specs/study.yaml:15:61: {of_one}; {NOTHING_TO_DRAW}"]
    refined = own.replace("sampler: random", "sampler: {alpha: 0.5}")
    assert complaints(refined) == [f"specs/study.yaml:15:61: {of_one}; {NOTHING_TO_DRAW}"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("{epochs: 8}", "{batching: joint}"),
        ("  epochs: 5", "  batching: joint\n  epochs: 5"),
        ("{epochs: 8}", "{batching: joint, sampler: random}, sweep: {train.batching: [joint, sampled]}"),
    ],
    ids=["one group turns to joint batches", "one group turns to sampled batches", "batching is swept"],
)
def test_a_sampler_that_another_group_uses_is_none(old: str, new: str, load: Load) -> None:
    text = SPEC.replace(old, new).replace("{epochs: 8}", "{batching: sampled}")
    assert load(text).spec.train.sampler.type == "power"


def test_a_spec_may_turn_the_one_it_extends_to_joint_batches(project: Project) -> None:
    path = project.root / "specs/joint.yaml"
    path.write_text("extends: study.yaml\nname: joint\ntrain: {batching: joint}\n")
    assert load_spec(path, project).spec.models["mtl"].train.batching == "joint"
    assert load_spec(project.root / "specs/study.yaml", project, ["train.batching=joint"])


def test_a_sampler_that_is_said_after_joint_batches_is_an_error(project: Project, complaints: Complaints) -> None:
    joint = SPEC.replace("{epochs: 8}", "{batching: joint}")
    of_one = "error E198: the sampler has nothing to draw: the batches of model 'mtl' are joint"
    override = "models.mtl.train.sampler=random"
    assert complaints(joint, override) == [f"--set {override}: {of_one}; {NOTHING_TO_DRAW}"]
    path = project.root / "specs/more.yaml"
    path.write_text("extends: study.yaml\nname: more\nmodels: {mtl: {train: {sampler: random}}}\n")
    with pytest.raises(Problems, match=r"specs/more\.yaml:3:24: error E198") as caught:
        load_spec(path, project)
    assert len(caught.value.problems) == 1


def test_a_sweep_that_leaves_joint_batches_only_is_joint(complaints: Complaints) -> None:
    text = SPEC.replace("analyses:", "sweep: {train.batching: [joint]}\nanalyses:")
    (line,) = complaints(text)
    assert line.startswith("specs/study.yaml:11:3: error E198: the sampler has nothing to draw")


@pytest.mark.parametrize("batching", ["", "train.batching: [sampled, joint], "])
def test_samplers_are_not_swept_where_batches_are_joint(batching: str, complaints: Complaints) -> None:
    text = SPEC if batching else SPEC.replace("{epochs: 8}", "{batching: joint}")
    text = text.replace("analyses:", f"sweep: {{{batching}train.sampler.alpha: [0.5, 1.0]}}\nanalyses:")
    name = "stl" if batching else "mtl"
    assert complaints(text) == [
        f"specs/study.yaml:16:{9 + len(batching)}: error E810: the sweep over 'train.sampler.alpha' changes nothing "
        f"where the batches of model '{name}' are joint; sweep the samplers of groups with `batching: sampled` only"
    ]
