"""What is wrong with a spec, to the letter: message, hint and position."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from mtlspec.io.project import Project
from tests.unit.spec.small_project import DATA_CARD, SPEC

Complaints = Callable[..., list[str]]

# What is changed in the sound spec -> the lines that answer it, after the name of the file.
BROKEN: dict[str, tuple[tuple[str, str], list[str]]] = {
    "unknown key": (
        ("  epochs: 5", "  epoch: 5"),
        ["9:3: error E130: unknown key 'epoch'; did you mean 'epochs'?"],
    ),
    "unknown top-level key": (
        ("seeds: [1, 2]", "seedz: [1, 2]"),
        ["12:1: error E130: unknown key 'seedz'; did you mean 'seeds'?"],
    ),
    "start from a group that is not above": (
        ("sharing: hard, train: {epochs: 8}}", "sharing: hard, start: stll}"),
        ["15:43: error E181: there is no model group 'stll' above 'mtl' to start from; did you mean 'stl'?"],
    ),
    "start from a group without such a model": (
        ("sharing: hard, train: {epochs: 8}}", "sharing: hard, start: stl}"),
        ["15:43: error E182: 'stl' has no model of pos + lem for 'mtl' to start from"],
    ),
    "missing key": (
        ("data: corpus\n", ""),
        [
            "1:1: error E131: the key 'data' is missing; it holds a name (a small letter, then small "
            "letters, digits and `_`, at most 40) or a mapping"
        ],
    ),
    "unknown kind": (
        ("type: tagging, layer: xpos", "type: taging, layer: xpos"),
        ["6:15: error E132: unknown task type 'taging'; did you mean 'tagging'?"],
    ),
    "unknown kind, short form": (
        ("decoder: crf", "decoder: crff"),
        ["7:47: error E132: unknown tagger 'crff'; did you mean 'crf'?"],
    ),
    "missing type": (
        ("sampler: {type: power, alpha: 0.8}", "sampler: {alpha: 0.8}"),
        [
            "11:12: error E131: the key 'type' is missing; it holds one of: annealed, balanced, power, "
            "proportional, random, round_robin, square_root"
        ],
    ),
    "option of another kind": (
        ("sampler: {type: power, alpha: 0.8}", "sampler: {type: power, alpah: 0.8}"),
        ["11:26: error E130: unknown key 'alpah'; did you mean 'alpha'?"],
    ),
    "wrong type": (
        ("epochs: 5", "epochs: five"),
        ["9:11: error E135: 'epochs' must be a whole number of at least 1, not the text 'five'"],
    ),
    "a quoted number": (
        ("epochs: 5", "epochs: '5'"),
        ["9:11: error E135: 'epochs' must be a whole number of at least 1, not the text '5'"],
    ),
    "a truth value for a number": (
        ("epochs: 5", "epochs: true"),
        ["9:11: error E135: 'epochs' must be a whole number of at least 1, not true"],
    ),
    "out of range": (
        ("subword_dropout: 0.2", "subword_dropout: 1.5"),
        [
            "4:41: error E135: 'subword_dropout' must be a number of at least 0 and below 1, not 1.5",
        ],
    ),
    "a list for a mapping": (
        ("lr: {encoder: 5e-5, decoder: 1e-3}", "lr: [5e-5, 1e-3]"),
        ["10:7: error E135: 'lr' must be a mapping, not a list"],
    ),
    "wrong choice in a union": (
        ("tasks: each", "tasks: eech"),
        [
            "14:16: error E135: 'tasks' must be 'each', 'pairs', 'all' or 'all_but_one', not the text "
            "'eech'; did you mean 'each'?"
        ],
    ),
    "no member of a union": (
        ("tasks: each", "tasks: 3"),
        ["14:16: error E135: 'tasks' must be 'each', 'pairs', 'all' or 'all_but_one' or a list, not 3"],
    ),
    "a number for a card": (
        ("data: corpus", "data: 3"),
        [
            "3:7: error E135: 'data' must be a name (a small letter, then small letters, digits and `_`, at most 40) "
            "or a mapping, not 3"
        ],
    ),
    "a kind's type that is no text": (
        ("type: tagging, layer: xpos", "type: [tagging], layer: xpos"),
        ["6:15: error E134: 'type' must be the name of a task type, not a list"],
    ),
    "an inline card with a wrong key": (
        ("card: small", "card: {card: encoder, name: x, licence: y, sorce: pretrain}"),
        [
            "4:17: error E131: the key 'source' is missing; it holds the name of a kind, or a mapping with `type`",
            "4:54: error E130: unknown key 'sorce'; did you mean 'source'?",
        ],
    ),
    "wrong item of a union's list": (
        ("tasks: each", "tasks: [pos, 3]"),
        [
            "14:22: error E135: item 2 of 'tasks' must be a name (a small letter, then small letters, "
            "digits and `_`, at most 40), not 3"
        ],
    ),
    "wrong version": (
        ("mtlspec: 1", "mtlspec: true"),
        ["1:10: error E135: 'mtlspec' must be 1, not true"],
    ),
    "a bad name as key": (
        ("  stl: {", "  STL: {"),
        [
            "14:3: error E135: the key must be a name (a small letter, then small letters, digits and "
            "`_`, at most 40), not the text 'STL'",
            "17:41: error E152: there is no model group 'stl'; did you mean 'mtl'?",
        ],
    ),
    "layer that the data does not have": (
        ("layer: xpos", "layer: xposs"),
        ["6:31: error E150: the data card 'corpus' has no layer 'xposs'; did you mean 'xpos'?"],
    ),
    "layer that the task cannot read": (
        ("layer: xpos", "layer: dep"),
        [
            "6:31: error E151: a task of type 'tagging' reads layers of kind 'tags'; 'dep' is of kind "
            "'dep'; layers that fit: lemma, upos, xpos"
        ],
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
    "analysis that names a missing model group": (
        ("models: [stl, mtl]", "models: [stl, mlt]"),
        ["17:46: error E152: there is no model group 'mlt'; did you mean 'mtl'?"],
    ),
    "analysis that names a model group twice": (
        ("models: [stl, mtl]", "models: [stl, stl]"),
        ["17:46: error E153: the model group 'stl' is named twice"],
    ),
    "analysis whose baseline is no model group": (
        ("models: [stl, mtl]", "models: [stl, mtl], baseline: slt"),
        ["17:62: error E169: the baseline 'slt' is not a model group of this analysis; did you mean 'stl'?"],
    ),
    "duplicate seeds": (
        ("seeds: [1, 2]", "seeds: [1, 2, 1]"),
        ["12:15: error E154: the seed 1 stands twice"],
    ),
    "no seeds": (
        ("seeds: [1, 2]", "seeds: []"),
        ["12:8: error E135: 'seeds' must be a list with at least one item, not an empty list"],
    ),
    "mixed precision on a CPU": (
        ("seeds: [1, 2]", "seeds: [1, 2]\nrun: {precision: bf16}"),
        [
            "13:18: error E155: mixed precision ('bf16') needs a GPU, and the device is 'cpu'; use "
            "`precision: fp32` or another `device`"
        ],
    ),
    "unknown card": (
        ("data: corpus", "data: corpse"),
        ["3:7: error E122: there is no card 'corpse' in registry/data; did you mean 'corpus'?"],
    ),
    "a card's name with a path": (
        ("data: corpus", "data: ../corpus"),
        [
            "3:7: error E124: a card has a name of small letters, digits and `_`, not the text '../corpus'",
            "3:7: error E135: 'data' must be a name (a small letter, then small letters, digits and "
            "`_`, at most 40), not the text '../corpus'",
        ],
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
        ["12:27: error E164: the sweep over 'train.epochs' has a value twice"],
    ),
    "sweep without values": (
        ("seeds: [1, 2]", "sweep: {train.epochs: []}"),
        ["12:23: error E163: the sweep over 'train.epochs' has no values"],
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_spec_is_told_to_the_letter(name: str, complaints: Complaints) -> None:
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


def test_too_many_trainings(complaints: Complaints) -> None:
    values = list(range(1, 80))
    text = SPEC.replace("seeds: [1, 2]", f"sweep: {{train.epochs: {values}, train.accumulate: {values}}}")
    assert complaints(text) == [
        "specs/study.yaml:14:3: error E160: the spec asks for 56169 trainings, more than 10000; shorten the sweeps"
    ]


def test_analyses_are_not_blamed_for_models_that_are_not_there(complaints: Complaints) -> None:
    assert len(complaints(SPEC, "models=[1]")) == 1


def test_all_errors_of_a_file_come_at_once(complaints: Complaints) -> None:
    text = (
        SPEC.replace("epochs: 5", "epochs: x").replace("layer: xpos", "layer: xposs").replace("each", "[nope]")
    ).replace("models: [stl, mtl]", "models: [slt]")
    assert [line.split(": ")[0] for line in complaints(text)] == [
        "specs/study.yaml:6:31",
        "specs/study.yaml:9:11",
        "specs/study.yaml:14:17",
        "specs/study.yaml:17:41",
    ]


def test_a_wrong_train_is_told_once_although_every_model_has_it(complaints: Complaints) -> None:
    assert len(complaints(SPEC.replace("alpha: 0.8", "alpha: -1"))) == 1


CARDS: dict[str, tuple[tuple[str, str], list[str]]] = {
    "neither root nor generator": (
        ("root: corpora/corpus\n", ""),
        ["1:1: error E141: a card has `root` or `generator`, this one has neither"],
    ),
    "both root and generator": (
        ("root: corpora/corpus\n", "root: corpora/corpus\ngenerator: english_mini\n"),
        ["5:7: error E141: a card has `root` or `generator`, this one has both"],
    ),
    "unknown column": (
        ("upos: upos", "upos: upoz"),
        ["9:32: error E146: the format 'conllu' has no column 'upoz'; did you mean 'upos'?"],
    ),
    "missing split": (
        (", test: test.conllu", ""),
        ["8:12: error E143: the split 'test' has no file"],
    ),
    "unknown split": (
        ("test: test.conllu", "test: test.conllu, tset: x"),
        ["8:70: error E135: the key must be 'train', 'dev' or 'test', not the text 'tset'; did you mean 'test'?"],
    ),
    "path that leaves the root": (
        ("dev: dev.conllu", "dev: ../dev.conllu"),
        [
            "8:39: error E144: '../dev.conllu' is not a path below the card's root; write it "
            "relative to the card's root, with `/`, without `..`"
        ],
    ),
    "layer named twice": (
        ("dep: dep}\n", "dep: dep}\n  - {reader: conllu, paths: {train: a, dev: b, test: c}, layers: {upos: upos}}\n"),
        ["10:67: error E142: the layer 'upos' stands in two groups of files; it stands first in line 9"],
    ),
    "unknown reader": (
        ("reader: conllu", "reader: conlu"),
        ["7:13: error E132: unknown reader 'conlu'; did you mean 'conllu'?"],
    ),
    "another name than its file's": (
        ("name: corpus", "name: corpora"),
        ["2:7: error E123: the card is called 'corpora', its file 'corpus.yaml'; give both the same name"],
    ),
    "an encoder's card": (
        ("card: data", "card: encoder"),
        ["1:7: error E135: 'card' must be 'data', not the text 'encoder'"],
    ),
    "no mapping": (
        (DATA_CARD, "- a\n"),
        ["1:1: error E125: a card is a mapping, not a list"],
    ),
}


@pytest.mark.parametrize("name", CARDS)
def test_a_broken_card_is_told_in_its_own_file(name: str, project: Project, complaints: Complaints) -> None:
    (old, new), lines = CARDS[name]
    assert DATA_CARD.count(old) == 1
    (project.data_cards / "corpus.yaml").write_text(DATA_CARD.replace(old, new))
    assert complaints(SPEC) == [f"registry/data/corpus.yaml:{line}" for line in lines]


def test_a_balancing_that_does_not_fit_its_tasks(complaints: Complaints) -> None:
    text = SPEC.replace("train: {epochs: 8}", "train: {balance: {type: static, weights: {pos: 1.0}}}")
    (line,) = complaints(text)
    assert line.startswith("specs/study.yaml:15:53: error E161: the balance does not fit model 'mtl': ")
    assert "lem" in line
