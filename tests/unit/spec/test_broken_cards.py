"""What is wrong with a data card, to the letter and in its own file."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from mtlspec.io.project import Project
from tests.unit.spec.small_project import DATA_CARD, SPEC

Complaints = Callable[..., list[str]]

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
