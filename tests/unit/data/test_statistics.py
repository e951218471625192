"""Statistics against counts made by hand, and the page that shows them."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from mtlspec.data.corpus import read_split
from mtlspec.data.labels import crossing_arcs
from mtlspec.data.page import baseline, page, replaced
from mtlspec.data.sentence import DepTree, Frame, Sentence
from mtlspec.data.statistics import corpus_statistics
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
    assert found["non-projective arcs"] == {"d": {"train": 1, "dev": 0, "test": 0}}


@settings(max_examples=100, deadline=None)
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
