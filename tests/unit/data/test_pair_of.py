"""Pairs made of single sentences: exact counts, against all graphs of a few sentences, and from real cards."""

from __future__ import annotations

import json
from collections import Counter
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mtlspec.data.generators._pairing import paired
from mtlspec.data.generators.pair_of import Options
from mtlspec.errors import DataError, MtlspecError
from mtlspec.io.project import Project
from mtlspec.spec.load import load_data_card

ROOT = Path(__file__).parents[3]
SOURCE: dict[str, Any] = {
    "card": "data",
    "name": "source",
    "licence": "CC0-1.0",
    "source": "here",
    "root": "somewhere",
    "files": [
        {
            "reader": {"type": "table", "text": ["a", "b"], "label": {"topic": "topic"}},
            "paths": {"train": "train.tsv", "dev": "dev.tsv", "test": "test.tsv"},
            "layers": {"topic": "topic"},
        }
    ],
}


def same(labels: list[int], pairs: list[tuple[int, int]]) -> int:
    return sum(labels[a] == labels[b] for a, b in pairs)


def least_difference(labels: list[int]) -> int | None:
    """Of all graphs in which everything has two neighbours: how near those of one label come to half of the pairs."""
    edges, found = list(combinations(range(len(labels)), 2)), []
    degrees = [0] * len(labels)

    def grow(start: int, chosen: list[tuple[int, int]]) -> None:
        if len(chosen) == len(labels):
            found.append(abs(2 * same(labels, chosen) - len(labels)))
            return
        for at in range(start, len(edges)):
            a, b = edges[at]
            if degrees[a] < 2 and degrees[b] < 2:
                degrees[a], degrees[b] = degrees[a] + 1, degrees[b] + 1
                grow(at + 1, [*chosen, edges[at]])
                degrees[a], degrees[b] = degrees[a] - 1, degrees[b] - 1

    grow(0, [])
    return min(found, default=None)


@given(st.lists(st.integers(0, 5), min_size=1, max_size=60), st.integers(0, 99))
def test_everything_stands_once_in_front_and_once_behind(labels: list[int], seed: int) -> None:
    pairs = paired(labels, str(seed))
    largest = max(Counter(labels).values())
    if pairs is None:
        assert len(labels) < 8 or 4 * largest > 3 * len(labels) - 4
        return
    every = Counter(range(len(labels)))
    assert Counter(a for a, _ in pairs) == every == Counter(b for _, b in pairs)
    assert len({frozenset(pair) for pair in pairs}) == len(labels)
    assert abs(2 * same(labels, pairs) - len(labels)) <= 2
    assert pairs == paired(labels, str(seed))


@given(st.lists(st.integers(0, 3), min_size=1, max_size=7))
def test_halves_are_as_even_as_any_graph_has_them(labels: list[int]) -> None:
    pairs, least = paired(labels, "seed"), least_difference(labels)
    if pairs is None:
        assert least is None or least > 2
    else:
        assert abs(2 * same(labels, pairs) - len(labels)) == least


@pytest.mark.parametrize("sizes", [(100, 100, 100, 100), (40, 24, 12, 4), (30, 10), (7, 5, 4)])
def test_halves_are_exact_where_numbers_allow_it(sizes: tuple[int, ...]) -> None:
    labels = [label for label, size in enumerate(sizes) for _ in range(size)]
    pairs = paired(labels, "seed")
    assert pairs is not None and 2 * same(labels, pairs) == len(labels)


def test_other_seeds_give_other_pairs() -> None:
    assert paired([0, 1] * 20, "1") != paired([0, 1] * 20, "2")


def write_source(folder: Path, rows: list[tuple[str, str, str]]) -> dict[str, Any]:
    for split in ("train", "dev", "test"):
        lines = [("a", "b", "topic"), *((a, f"{b} of {split}", label) for a, b, label in rows)]
        (folder / f"{split}.tsv").write_text("".join("\t".join(line) + "\n" for line in lines))
    return {**SOURCE, "root": str(folder)}


def written(out: Path, split: str) -> list[dict[str, str]]:
    return [json.loads(line) for line in (out / f"{split}.jsonl").read_text("utf-8").splitlines()]


def test_a_corpus_becomes_pairs_within_its_splits(tmp_path: Path) -> None:
    rows = [(f"Title {n}", f'text "{n}"', f"topic{n % 4}") for n in range(40)]
    card = write_source(tmp_path, rows)
    Options.model_validate({"type": "pair_of", "of": card, "layer": "topic"}).generate(tmp_path / "out")
    topics = {f"{a} {b}": label for a, b, label in rows}
    for split in ("train", "dev", "test"):
        found = written(tmp_path / "out", split)
        assert Counter(row["label"] for row in found) == {"same": 20, "different": 20}
        for row in found:
            one, other = (row[side].removesuffix(f" of {split}") for side in ("sentence1", "sentence2"))
            assert (topics[one] == topics[other]) == (row["label"] == "same")


def test_a_card_is_named_and_the_parameters_have_all_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    options = Options.model_validate({"type": "pair_of", "of": "english_topic", "layer": "topic"})
    assert options.of == load_data_card("english_topic", Project(ROOT))
    assert Options.model_validate(options.model_dump(mode="json")) == options
    with pytest.raises(MtlspecError, match="there is no card 'english_topics'"):
        Options.model_validate({"type": "pair_of", "of": "english_topics", "layer": "topic"})


def test_a_layer_that_has_no_labels_is_refused(tmp_path: Path) -> None:
    card = write_source(tmp_path, [("a", "b", "c")])
    options = Options.model_validate({"type": "pair_of", "of": card, "layer": "topics"})
    with pytest.raises(
        DataError, match=r"E960: 'source' has no layer 'topics'.*; `layer` of `pair_of` is one of: topic"
    ):
        options.generate(tmp_path / "out")


def test_labels_that_cannot_be_paired_are_refused_and_nothing_is_written(tmp_path: Path) -> None:
    card = write_source(tmp_path, [(f"Title {n}", "text", "rare" if n == 0 else "frequent") for n in range(20)])
    options = Options.model_validate({"type": "pair_of", "of": card, "layer": "topic"})
    with pytest.raises(DataError, match="E961: the train sentences of 'source' cannot be paired"):
        options.generate(tmp_path / "out")
    assert not (tmp_path / "out").exists()
