"""GLUE's files and AG's news in small, in the layouts in which they are downloaded."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import count, cycle, islice
from pathlib import Path

from tests.unit.data.tokenizers_of import WORDS

Row = tuple[str, ...]
_TEXTS = ("the {a} cat saw a {b} dog .", "is it a {b} {a} dog ?", "a dog is {a} .", "it saw the {b} cat .")


def _sentences(start: int) -> Iterator[str]:
    """Sentences of which no two are alike; words in front say which they are."""
    for number in count(start):
        form = _TEXTS[number % len(_TEXTS)].format(a=WORDS[number % 7], b=WORDS[number // 7 % 7])
        yield f"{WORDS[number // 49 % 10]} {WORDS[number // 490 % 10]} {form}"


def _rows(start: int, size: int, labels: tuple[str, ...], make: Callable[[str, str, str, int], Row]) -> list[Row]:
    """`make` gets two sentences, a label and a number."""
    one, other = _sentences(start), _sentences(start + 1000)
    return [make(next(one), next(other), label, number) for number, label in enumerate(islice(cycle(labels), size))]


def _write(path: Path, rows: list[Row], delimiter: str = "\t") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(delimiter.join(row) + "\n" for row in rows))


def write_glue(root: Path, train: int = 48, test: int = 16) -> None:
    """Everything that the cards of GLUE's tasks and of AG's news name, below `root`."""
    sizes = {"train": (0, train), "dev": (2000, test), "test": (3000, test)}
    pairs: dict[str, tuple[Row, tuple[str, ...]]] = {
        "QQP": (("id", "question1", "question2", "is_duplicate"), ("0", "1")),
        "QNLI": (("index", "question", "sentence", "label"), ("entailment", "not_entailment")),
        "RTE": (("index", "sentence1", "sentence2", "label"), ("entailment", "not_entailment")),
        "STS-B": (("index", "sentence1", "sentence2", "score"), ("0.0", "1.5", "3.0", "5.0")),
    }
    for folder, (header, labels) in pairs.items():
        for split, (start, size) in sizes.items():
            rows = _rows(start, size, labels, lambda a, b, label, number: (str(number), a, b, label))
            _write(root / folder / f"{split}.tsv", [header, *rows])
    mnli = ("entailment", "neutral", "contradiction")
    for number, split in enumerate(("train", "dev_matched", "dev_mismatched", "test_matched", "test_mismatched")):
        rows = _rows(700 * number, test if number else train, mnli, lambda a, b, label, n: (str(n), a, b, label))
        _write(root / "MNLI" / f"{split}.tsv", [("pairID", "sentence1", "sentence2", "gold_label"), *rows])
    rows = _rows(4000, test, mnli, lambda a, b, _, n: (str(n), a, b))
    _write(root / "diagnostic/diagnostic.tsv", [("index", "sentence1", "sentence2"), *rows])
    _write_singles(root, sizes)


def write_transfer(root: Path, train: int = 24, test: int = 16) -> None:
    """SciTail and IMDB, in the layouts of their cards."""
    for number, (split, size) in enumerate((("train", train), ("dev", test), ("test", test))):
        rows = _rows(700 * number, size, ("entails", "neutral"), lambda a, b, label, _: (a, b, label))
        _write(root / f"SciTailV1.1/tsv_format/scitail_1.0_{split}.tsv", rows)
        reviews = _rows(700 * number, size, ("neg", "pos"), lambda a, b, label, _: (f"{a} {b}", label))
        if split != "dev":
            _write(root / f"imdb/{split}.jsonl", [(json.dumps({"text": a, "label": b}),) for a, b in reviews])


def _write_singles(root: Path, sizes: dict[str, tuple[int, int]]) -> None:
    for split, (start, size) in sizes.items():
        sst = _rows(start, size, ("0", "1"), lambda a, _, label, n: (str(n), a, label))
        _write(root / "SST-2" / f"{split}.tsv", [("index", "sentence", "label"), *sst])
        cola = _rows(start, size, ("0", "1"), lambda a, _, label, n: ("source", label, "", a))
        unlabelled: list[Row] = [("index", "sentence"), *((str(n), row[3]) for n, row in enumerate(cola))]
        _write(root / "CoLA" / f"{split}.tsv", unlabelled if split == "test" else cola)
        mrpc = _rows(start, size, ("0", "1"), lambda a, b, label, _: (label, a, b))
        name = "msr_paraphrase_test.txt" if split == "test" else f"{split}.tsv"
        _write(root / "MRPC" / name, [("Quality", "#1 String", "#2 String"), *mrpc])
        if split != "dev":
            news = _rows(start, size, ("1", "2", "3", "4"), lambda a, b, label, _: (label, f'"{a}"', f'"{b}"'))
            _write(root / "AGNews" / f"{split}.csv", news, ",")


def write_snli(root: Path, train: int = 24, test: int = 16) -> None:
    """SNLI in the layout of its card; its annotators did not agree on the last of every file."""
    keys = ("pairID", "sentence1", "sentence2", "gold_label")
    for number, (split, size) in enumerate((("train", train), ("dev", test), ("test", test))):
        labels = ("entailment", "neutral", "contradiction")
        rows = _rows(700 * number, size, labels, lambda a, b, label, n: (str(n), a, b, label))
        rows[-1] = (*rows[-1][:-1], "-")
        objects = [json.dumps(dict(zip(keys, row, strict=True))) for row in rows]
        _write(root / f"snli_1.0_{split}.jsonl", [(line,) for line in objects])
