"""What is wrong with model groups, how they train and what they are swept over, to the letter."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from mtlspec.spec.load import LoadedSpec
from tests.unit.spec.small_project import SPEC

Complaints = Callable[..., list[str]]
Load = Callable[..., LoadedSpec]

# What is changed in the sound spec -> the lines that answer it, after the name of the file.
BROKEN: dict[str, tuple[tuple[str, str], list[str]]] = {
    "dev scored at the end where an earlier epoch may be kept": (
        ("train: {epochs: 8}", "train: {dev: last}"),
        [
            "15:49: error E879: `dev: last` scores no epoch but the last, and `keep: best` of model 'mtl' goes by all; "
            "write `keep: last`, without `plateau`"
        ],
    ),
    "a teacher that is not above": (
        ("train: {epochs: 8}", "train: {distil: {teacher: stll, prediction: 0, labels: 1, hidden: 1}}"),
        ["15:62: error E876: there is no model group 'stll' above 'mtl' to learn from; did you mean 'stl'?"],
    ),
    "a teacher of a seed that is not trained": (
        ("train: {epochs: 8}", "train: {distil: {teacher: stl, prediction: 0, labels: 1, hidden: 1, seed: 7}}"),
        ["15:110: error E876: no model of 'stl' has the seed 7 to teach 'mtl'; its seeds: 1, 2"],
    ),
    "a teacher from whom nothing is learnt": (
        ("train: {epochs: 8}", "train: {distil: {teacher: stl, prediction: 0}}"),
        ["15:52: error E888: all weights of `distil` are 0, so model 'mtl' would learn nothing"],
    ),
    "a teacher of layers alone, judged by decoders": (
        ("train: {epochs: 8}", "train: {distil: {teacher: stl, prediction: 0, hidden: 1}}"),
        [
            "15:52: error E888: decoders of model 'mtl' learn nothing from its teacher, and `keep: best` goes by their "
            "dev scores; write `keep: last`, or weights for `prediction` or `labels`"
        ],
    ),
    "predictions of a tagger": (
        ("train: {epochs: 8}", "train: {distil: {teacher: stl}}"),
        [
            "15:52: error E877: a task of type 'tagging' ('pos') learns no predictions of a teacher; write "
            "`prediction: 0`, and `labels: 1` beside the other losses"
        ],
    ),
    "layers out of order": (
        ("train: {epochs: 8}", "train: {distil: {teacher: stl, prediction: 0, labels: 1, hidden: 1, layers: [2, 1]}}"),
        ["15:112: error E884: `layers` must name layers in ascending order, each once"],
    ),
    "layers that the encoder has not": (
        ("train: {epochs: 8}", "train: {distil: {teacher: stl, prediction: 0, labels: 1, hidden: 1, layers: [2, 99]}}"),
        ["15:112: error E885: `layers` names layer 99, and the encoder has 4"],
    ),
    "even draws from tasks without classes": (
        ("train: {epochs: 8}", "train: {examples: 4, draw: balanced}"),
        [
            "15:63: error E871: model 'mtl' cannot draw evenly from the classes of 'pos': its examples have none; "
            "tasks about whole examples have: classification, regression"
        ],
    ),
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
    "start seed by seed from a group with fewer seeds": (
        (
            "sharing: hard, train: {epochs: 8}}",
            "sharing: hard, seeds: 30, start: {group: stl, take: encoder, tasks: [pos]}}",
        ),
        [
            "15:54: error E875: 'mtl' has a model of seed 3, and 'stl' none for it to start from; say which one all "
            "start from, such as `start: {group: stl, seed: 1}`; the seeds of the spec: 1, 2"
        ],
    ),
    "a seed of a group twice": (
        ("sharing: hard, train: {epochs: 8}}", "sharing: hard, seeds: [4, 4]}"),
        ["15:47: error E874: the seed 4 of model 'mtl' stands twice"],
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
            "tasks: {type: oracle, pairs: stl}, sharing: hard, start: stl}",
        ),
        [
            "15:38: error E179: 'stl' has no model of pos + lem, from which the tasks of 'mtl' are chosen",
            "15:66: error E188: the tasks of 'mtl' are chosen while the study runs, so decoders cannot be taken over; "
            "write `start: {group: stl, take: encoder}`",
        ],
    ),
    "tasks chosen from a group that is not above": (
        ("tasks: all,", "tasks: oracle,"),
        ["15:16: error E178: there is no model group 'pair' above 'mtl' to choose tasks from; known: stl"],
    ),
    "tasks chosen to help a task that is not there": (
        ("tasks: all,", "tasks: {type: oracle, target: lemm},"),
        ["15:16: error E156: there is no task 'lemm' to help; did you mean 'lem'?"],
    ),
    "task set with an unknown option": (
        ("tasks: all,", "tasks: {type: oracle, kk: 2},"),
        ["15:31: error E130: unknown key 'kk'; did you mean 'k'?"],
    ),
    "model that names a missing task": (
        ("tasks: all,", "tasks: [pos, lemm],"),
        ["15:22: error E158: there is no task 'lemm'; did you mean 'lem'?"],
    ),
    "model that names a task twice": (
        ("tasks: all,", "tasks: [pos, lem, pos],"),
        ["15:27: error E159: the task 'pos' is named twice"],
    ),
    "sets of some tasks that name a missing one": (
        ("tasks: all,", "tasks: {type: each_of, names: [pos, lemm]},"),
        ["15:45: error E158: there is no task 'lemm'; did you mean 'lem'?"],
    ),
    "pairs of one task": (
        ("tasks: all,", "tasks: {type: pairs_of, names: [pos]},"),
        ["15:16: error E156: 'pairs_of' names one task, and pairs need two"],
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
    "proxy of an unknown task": (
        ("train: {epochs: 8}", "train: {sampler: {type: mt_uncertainty, proxy: {foo: pos}}}"),
        ["15:84: error E176: there is no task 'foo' to lend scores to; known: lem, pos"],
    ),
    "proxy that is no task": (
        ("train: {epochs: 8}", "train: {sampler: {type: mt_uncertainty, proxy: {lem: poss}}}"),
        ["15:89: error E176: there is no task 'poss' to lend scores to 'lem'; did you mean 'pos'?"],
    ),
    "proxy of itself": (
        ("train: {epochs: 8}", "train: {sampler: {type: mt_uncertainty, proxy: {lem: lem}}}"),
        ["15:89: error E176: 'lem' cannot lend scores to itself; name another task"],
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


LABELLED = SPEC.replace("tasks:\n", "tasks:\n  topic: {type: classification, layer: topic}\n", 1).replace(
    "tasks: all, sharing: hard, train: {epochs: 8}", "tasks: [topic], sharing: hard, train: {draw: balanced}"
)


def test_even_draws_need_a_number_and_batches_of_single_tasks(complaints: Complaints) -> None:
    told = [line for line in complaints(LABELLED, "models.mtl.train.batching=joint") if "error E87" in line]
    assert told == [
        "specs/study.yaml:16:54: error E872: `draw: balanced` of model 'mtl' draws nothing: it trains on all examples; "
        "say how many with `train.examples`, or sweep over it",
        "specs/study.yaml:16:54: error E873: `draw: balanced` does not go with the joint batches of model 'mtl', which "
        "train all tasks at once; write `batching: sampled`",
    ]
    swept = complaints(LABELLED, "models.mtl.sweep={train.examples: [4, 16]}")
    assert not [line for line in swept if "error E87" in line]


def test_a_teacher_must_have_learnt_the_tasks_and_frozen_layers_learn_nothing(complaints: Complaints) -> None:
    distil = "{distil: {teacher: stl, prediction: 0, labels: 1, hidden: 1}, freeze: 0.5}"
    text = SPEC.replace("tasks: each", "tasks: [pos]").replace("train: {epochs: 8}", f"train: {distil}")
    assert complaints(text.replace("[stl, mtl]", "[]")) == [
        "specs/study.yaml:15:52: error E889: model 'mtl' cannot learn layers of a teacher while some of its own are "
        "frozen; leave `freeze` out, or the weights of layers and attention",
        "specs/study.yaml:15:62: error E876: 'stl' has no model of pos + lem for 'mtl' to learn from; it needs one of "
        "the same tasks, or one of 'lem' alone",
    ]


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
        "  oracle: {tasks: oracle, sharing: hard}\n  mtl: {",
    )
    assert complaints(text, "seeds=[1]") == [
        "specs/study.yaml:16:19: error E177: 'oracle' needs at least 2 seeds, and the spec has 1",
        "specs/study.yaml:16:19: error E199: 'pair' is swept over 'train.epochs': from which of its models are the "
        "tasks of 'oracle' chosen?; sweep both groups over the same values, or name another one",
    ]


def test_pairs_of_one_seed_are_no_ground_for_a_choice(complaints: Complaints) -> None:
    text = SPEC.replace(
        "  mtl: {",
        "  pair: {tasks: pairs, sharing: hard, seeds: [1]}\n  oracle: {tasks: oracle, sharing: hard}\n  mtl: {",
    )
    assert complaints(text) == [
        "specs/study.yaml:16:19: error E177: 'oracle' needs at least 2 seeds, and 'pair', from which 'oracle' chooses, "
        "has 1"
    ]


def test_who_starts_from_a_broken_group_is_not_blamed(complaints: Complaints) -> None:
    text = SPEC.replace("tasks: each, sharing: hard", "tasks: each, sharing: {type: ca_mtl, length: 0}")
    (line,) = complaints(text.replace("sharing: hard, train: {epochs: 8}}", "sharing: hard, start: stl}"))
    assert "E135" in line and "length" in line


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


def test_gates_are_kept_where_there_are_some(complaints: Complaints, load: Load) -> None:
    def kept(sharing: str) -> str:
        return SPEC.replace("sharing: hard, train", f"sharing: {sharing}, keep: gates, train")

    (told,) = complaints(kept("hard"))
    assert told == (
        "specs/study.yaml:15:42: error E899: the models of group 'mtl' have neither gates nor sets of heads to keep; "
        "`keep: scores` keeps none of their weights"
    )
    for sharing in ("{type: l0}", "{type: iat}"):
        assert load(kept(sharing)).spec.models["mtl"].keep == "gates"
    (told,) = complaints(SPEC.replace("sharing: hard, train", "sharing: hard, keep: weight, train"))
    assert "E135: 'keep' must be 'weights', 'gates' or 'scores', not the text 'weight'; did you mean 'weights'?" in told
