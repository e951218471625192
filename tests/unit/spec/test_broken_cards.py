"""What is wrong with a data card, to the letter and in its own file."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from mtlspec.errors import Place
from mtlspec.io.project import Project
from mtlspec.spec.cards import DataCard
from mtlspec.spec.check_splits import check_splits
from mtlspec.spec.nodes import wrap
from tests.unit.spec.small_project import DATA_CARD, SPEC

Complaints = Callable[..., list[str]]

CARDS: dict[str, tuple[tuple[str, str], list[str]]] = {
    "neither root nor generator": (
        ("root: corpora/corpus\n", ""),
        [
            "1:1: error E141: a card has `root` or `generator`, this one has neither; "
            "name the folder of the files, or what makes them"
        ],
    ),
    "both root and generator": (
        ("root: corpora/corpus\n", "root: corpora/corpus\ngenerator: english_mini\n"),
        ["5:7: error E141: a card has `root` or `generator`, this one has both; leave one of them out"],
    ),
    "unknown column": (
        ("upos: upos", "upos: upoz"),
        ["9:32: error E146: the format 'conllu' has no column 'upoz'; did you mean 'upos'?"],
    ),
    "missing split": (
        (", test: test.conllu", ""),
        ["8:12: error E143: the split 'test' has no file; name one, or hold it out of train: `hold_out: {test: 0.1}`"],
    ),
    "misspelt split": (
        ("test: test.conllu", "tset: test.conllu"),
        ["8:12: error E143: the split 'test' has no file; did you mean 'tset'?"],
    ),
    "split with a bad name": (
        ("test: test.conllu", "test: test.conllu, dev-2: x"),
        [
            "8:70: error E135: the key must be a name (a small letter, then small letters, digits and `_`, at most "
            "40), not the text 'dev-2'"
        ],
    ),
    "further split that is trained on": (
        ("test: test.conllu", "test: test.conllu, dev2: train.conllu"),
        [
            "8:76: error E147: the splits 'train' and 'dev2' share files: both name 'train.conllu'; "
            "name dev2 files that no model is trained on"
        ],
    ),
    "further split of one group only": (
        (
            "dep: dep}\n",
            "dep: dep}\n  - {reader: brackets, paths: {train: a, dev: b, test: c, dev2: d}, layers: {con: con}}\n",
        ),
        ["8:12: error E143: the split 'dev2' has no file"],
    ),
    "held out although it has files": (
        ("dep: dep}\n", "dep: dep}\nhold_out: {dev: 0.1}\n"),
        ["10:12: error E801: the split 'dev' has files, so it cannot be held out; leave one of them out"],
    ),
    "nothing held out": (
        ("dep: dep}\n", "dep: dep}\nhold_out: {seed: 2}\n"),
        ["10:11: error E805: `hold_out` names no split; say `dev`, `test` or both"],
    ),
    "unlabelled split without files": (
        ("dep: dep}\n", "dep: dep}\n    unlabelled: [test, tset]\n"),
        ["10:24: error E802: `unlabelled` names the split 'tset', which has no file; did you mean 'test'?"],
    ),
    "training files without labels": (
        ("dep: dep}\n", "dep: dep}\n    unlabelled: [train]\n"),
        ["10:18: error E804: the split 'train' cannot be without labels; nothing could be learnt from it"],
    ),
    "dev files without labels": (
        ("dep: dep}\n", "dep: dep}\n    unlabelled: [dev]\n"),
        ["10:18: error E804: the split 'dev' cannot be without labels; models are chosen by their scores on it"],
    ),
    "a layer called like a column of prepared data": (
        ("dep: dep}\n", "words: dep}\n"),
        ["9:52: error E807: a layer cannot be called 'words'; give it another name"],
    ),
    "a split called like something else in files of results": (
        ("test: test.conllu", "test: test.conllu, columns: x"),
        [
            "8:70: error E862: a split cannot be called 'columns'; "
            "files of results use that word; give the split another name"
        ],
    ),
    "a layer of two kinds": (
        (
            "dep: dep}\n",
            "dep: dep}\n    readers: {test: {type: columns, column: {upos: 1, xpos: 2, dep: 3, lemma: 4}}}\n",
        ),
        [
            "9:57: error E808: the layer 'dep' is of the kinds dep and tags in different splits; "
            "see `readers` of the files"
        ],
    ),
    "reader of a split without files": (
        ("dep: dep}\n", "dep: dep}\n    readers: {tset: conllu}\n"),
        ["10:15: error E802: `readers` names the split 'tset', which has no file; did you mean 'test'?"],
    ),
    "reader of a split without the column": (
        ("dep: dep}\n", "dep: dep}\n    readers: {test: {type: columns, column: {xpos: 1, upos: 2, lemma: 3}}}\n"),
        ["9:57: error E146: the format 'columns' has no column 'dep'; known: lemma, upos, xpos"],
    ),
    "spans of no column": (
        (
            "dep: dep}\n",
            "dep: dep}\n  - reader: {type: columns, column: {ner: 1}, spans: {nerr: iob2}}\n"
            "    paths: {train: a, dev: b, test: c}\n    layers: {ner: ner}\n",
        ),
        ["10:13: error E803: the options of the reader 'columns': `spans` names 'nerr', which `column` does not"],
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
    "dev files that are trained on": (
        ("dev: dev.conllu", "dev: train.conllu"),
        [
            "8:39: error E147: the splits 'train' and 'dev' share files: both name 'train.conllu'; "
            "name dev files that no model is trained on"
        ],
    ),
    "test files in the folder that is trained on": (
        ("test: test.conllu", "test: [more/test.conllu, ./train.conllu/b]"),
        [
            "8:76: error E147: the splits 'train' and 'test' share files: './train.conllu/b' and 'train.conllu' "
            "overlap; name test files that no model is trained on"
        ],
    ),
    "home folder": (
        ("root: corpora/corpus", "root: ~/corpora/corpus"),
        ["5:7: error E148: '~' is not read as a home folder; write `$HOME/corpora/corpus`"],
    ),
    "somebody's home folder": (
        ("root: corpora/corpus", "root: ~ann/corpus"),
        ["5:7: error E148: '~ann' is not read as a home folder; write the path in full"],
    ),
    "empty": (
        (DATA_CARD, "# soon\n"),
        ["1:1: error E149: the file is empty; a card begins with `card: data`"],
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


def test_a_home_folder_of_an_encoder_is_told_too(project: Project, complaints: Complaints) -> None:
    card = "card: encoder\nname: small\nlicence: x\nsource: {type: directory, path: ~/bert}\n"
    (project.encoder_cards / "small.yaml").write_text(card)
    assert complaints(SPEC) == [
        "registry/encoders/small.yaml:4:33: error E148: '~' is not read as a home folder; write `$HOME/bert`"
    ]


@pytest.mark.parametrize(
    ("kind", "found"), [("folder", "a folder"), ("link", "a link that leads nowhere")], ids=["folder", "link"]
)
def test_what_is_no_file_is_no_card(kind: str, found: str, project: Project, complaints: Complaints) -> None:
    file = project.data_cards / "corpus.yaml"
    file.unlink()
    file.mkdir() if kind == "folder" else file.symlink_to("gone.yaml")
    assert complaints(SPEC) == [
        f"specs/study.yaml:3:7: error E122: the card 'corpus' is no file: registry/data/corpus.yaml is {found}; "
        "cards are files in registry/data"
    ]


def overlap(train: Any, dev: Any, test: Any) -> list[str]:
    """The splits that share files with `train`."""
    files = [{"reader": "conllu", "paths": {"train": train, "dev": dev, "test": test}, "layers": {"upos": "upos"}}]
    raw = {"card": "data", "name": "toy", "licence": "x", "source": "x", "root": "x", "files": files}
    found = check_splits(DataCard.model_validate(raw), wrap(raw, Place("toy.yaml")))
    return [str(problem).split("'")[3] for problem in found]


@pytest.mark.parametrize(
    ("train", "dev"),
    [
        ("a.txt", "./a.txt"),
        (["a.txt", "b.txt"], ["c.txt", "b.txt"]),
        ("parts", "parts/dev.txt"),
        ("parts/in/train.txt", "parts"),
        (".", "dev.txt"),
        ("parts/*.txt", "parts/*.txt"),
        ("parts/*.txt", "parts/dev.txt"),
        ("parts/a.txt", "**/*.txt"),
        ("a/b/c.txt", "a/**/b/**/*.txt"),
        ("a/**/?.txt", "a/c.txt"),
        ("*.txt", "dev-*.txt"),
        ("?.txt", "*.txt"),
        ("parts", "parts/dev-*.txt"),
    ],
)
def test_splits_that_share_files_by_their_names(train: Any, dev: Any) -> None:
    assert "dev" in overlap(train, dev, "other.conllu")
    assert "test" in overlap(dev, "other.conllu", train)


@pytest.mark.parametrize(
    ("train", "dev"),
    [
        ("train.txt", "dev.txt"),
        ("parts", "parts-dev"),
        ("train/**/*.txt", "dev/**/*.txt"),
        ("*train*", "*dev*"),
        ("parts/*.txt", "parts/in/dev.txt"),
        ("parts/*", "parts/dev"),  # perhaps a folder
        ("a*", "a*/dev.txt"),
        ("?-*.txt", "*-a.txt"),  # perhaps no name begins so
        ("**", "dev.txt"),  # finds folders only
    ],
)
def test_splits_that_need_not_share_files_are_left_to_the_files(train: Any, dev: Any) -> None:
    assert overlap(train, dev, dev) == []
    assert overlap(dev, train, train) == []
