"""Attachment scores by hand, with every punctuation rule, with and without subtypes of relations."""

from __future__ import annotations

import numpy as np
import pytest

from mtlspec.data.sentence import DepTree
from mtlspec.metrics.attachment import Attachment, GoldTree, punctuation

WORDS = ["They", "sold", "Ann", "'s", "U.S.", "car", "-LRB-", "$", "5", "-RRB-", "..."]
RELS = ("nsubj", "root", "nmod:poss", "case", "amod", "obj", "punct", "dep", "appos", "punct", "punct")
GOLD = GoldTree((2, 0, 6, 3, 6, 2, 9, 9, 6, 9, 2), RELS, (False,) * 11)
# Wrong: the subtype of word 3, the head of word 5, the relation of word 9, the head of word 11.
FOUND = DepTree((2, 0, 6, 3, 2, 2, 9, 9, 6, 9, 6), (*RELS[:2], "nmod", *RELS[3:8], "obj", *RELS[9:]))


def scores(metric: Attachment, gold: list[GoldTree], found: list[DepTree]) -> dict[str, float]:
    return {name: float(value) for name, value in metric.scores(metric.counts(gold, found).sum(0)).items()}


def test_scores_over_all_words_are_the_shares_of_right_heads_and_right_arcs() -> None:
    assert scores(Attachment(), [GOLD], [FOUND]) == pytest.approx({"las": 100 * 7 / 11, "uas": 100 * 9 / 11})


def test_without_subtypes_las_is_that_of_conll_2018() -> None:
    metric = Attachment(subtypes=False)
    assert scores(metric, [GOLD], [FOUND]) == pytest.approx({"las": 100 * 8 / 11, "uas": 100 * 9 / 11})
    assert metric.label_scores([GOLD], [FOUND])["nmod"] == {"precision": 100, "recall": 100, "f1": 100, "support": 1}


def test_punctuation_is_left_out_of_the_second_pair_only() -> None:
    gold = GoldTree(GOLD.heads, GOLD.rels, punctuation("unicode_p", WORDS))
    found = scores(Attachment("unicode_p"), [gold], [FOUND])
    expected = {"las": 7 / 11, "uas": 9 / 11, "las_no_punct": 5 / 8, "uas_no_punct": 7 / 8}
    assert found == pytest.approx({name: 100 * share for name, share in expected.items()})


@pytest.mark.parametrize(
    ("rule", "tags", "expected"),
    [
        ("none", "", []),
        ("unicode_p", "", ["-LRB-", "-RRB-", "..."]),
        ("ptb", "PRP VBD NNP POS NNP NN -LRB- $ CD -RRB- :", ["..."]),
        ("upos", "PRON VERB PROPN PART PROPN NOUN PUNCT SYM NUM PUNCT PUNCT", ["-LRB-", "-RRB-", "..."]),
    ],
)
def test_each_rule_knows_its_punctuation(rule, tags: str, expected: list[str]) -> None:
    found = punctuation(rule, WORDS, tags.split())
    assert [word for word, marked in zip(WORDS, found, strict=True) if marked] == expected


@pytest.mark.parametrize(("word", "expected"), [('"', True), ("``", True), ("`", True), ("n't", False), ("+", False)])
def test_quotes_are_punctuation_in_whatever_spelling_and_symbols_are_not(word: str, expected: bool) -> None:
    assert punctuation("unicode_p", [word]) == (expected,)


def test_a_relation_is_right_only_with_its_head() -> None:
    table = Attachment().label_scores([GOLD], [FOUND])
    two_thirds = pytest.approx(200 / 3)
    assert table["punct"] == {"precision": two_thirds, "recall": two_thirds, "f1": two_thirds, "support": 3}
    assert table["amod"]["f1"] == 0
    assert table["obj"] == {"precision": 50, "recall": 100, "f1": two_thirds, "support": 1}
    assert table["nmod"]["support"] == 0


def test_counts_add_up_over_sentences() -> None:
    metric = Attachment("upos")
    short = GoldTree((0, 1), ("root", "punct"), (False, True))
    empty = GoldTree((), (), ())
    counts = metric.counts([GOLD, empty, short], [FOUND, DepTree((), ()), DepTree((2, 0), ("dep", "root"))])
    assert counts.tolist() == [[7, 9, 11, 7, 9, 11], [0] * 6, [0, 0, 2, 0, 0, 1]]
    assert counts.shape == (3, len(metric.columns))
    assert metric.scores(np.stack([counts, counts]))["las_no_punct"].shape == (2, 3)


def test_sides_that_do_not_match_are_refused() -> None:
    with pytest.raises(ValueError, match="1 gold sentences, 0 predicted"):
        Attachment().counts([GOLD], [])
    with pytest.raises(ValueError, match="sentence 0: 11 gold tags, 1 predicted"):
        Attachment().counts([GOLD], [DepTree((0,), ("root",))])
