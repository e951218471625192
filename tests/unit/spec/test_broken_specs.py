"""What is wrong with a spec, to the letter: message, hint and position."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.unit.spec.small_project import SPEC

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
            "11:12: error E131: the key 'type' is missing; it holds one of: annealed, balanced, "
            "mt_uncertainty, per_task, power, proportional, random, round_robin, square_root"
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
        ["9:11: error E135: 'epochs' must be a whole number of at least 1, not the text '5'; write it without quotes"],
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
        ["14:16: error E132: unknown task set 'eech'; did you mean 'each'?"],
    ),
    "no member of a union": (
        ("tasks: each", "tasks: 3"),
        ["14:16: error E135: 'tasks' must be the name of a kind, or a mapping with `type` or a list, not 3"],
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
    "a quoted version": (
        ("mtlspec: 1", 'mtlspec: "1"'),
        ["1:10: error E135: 'mtlspec' must be 1, not the text '1'; write it without quotes"],
    ),
    "another quoted version": (
        ("mtlspec: 1", 'mtlspec: "2"'),
        ["1:10: error E135: 'mtlspec' must be 1, not the text '2'"],
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
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_spec_is_told_to_the_letter(name: str, complaints: Complaints) -> None:
    (old, new), lines = BROKEN[name]
    assert SPEC.count(old) == 1
    assert complaints(SPEC.replace(old, new)) == [f"specs/study.yaml:{line}" for line in lines]


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
