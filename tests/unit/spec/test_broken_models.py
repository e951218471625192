"""What is wrong with model groups, how they train and what they are swept over, to the letter."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from mtlspec.errors import Problems
from mtlspec.io.project import Project
from mtlspec.spec.load import LoadedSpec, load_spec
from tests.unit.spec.small_project import SPEC

Complaints = Callable[..., list[str]]
Load = Callable[..., LoadedSpec]

# What is changed in the sound spec -> the lines that answer it, after the name of the file.
BROKEN: dict[str, tuple[tuple[str, str], list[str]]] = {
    "start from a group that is not above": (
        ("sharing: hard, train: {epochs: 8}}", "sharing: hard, start: stll}"),
        ["15:43: error E181: there is no model group 'stll' above 'mtl' to start from; did you mean 'stl'?"],
    ),
    "start from a group without such a model": (
        ("sharing: hard, train: {epochs: 8}}", "sharing: hard, start: stl}"),
        [
            "15:43: error E182: 'stl' has no model of pos + lem for 'mtl' to start from; `take: encoder` starts "
            "from a model of other tasks"
        ],
    ),
    "start from a seed that is not trained": (
        (
            "sharing: hard, train: {epochs: 8}}",
            "sharing: hard, start: {group: stl, take: encoder, tasks: [pos], seed: 7}}",
        ),
        ["15:91: error E187: no model of 'stl' has the seed 7 to start from; the seeds of the spec: 1, 2"],
    ),
    "start from one of several encoders": (
        ("sharing: hard, train: {epochs: 8}}", "sharing: hard, start: {group: stl, take: encoder}}"),
        [
            "15:43: error E182: 'stl' has no model of pos + lem for 'mtl' to start from; say which one with `tasks`: "
            "[pos], [lem]"
        ],
    ),
    "start from tasks that the group has not": (
        ("sharing: hard, train: {epochs: 8}}", "sharing: hard, start: {group: stl, take: encoder, tasks: [pos, lem]}}"),
        [
            "15:78: error E182: 'stl' has no model of pos + lem for 'mtl' to start from; say which one with `tasks`: "
            "[pos], [lem]"
        ],
    ),
    "start with all weights of other tasks": (
        ("sharing: hard, train: {epochs: 8}}", "sharing: hard, start: {group: stl, tasks: [pos]}}"),
        [
            "15:63: error E182: 'stl' has no model of pos + lem for 'mtl' to start from; `take: encoder` starts "
            "from a model of other tasks"
        ],
    ),
    "start with all weights for tasks that are chosen later": (
        (
            "tasks: all, sharing: hard, train: {epochs: 8}}",
            "tasks: {type: helpful, pairs: stl}, sharing: hard, start: stl}",
        ),
        [
            "15:39: error E179: 'stl' has no model of pos + lem, from which the tasks of 'mtl' are chosen",
            "15:67: error E188: the tasks of 'mtl' are chosen while the study runs, so decoders cannot be taken over; "
            "write `start: {group: stl, take: encoder}`",
        ],
    ),
    "tasks chosen from a group that is not above": (
        ("tasks: all,", "tasks: helpful,"),
        ["15:16: error E178: there is no model group 'pair' above 'mtl' to choose tasks from; known: stl"],
    ),
    "tasks chosen to help a task that is not there": (
        ("tasks: all,", "tasks: {type: helpful, target: lemm},"),
        ["15:16: error E156: there is no task 'lemm' to help; did you mean 'lem'?"],
    ),
    "task set with an unknown option": (
        ("tasks: all,", "tasks: {type: helpful, kk: 2},"),
        ["15:32: error E130: unknown key 'kk'; did you mean 'k'?"],
    ),
    "model that names a missing task": (
        ("tasks: all,", "tasks: [pos, lemm],"),
        ["15:22: error E158: there is no task 'lemm'; did you mean 'lem'?"],
    ),
    "model that names a task twice": (
        ("tasks: all,", "tasks: [pos, lem, pos],"),
        ["15:27: error E159: the task 'pos' is named twice"],
    ),
    "model without tasks": (
        ("tasks: all,", "tasks: [],"),
        ["15:16: error E157: the list of tasks is empty; name tasks, or write `all`"],
    ),
    "sweep over a key that does not exist": (
        ("seeds: [1, 2]", "sweep: {train.lr.encodr: [1e-5]}"),
        [
            "12:9: error E166: the sweep key 'train.lr.encodr' does not exist in model 'stl': unknown "
            "key 'encodr'; did you mean 'encoder'?"
        ],
    ),
    "sweep with a value that does not fit": (
        ("seeds: [1, 2]", "sweep: {train.epochs: [3, 0]}"),
        [
            "12:27: error E167: a value of the sweep over 'train.epochs' does not fit model 'stl': "
            "'epochs' must be a whole number of at least 1, not 0"
        ],
    ),
    "sweep over a key that cannot be swept": (
        ("seeds: [1, 2]", "sweep: {seeds: [3, 0]}"),
        ["12:9: error E162: 'seeds' cannot be swept; write `train.<key>`, `sharing` or `sharing.<key>`"],
    ),
    "sweep over a type": (
        ("seeds: [1, 2]", "sweep: {train.sampler.type: [random]}"),
        [
            "12:9: error E162: 'train.sampler.type' cannot be swept; the kinds of 'train.sampler' are "
            "swept as a whole, without `.type`"
        ],
    ),
    "sweep through a number": (
        ("seeds: [1, 2]", "sweep: {train.epochs.x: [3]}"),
        ["12:9: error E165: the sweep key 'train.epochs.x' does not exist in model 'stl': 'epochs' has no keys"],
    ),
    "sweep with a value twice": (
        ("seeds: [1, 2]", "sweep: {train.epochs: [3, 3]}"),
        ["12:27: error E164: the sweep over 'train.epochs' has a value twice; leave one out"],
    ),
    "sweep with a value twice, written in two ways": (
        ("seeds: [1, 2]", "sweep: {train.clip: [1, 1.0]}"),
        ["12:25: error E164: the sweep over 'train.clip' has a value twice; 1 and 1.0 are the same here"],
    ),
    "sweep with a kind twice, written in two ways": (
        ("seeds: [1, 2]", "sweep: {train.sampler: [random, {type: power, alpha: 0.8}, power]}"),
        [
            "12:60: error E164: the sweep over 'train.sampler' has a value twice; "
            '{"alpha":0.8,"type":"power"} and "power" are the same here'
        ],
    ),
    "weight of an unknown task": (
        ("  epochs: 5", "  epochs: 5\n  balance: {type: static, weights: {pos: 1, lem: 1, foo: 3}}"),
        ["10:53: error E176: there is no task 'foo' to weigh; known: lem, pos"],
    ),
    "weight of a misspelt task in one group": (
        ("train: {epochs: 8}", "train: {balance: {type: static, weights: {pos: 1, lme: 1}}}"),
        ["15:86: error E176: there is no task 'lme' to weigh; did you mean 'lem'?"],
    ),
    "weight of an unknown task in a sweep": (
        ("seeds: [1, 2]", "sweep: {train.balance: [none, {type: static, weights: {pos: 1, lem: 1, foo: 2}}]}"),
        ["12:72: error E176: there is no task 'foo' to weigh; known: lem, pos"],
    ),
    "sweep without values": (
        ("seeds: [1, 2]", "sweep: {train.epochs: []}"),
        ["12:23: error E163: the sweep over 'train.epochs' has no values"],
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_model_group_is_told_to_the_letter(name: str, complaints: Complaints) -> None:
    (old, new), lines = BROKEN[name]
    assert SPEC.count(old) == 1
    assert complaints(SPEC.replace(old, new)) == [f"specs/study.yaml:{line}" for line in lines]


@pytest.mark.parametrize("sets", ["pairs", "all_but_one"])
def test_task_sets_that_one_task_cannot_form(sets: str, complaints: Complaints) -> None:
    text = SPEC.replace("  lem: {type: tagging, layer: lemma, decoder: crf}\n", "").replace(
        "tasks: all", f"tasks: {sets}"
    )
    assert complaints(text) == [
        f"specs/study.yaml:14:16: error E156: '{sets}' needs at least two tasks, and the spec has 1"
    ]


def test_a_choice_needs_seeds_and_models_that_are_swept_alike(complaints: Complaints) -> None:
    text = SPEC.replace(
        "  mtl: {",
        "  pair: {tasks: pairs, sharing: hard, sweep: {train.epochs: [1, 2]}}\n"
        "  oracle: {tasks: helpful, sharing: hard}\n  mtl: {",
    )
    assert complaints(text, "seeds=[1]") == [
        "specs/study.yaml:16:19: error E177: 'helpful' needs at least 2 seeds, and the spec has 1",
        "specs/study.yaml:16:19: error E199: 'pair' is swept over 'train.epochs': from which of its models are the "
        "tasks of 'oracle' chosen?; sweep both groups over the same values, or name another one",
    ]


def test_too_many_trainings(complaints: Complaints) -> None:
    values = list(range(1, 80))
    text = SPEC.replace("seeds: [1, 2]", f"sweep: {{train.epochs: {values}, train.accumulate: {values}}}")
    assert complaints(text) == [
        "specs/study.yaml:14:3: error E160: the spec asks for 56169 trainings, more than 10000; shorten the sweeps"
    ]


def test_a_balancing_that_does_not_fit_its_tasks(complaints: Complaints) -> None:
    text = SPEC.replace("train: {epochs: 8}", "train: {balance: {type: static, weights: {pos: 1.0}}}")
    (line,) = complaints(text)
    assert line.startswith("specs/study.yaml:15:53: error E161: the balance does not fit model 'mtl': ")
    assert "lem" in line


def test_a_weight_of_an_unknown_task_is_told_where_it_was_said(complaints: Complaints) -> None:
    override = "train.balance={type: static, weights: {pos: 1, lem: 1, foo: 3}}"
    assert complaints(SPEC, override) == [
        f"--set {override[:59]}…: error E176: there is no task 'foo' to weigh; known: lem, pos"
    ]
    swept = "sweep={train.balance.weights.foo: [1, 2]}"
    (line,) = complaints(SPEC, "train.balance={type: static, weights: {pos: 1, lem: 1}}", swept)
    assert line == f"--set {swept}: error E176: there is no task 'foo' to weigh; known: lem, pos"


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
