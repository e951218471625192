"""Statistics against counts made by hand, and the page that shows them."""

from __future__ import annotations

import json
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from mtlspec.data.corpus import read_split
from mtlspec.data.layers.dep import crossing_arcs
from mtlspec.data.page import baseline, page, replaced
from mtlspec.data.sentence import DepTree, Frame, Sentence
from mtlspec.data.statistics import corpus_statistics, statistics_rows
from mtlspec.io.project import Project
from mtlspec.spec.load import load_data_card
from tests.unit.data.strategies import dep_trees

ROOT = Path(__file__).parents[3]


def sentence(words: str, *tags: str, heads: tuple[int, ...] | None = None) -> Sentence:
    split = tuple(words.split())
    tree = DepTree(heads or tuple(range(len(split))), ("r",) * len(split))
    return Sentence("1", split, {"t": tags, "d": tree, "s": (Frame(0, "x.01", ((0, 1, "V"),)),)})


def test_figures_of_a_small_corpus() -> None:
    crossing = sentence("a b c d", "X", "X", "Y", "Y", heads=(3, 4, 0, 3))
    train = [crossing, sentence("a b", "X", "Y"), sentence("a b", "X", "Y")]
    dev, test = [sentence("a b", "X", "Z")], [sentence("e a a a a a", *"XXXXXX")]
    found = corpus_statistics({"train": train, "dev": dev, "test": test})
    assert found["sentences"] == {"train": 3, "dev": 1, "test": 1}
    assert found["tokens"] == {"train": 8, "dev": 2, "test": 6}
    assert found["word types"] == {"train": 4, "dev": 2, "test": 2}
    assert found["mean length"]["train"] == 2.67
    assert (found["shortest sentence"]["train"], found["longest sentence"]["train"]) == (2, 4)
    assert found["unseen words %"] == {"dev": 0.0, "test": 16.67}
    assert found["repeated sentences"] == {"train": 1, "dev": 0, "test": 0}
    assert found["shared sentences"] == {"train and dev": 1, "train and test": 0, "dev and test": 0}
    assert found["lengths"] == {"train": {"01–05": 3}, "dev": {"01–05": 1}, "test": {"01–05": 0, "06–10": 1}}
    assert found["labels"]["t"]["X"] == {"train": 4, "dev": 1, "test": 6}
    assert found["labels"]["s"] == {"V": {"train": 3, "dev": 1, "test": 1}}
    assert found["labels only in dev or test"] == {"d": [], "s": [], "t": ["Z"]}
    assert found["figures of layers"]["non-projective arcs"] == {"d": {"train": 1, "dev": 0, "test": 0}}


def test_only_what_is_there_is_counted() -> None:
    whole = sentence("a b", "X", "Y")
    partial = Sentence("2", ("a", "b"), {"t": ("X", None)})
    found = corpus_statistics({"train": [whole, partial, partial], "dev": [Sentence("3", ("a",), {})]})
    assert found["labelled examples"] == {
        "d": {"train": 1, "dev": 0},
        "s": {"train": 1, "dev": 0},
        "t": {"train": 3, "dev": 0},
    }
    assert found["labels"]["t"] == {"X": {"train": 3}, "Y": {"train": 1}}
    (rows,) = (rows for title, _, rows in statistics_rows(found) if title == "Labelled examples")
    assert rows == [("d", "1", "0"), ("s", "1", "0"), ("t", "3", "0")]


def test_lengths_are_told_in_order_whatever_file_they_come_from() -> None:
    train = [sentence(" ".join("a" * length), *"X" * length) for length in (3, 12, 33, 120, 1200)]
    found = json.loads(json.dumps(corpus_statistics({"train": train}), sort_keys=True))  # as files keep them
    (rows,) = (rows for title, _, rows in statistics_rows(found) if title == "Words per sentence")
    told = [bar for bar, count in rows if count != "0"]
    assert told == ["01–05", "11–15", "31–40", "101–150", "1001–"]


@settings(max_examples=100)
@given(st.integers(1, 9).flatmap(dep_trees))
def test_a_crossing_arc_spans_a_word_that_is_not_below_its_head(tree: DepTree) -> None:
    def below(word: int, head: int) -> bool:
        while word not in (0, head):
            word = tree.heads[word - 1]
        return word == head

    arcs = [(word, head) for word, head in enumerate(tree.heads, 1) if head]
    found = [w - 1 for w, h in arcs if not all(below(b, h) for b in range(min(w, h) + 1, max(w, h)))]
    assert list(crossing_arcs(tree)) == found


def test_crossing_arcs_of_a_very_long_sentence() -> None:
    size = 100_000  # quadratic work would not end
    for heads in (range(size), [0] + [1] * (size - 1), [*range(2, size + 1), 0]):
        assert not list(crossing_arcs(DepTree(tuple(heads), ("r",) * size)))


@settings(max_examples=100)
@given(st.integers(1, 8).flatmap(dep_trees))
def test_a_tree_has_non_projective_arcs_exactly_if_two_arcs_cross(tree: DepTree) -> None:
    arcs = [tuple(sorted((at + 1, head))) for at, head in enumerate(tree.heads)]
    crosses = any(a < c < b < d for a, b in arcs for c, d in arcs)
    assert crosses == bool(list(crossing_arcs(tree)))


def test_the_baseline_by_hand() -> None:
    train = [sentence("a b a", "X", "Y", "X"), sentence("a b", "O", "Y"), sentence("c c", "Y", "Y")]
    test = [sentence("a b z", "X", "X", "Y"), sentence("b c", "O", "Y")]
    assert baseline({"train": train, "test": test}, "t", "test") == 75.0


def test_the_page_of_the_embedded_corpus_is_current(mini_files: Path) -> None:
    card = load_data_card("english_mini", Project(ROOT))
    splits = {split: list(read_split(card, mini_files, split)) for split in ("train", "dev", "test")}  # type: ignore[arg-type]
    text = (ROOT / "docs" / "english_mini.md").read_text("utf-8")
    assert text == replaced(text, page(splits, "english_mini")), (
        "run `mtlspec data page english_mini docs/english_mini.md`"
    )
    assert text.startswith("# english_mini")
