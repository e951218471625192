"""Sentences with several defects: all are named, in the order of lines and columns, and nothing that only follows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mtlspec import kinds
from mtlspec.data.corpus import read_split
from mtlspec.errors import DataError, MtlspecError
from mtlspec.spec.card_families import ReaderOptions
from mtlspec.spec.cards import DataCard
from mtlspec.spec.families import READERS
from tests.unit.data.malformed import BEGIN, END, line12, other, row

TABLE = {"text": ["s"], "label": {"l": "l"}, "value": {"v": "v"}, "classes": {"l": ["a", "b"]}}
TAGGED = {"words": "w", "tags": {"t": "t"}, "classes": {"t": ["A", "B"]}}
SPANS = {"column": {"t": 1, "u": 2}, "spans": {"t": "iob2", "u": "iobes"}}
CASES: dict[str, tuple[str, dict[str, Any], str, list[str]]] = {
    "rows and heads": (
        "conllu",
        {},
        row(1, "x", lemma="") + "2 w\n" + row(3, rel="_") + row(4, 99),
        [
            "1: E249: column 'lemma' of word 1 is empty",
            "1: E215: the head of word 1 is 'x', not a number",
            "2: E210: 1 column instead of 10",
            "3: E209: word 2 has a head but no relation",
        ],
    ),
    "numbers that jump are told once each": (
        "conllu",
        {},
        row(1) + row(3, 1) + row(4, 1) + row(9, 1) + row(10, 1),
        ["2: E212: word id '3' instead of 2", "4: E212: word id '9' instead of 5"],
    ),
    "heads and relations": (
        "conllu",
        {},
        row(1) + row(2, 7) + row(3, 1, rel="_") + row(4, 0) + row(5, 0),
        [
            "2: E216: the head of word 2 is 7, but there are 5 words",
            "3: E209: word 3 has a head but no relation",
            "4: E217: the tree has a second root",
            "5: E217: the tree has one more root",
        ],
    ),
    "two cycles": (
        "conllu",
        {},
        row(1) + row(2, 3) + row(3, 2) + row(4, 4),
        [
            "2: E218: word 2 is its own ancestor: a cycle of heads",
            "4: E218: word 4 is its own ancestor: a cycle of heads",
        ],
    ),
    "nodes and arcs": (
        "conllu",
        {},
        row(1, deps="x|0:root") + other("3-4") + other("5.1") + row(2, 1, deps="2:a|9:b"),
        [
            "1: E206: 'x' is not an enhanced arc `head:relation`",
            "2: E211: the range 3-4 does not fit after word 1",
            "3: E219: the empty node '5.1' stands where '1.1' would",
            "4: E745: the enhanced arc '2:a' of 2 comes from itself",
            "4: E207: the enhanced arc '9:b' comes from no node",
        ],
    ),
    "arcs beside a node that is misnamed": (
        "conllu",
        {},
        row(1, deps="1.1:a|0:root") + other("1.2"),
        ["2: E219: the empty node '1.2' stands where '1.1' would"],
    ),
    "cells and a tree": (
        "conllu",
        {},
        row(1, 2, lemma="", deps="x") + row(2, 1) + row(3, ""),
        [
            "1: E249: column 'lemma' of word 1 is empty",
            "1: E206: 'x' is not an enhanced arc `head:relation`",
            "3: E249: column 'head' of word 3 is empty",
        ],
    ),
    "a form and no root": (
        "conllu",
        {},
        row(1, 2, word=" ") + row(2, 1) + "3-5" + "\t_" * 9 + "\n" + row(3, 9),
        [
            "1: E213: word 1 has no form",
            "3: E205: a multi-word token ends at word 5, but there are 3 words",
            "4: E216: the head of word 3 is 9, but there are 3 words",
        ],
    ),
    "a form and a cycle": (
        "conllu",
        {},
        row(1, 0, word=" ") + row(2, 3) + row(3, 2),
        ["1: E213: word 1 has no form", "2: E218: word 2 is its own ancestor: a cycle of heads"],
    ),
    "columns of CoNLL-2012": (
        "conll2012",
        {},
        BEGIN
        + line12(0, parse="(TOP(S*", sense="01", entity="*)", roles="(V*)")
        + line12(1, parse="*))", sense="01", roles="*", entity="x").replace(" * -\n", " (A0* -\n")
        + END,
        [
            "2: E237: 2 framesets, but 1 role column",
            "3: E232: '(A0' of the role column is not closed",
            "3: E230: 'x' is not a bracket of the entity column",
        ],
    ),
    "lines of CoNLL-2012": (
        "conll2012",
        {},
        BEGIN + line12(0) + "doc 0 1 w\n" + line12(7) + line12(9) + END,
        ["3: E233: 4 columns instead of 12", "5: E234: word number '9' instead of 8"],
    ),
    "an odd first line": (
        "columns",
        {"column": {"t": 1}},
        "a b c\nw X\nw X\nw\n",
        ["1: E240: 3 columns instead of 2", "4: E240: 1 column instead of 2"],
    ),
    "tags of two schemes": (
        "columns",
        SPANS,
        "w I-X S-Y\nw I-X I-Y\nw B-Z E-Y\nw I-X B-Y\nw x O\n",
        [
            "1: E245: 'I-X' continues no X span",
            "2: E245: 'I-Y' continues no Y span",
            "4: E245: 'I-X' continues no X span",
            "5: E244: 'x' is not an IOB2 tag",
            "5: E246: 'O' leaves a Y span without its end",
        ],
    ),
    "tags beside a line of another width": (
        "columns",
        SPANS,
        "w I-X S-Y\nw I-X\nw I-Z I-Y\nw O S-Y\n  O O\n",
        [
            "1: E245: 'I-X' continues no X span",
            "2: E240: 2 columns instead of 3",
            "4: E246: 'S-Y' leaves a Y span without its end",
            "5: E240: 2 columns instead of 3",
        ],
    ),
    "widths and columns that are not there": (
        "columns",
        {"column": {"t": 5}},
        "w X\nw X\nw\n",
        ["1: E242: no column 5 ('t') among 2", "3: E240: 1 column instead of 2"],
    ),
    "columns that are not there": (
        "columns",
        {"column": {"t": 5, "u": 7}},
        "w X\n",
        ["1: E242: no column 5 ('t') among 2", "1: E242: no column 7 ('u') among 2"],
    ),
    "brackets": (
        "brackets",
        {},
        "(TOP (S (NP) (VP (V runs) fast) ((X y)))\n",
        [
            "1:1: E225: a bracket is not closed",
            "1:9: E223: a bracket without words",
            "1:27: E222: the word 'fast' has no tag of its own",
            "1:33: E224: a phrase without a label",
        ],
    ),
    "cells of a row": (
        "table",
        TABLE,
        "s\tl\tv\n\tc\tx\n",
        [
            "2: E713: the text 's' is empty",
            "2: E711: 'c' is no class of 'l'",
            "2: E712: 'x' is not a number, but 'v' holds numbers",
        ],
    ),
    "tags of a cell": (
        "jsonl",
        TAGGED,
        '{"w": "a b c", "t": ["A", "x", "x", "y"]}\n',
        [
            "1: E711: 'x' is no class of 't'",
            "1: E711: 'y' is no class of 't'",
            "1: E718: 4 tags in 't', but 3 words",
        ],
    ),
    "words and the number of tags": (
        "jsonl",
        TAGGED,
        '{"w": ["a", "", 3], "t": ["A", "x"]}\n',
        [
            "1: E990: word 2 of 'w' must be a text, not an empty text",
            "1: E990: word 3 of 'w' must be a text, not 3",
            "1: E711: 'x' is no class of 't'",
            "1: E718: 2 tags in 't', but 3 words",
        ],
    ),
    "fields of a file": (
        "jsonl",
        TABLE | {"id": "i"},
        '{"t": "a", "id": 1}\n{"t": "b"}\n',
        [" E738: the file has no field 's'", " E738: the file has no field 'i'"],
    ),
    "columns of a header": (
        "table",
        TABLE | {"id": 7},
        "t\tv\tv\na\t1\t2\n",
        [
            "1: E702: the header has no column 's'",
            "1: E706: no column 7 among 3",
            "1: E702: the header has no column 'l'",
            "1: E703: the header names 'v' twice",
        ],
    ),
    "a question and its choices": (
        "choices",
        {"question": ["q"], "choices": ["c"], "right": "r"},
        '{"q": 1, "c": ["a", 7, ""], "r": 9}\n{"q": "a", "c": ["b"], "r": "x"}\n',
        [
            f"1: E569: this is no question with choices: {why}"
            for why in (
                "'q' must be a text, not 1",
                "choice 1 (counted from 0) must be a text, not 7",
                "choice 2 (counted from 0) must be a text, not an empty text",
                "'r' must be the number of a choice, 0 to 2, not 9",
            )
        ],
    ),
    "a choice that is alone": (
        "choices",
        {"question": ["q"], "choices": ["c"], "right": "r"},
        '{"q": "a", "c": "b", "r": "x"}\n',
        [
            f"1: E569: this is no question with choices: {why}"
            for why in (
                "'c' must give two texts or more, not the text 'b'",
                "'r' must be the number of a choice, not the text 'x'",
            )
        ],
    ),
    "tags of words that cannot be read": (
        "jsonl",
        TAGGED,
        '{"w": 7, "t": ["A", "x"]}\n',
        ["1: E716: 'w' must be words, not 7", "1: E711: 'x' is no class of 't'"],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_all_defects_of_a_sentence_are_named(name: str, tmp_path: Path) -> None:
    reader, options, text, told = CASES[name]
    file = tmp_path / "file"
    file.write_text(text)
    found = kinds.parse(READERS, ReaderOptions, {"type": reader, **options})
    with pytest.raises(DataError) as caught:
        list(found.read(file))
    assert [_short(problem, file) for problem in caught.value.problems] == told
    assert _short(caught.value, file) == told[0], "alone it speaks of the first"


def _short(problem: MtlspecError, file: Path) -> str:
    return f"{problem.place}: {problem.code}: {problem.message}".removeprefix(f"{file}:")


SUPERGLUE: dict[str, tuple[dict[str, Any], list[str]]] = {
    "copa": (
        {"premise": "", "choice1": 1, "choice2": "c", "question": "why", "label": True},
        [
            "'question' must be cause or effect, not the text 'why'",
            "'label' must be the number of a choice, 0 or 1, not true",
            "'premise' must be a text, not an empty text",
            "'choice1' must be a text, not 1",
        ],
    ),
    "boolq": (
        {"question": [], "label": "yes"},
        [
            "'question' must be a text, not an empty list",
            "'passage' must be a text, not null",
            "the text 'yes' is no label; known: false, true",
        ],
    ),
    "multirc": (
        {
            "passage": {
                "text": 3,
                "questions": [{"answers": [{"label": 5}, {"text": "a", "label": 5}]}, {"question": "?"}],
            }
        },
        [
            "'passage.text' must be a text, not 3",
            "'question' must be a text, not null",
            "the label of an answer must be 0 or 1, not 5",
            "'text' must be a text, not null",
            "'answers' must be a list of objects, not null",
        ],
    ),
    "record": (
        {
            "passage": {"text": "Ann sang.", "entities": [{"start": 0, "end": 2}, {"start": 5, "end": 99}]},
            "qas": [{"query": "who", "answers": [{"text": "Bob"}]}, {"query": "@placeholder", "answers": 3}],
        },
        [
            "an entity lies outside of the 9 characters of the passage",
            "the query has no @placeholder",
            "'answers' must be a list of objects, not 3",
        ],
    ),
    "wic": (
        {"sentence1": "", "start1": 0, "end1": 1, "sentence2": "a", "start2": 3, "end2": 9, "label": 1},
        [
            "'sentence1' must be a text, not an empty text",
            "'start2' and 'end2' give no characters of 'sentence2'",
            "1 is no label; known: false, true",
        ],
    ),
    "wsc": (
        {"text": "Ann sang.", "target": ["x"], "label": "no"},
        [
            "'target.span2_text' must be a text, not null",
            "'target.span1_text' must be a text, not null",
            "the text 'no' is no label; known: false, true",
        ],
    ),
}


@pytest.mark.parametrize("task", SUPERGLUE)
def test_all_defects_of_an_object_of_superglue_are_named(task: str, tmp_path: Path) -> None:
    broken, told = SUPERGLUE[task]
    file = tmp_path / "file"
    file.write_text(json.dumps(broken) + "\n")
    with pytest.raises(DataError) as caught:
        list(kinds.parse(READERS, ReaderOptions, {"type": "superglue", "task": task}).read(file))
    start = f"1: E562: this is no example of {task}: "
    assert [_short(problem, file).removeprefix(start) for problem in caught.value.problems] == told


def test_all_columns_that_a_header_lacks_are_named_as_the_user_knows_the_file(tmp_path: Path) -> None:
    """Nothing of such a file could be left out, so nothing is said of `drop`."""
    (tmp_path / "a").write_text("t\tv\na\t1\n")
    groups = [{"reader": {"type": "table", **TABLE}, "paths": {"train": "a"}, "layers": {"l": "l"}}]
    values = {"card": "data", "name": "toy", "licence": "x", "source": "x", "root": "r", "files": groups}
    with pytest.raises(MtlspecError) as caught:
        list(read_split(DataCard.model_validate(values), tmp_path, "train", shown="corpora/toy"))
    assert str(caught.value).split("\n") == [
        "corpora/toy/a:1: error E702: the header has no column 's'; known: t, v",
        "corpora/toy/a:1: error E702: the header has no column 'l'; known: t, v",
    ]


def test_a_hint_that_asks_goes_on_with_the_remedy(tmp_path: Path) -> None:
    (tmp_path / "a").write_text('{"premise": "a", "hypothesis": "b", "label": "x"}\n')
    groups = [{"reader": {"type": "superglue", "task": "cb"}, "paths": {"train": "a"}, "layers": {"label": "label"}}]
    values = {"card": "data", "name": "toy", "licence": "x", "source": "x", "root": "r", "files": groups}
    with pytest.raises(MtlspecError) as caught:
        list(read_split(DataCard.model_validate(values), tmp_path, "train"))
    assert str(caught.value).endswith(
        "; is `task` of the reader right? Or leave such sentences out with `on_invalid: drop` in the card"
    )


def test_defects_of_aligned_files_come_together_and_are_counted(tmp_path: Path) -> None:
    """With `drop` such a sentence is one that was left out."""
    (tmp_path / "a").write_text(row(1) + row(2, 7) + row(3, "x") + "\n" + row(1) + "\n")
    (tmp_path / "b").write_text("w x\nw O\nw y\n\nw O\n")
    groups = [
        {"reader": "conllu", "paths": {"train": "a"}, "layers": {"dep": "dep"}},
        {
            "reader": {"type": "columns", "column": {"t": 1}, "spans": {"t": "iob2"}},
            "paths": {"train": "b"},
            "layers": {"t": "t"},
        },
    ]
    values = {"card": "data", "name": "toy", "licence": "x", "source": "x", "root": "r", "files": groups}
    with pytest.raises(MtlspecError) as caught:
        list(read_split(DataCard.model_validate(values), tmp_path, "train"))
    total, *first = map(str, caught.value.problems)
    assert total.startswith("error E740: 1 sentence is malformed in the train files of 'toy', with 4 defects; mend")
    assert [line.removeprefix(f"{tmp_path}/").split(": ")[:2] for line in first] == [
        ["a:2", "error E216"],
        ["a:3", "error E215"],
        ["b:1", "error E244"],
        ["b:3", "error E244"],
    ]
    dropped: list[DataError] = []
    kept = list(read_split(DataCard.model_validate(values | {"on_invalid": "drop"}), tmp_path, "train", dropped))
    assert (len(kept), [defect.code for defect in dropped]) == (1, ["E216"])


def test_of_a_sentence_with_many_defects_the_first_are_named(tmp_path: Path) -> None:
    (tmp_path / "a").write_text(row(1) + "".join(row(number, "x") for number in range(2, 40)))
    groups = [{"reader": "conllu", "paths": {"train": "a"}, "layers": {"dep": "dep"}}]
    values = {"card": "data", "name": "toy", "licence": "x", "source": "x", "root": "r", "files": groups}
    with pytest.raises(MtlspecError) as caught:
        list(read_split(DataCard.model_validate(values), tmp_path, "train"))
    total, *first = caught.value.problems
    assert total.message == (
        "1 sentence is malformed in the train files of 'toy', with 38 defects; the first 20 are named"
    )
    assert [problem.place.line for problem in first if problem.place] == list(range(2, 22))
