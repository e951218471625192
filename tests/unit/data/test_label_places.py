"""Labels that a task cannot read: which ones, and where they stand in its user's files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mtlspec import kinds
from mtlspec.data.defects import NAMED
from mtlspec.data.label_places import unreadable_labels
from mtlspec.data.span_tags import strange_tags
from mtlspec.errors import MtlspecError
from mtlspec.spec.cards import DataCard
from mtlspec.spec.families import TASKS, TaskOptions, Unreadable

SPLITS = ("train", "dev", "test")
COLUMNS = {"type": "columns", "column": {"ner": 1}, "comment": "#"}
GOOD = "Ann\tB-PER\nlives\tO\n\n"


def card(reader: dict[str, Any], ending: str, layers: dict[str, str], **changes: Any) -> DataCard:
    group = {"reader": reader, "paths": {split: f"{split}.{ending}" for split in SPLITS}, "layers": layers, **changes}
    return DataCard.model_validate(
        {"card": "data", "name": "mine", "licence": "x", "source": "x", "root": "corpus", "files": [group]}
    )


def fill(root: Path, ending: str, good: str, **texts: str) -> Path:
    root.mkdir()
    for split in SPLITS:
        (root / f"{split}.{ending}").write_text(texts.get(split, good))
    return root


def task(**options: Any) -> TaskOptions:
    return kinds.parse(TASKS, TaskOptions, {"layer": "ner", **options})


def found(labels: tuple[str, ...], **options: Any) -> Unreadable:
    problem = task(**options).unreadable(labels)
    assert problem is not None
    return problem


def lines(error: MtlspecError) -> list[str]:
    return [str(problem) for problem in error.problems]


@pytest.mark.parametrize(
    ("tags", "strange"),
    [
        (["O", "B-PER", "I-PER", "S-LOC"], []),
        (["O", "B-PER", "Q-ZZZ", "I-"], ["I-", "Q-ZZZ"]),
        (["O", "B", "I"], []),
        (["O", "B", "B-PER"], ["B"]),
        (["NOUN", "VERB", "O"], ["NOUN", "VERB"]),
        (["O"], []),
        ([], []),
    ],
)
def test_tags_that_spell_no_part_of_a_span(tags: list[str], strange: list[str]) -> None:
    assert strange_tags(tags) == strange


def test_tasks_say_what_they_cannot_read() -> None:
    labels = ("B-PER", "O", "Q-ZZZ")
    assert found(labels, type="biaffine_ner").labels == ("Q-ZZZ",)
    assert found(labels, type="tagging", scheme="bio").labels == ("Q-ZZZ",)
    assert task(type="tagging").unreadable(labels) is None  # a tag is a tag
    assert task(type="tagging", scheme="bio").unreadable(labels[:2]) is None


def test_every_line_of_every_split_is_named(tmp_path: Path) -> None:
    train = "# a comment\nAnn\tB-PER\n# another\nsleeps\tQ-ZZZ\n\n" + GOOD + "Bob\tB\n"
    root = fill(tmp_path / "corpus", "tsv", GOOD, train=train, test="Eve\tO\nran\tQ-ZZZ\n")
    problem = found(("B-PER", "O", "Q-ZZZ", "B"), type="biaffine_ner")
    error = unreadable_labels(card(COLUMNS, "tsv", {"ner": "ner"}), root, "my/corpus", "ner", "names", problem)
    assert lines(error) == [
        "error E287: 3 labels of layer 'ner' in 'mine' are none that task 'names' can read: 'B', 'Q-ZZZ'; spans are "
        "spelt in BIO or IOBES, such as `B-PER`: mend the tags, or learn the layer with `type: tagging`",
        "my/corpus/test.tsv:2: error E285: 'Q-ZZZ' of layer 'ner' spells no part of a span",
        "my/corpus/train.tsv:4: error E285: 'Q-ZZZ' of layer 'ner' spells no part of a span",
        "my/corpus/train.tsv:9: error E285: 'B' of layer 'ner' spells no part of a span",
    ]


def test_one_is_one_line_and_of_many_the_first_are_named(tmp_path: Path) -> None:
    root = fill(tmp_path / "one", "tsv", GOOD, dev="Ann\tX\n")
    problem = found(("X",), type="biaffine_ner")
    (line,) = lines(unreadable_labels(card(COLUMNS, "tsv", {"ner": "ner"}), root, "c", "ner", "names", problem))
    assert line.startswith("c/dev.tsv:1: error E285: 'X' of layer 'ner' spells no part of a span, which task 'names'")
    root = fill(tmp_path / "many", "tsv", GOOD, dev="Ann\tX\n" * 1234)
    named = lines(unreadable_labels(card(COLUMNS, "tsv", {"ner": "ner"}), root, "c", "ner", "names", problem))
    assert len(named) == NAMED + 1 and "1,234 labels" in named[0] and "the first 20 are named" in named[0]


def test_lines_of_words_in_other_formats(tmp_path: Path) -> None:
    """Multi-word tokens shift the lines of words; a row of a JSON file is a line; malformed sentences are passed by."""
    rest = "_\t_\t0\troot\t_\t_"
    token = "1-2\tim" + "\t_" * 8
    text = f"# id\n{token}\n1\tin\t_\tX\t{rest}\n2\tdem\t_\tADP\t_\t_\t1\tcase\t_\t_\n\n"
    root = fill(tmp_path / "conllu", "conllu", text, train="1\tbroken\n\n" + text)
    problem = Unreadable(("ADP",), "is odd", "mend it")
    error = unreadable_labels(card({"type": "conllu"}, "conllu", {"pos": "upos"}), root, "c", "pos", "t", problem)
    assert [line.split(": ")[0] for line in lines(error)[1:]] == [
        "c/dev.conllu:4",
        "c/test.conllu:4",
        "c/train.conllu:6",
    ]
    reader = {"type": "jsonl", "text": ["text"], "label": {"topic": "topic"}}
    root = fill(tmp_path / "jsonl", "jsonl", '{"text": "a b", "topic": "x"}\n{"text": "b", "topic": "y"}\n')
    mine = card(reader, "jsonl", {"topic": "topic"}, unlabelled=["test"])
    error = unreadable_labels(mine, root, "c", "topic", "t", Unreadable(("y",), "is odd", "mend it"))
    assert [line.split(": ")[0] for line in lines(error)[1:]] == ["c/dev.jsonl:2", "c/train.jsonl:2"]
