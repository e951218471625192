"""Bracket F1 on trees whose EVALB counts were worked out by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mtlspec.data.blocks import Block
from mtlspec.data.readers import brackets as reader
from mtlspec.data.sentence import ConTree
from mtlspec.metrics.brackets import BracketF1
from tests.unit.data.strategies import con_trees


def tree(text: str, **options: bool) -> ConTree:
    read = reader.Options.model_validate({"type": "brackets", **options})
    found = read.parse(Block("x", 1, 1, (text,))).layers["con"]
    assert isinstance(found, ConTree)
    return found


def row(gold: str, predicted: str, **options: bool) -> list[int]:
    return BracketF1().counts([tree(gold, **options)], [tree(predicted, **options)])[0].tolist()


CASES = {
    "the root does not count": (
        "(TOP (S (NP (NN a)) (VP (VB b))))",
        "(TOP (S (NP (NN a)) (VP (VB b))))",
        [3, 3, 3, 1, 1],
    ),
    "names of the root are all alike": ("(S1 (NP (NN a)))", "(ROOT (NP (NN a)))", [1, 1, 1, 1, 1]),
    "a wrong label": ("(TOP (S (NP (NN a)) (VP (VB b))))", "(TOP (S (NP (NN a)) (NP (VB b))))", [2, 3, 3, 0, 1]),
    "punctuation at the end of a phrase is no part of it": (
        "(TOP (S (NP (NN a)) (VP (VB b)) (. .)))",
        "(TOP (S (NP (NN a)) (VP (VB b) (. .))))",
        [3, 3, 3, 1, 1],
    ),
    "spans are counted in words that are left": (
        "(TOP (S (NP (NN a) (, ,)) (VP (VB b) (NP (NN c)))))",
        "(TOP (S (NP (NN a)) (, ,) (VP (VB b) (NP (NN c)))))",
        [4, 4, 4, 1, 1],
    ),
    "a phrase of punctuation vanishes": (
        "(TOP (S (NP (NN a)) (PRN (: --) (. !))))",
        "(TOP (S (NP (NN a)) (: --) (. !)))",
        [2, 2, 2, 1, 1],
    ),
    "hyphens and brackets are words": (
        "(TOP (NP (-LRB- -LRB-) (HYPH -)))",
        "(TOP (NP (NP (-LRB- -LRB-)) (HYPH -)))",
        [1, 2, 1, 0, 1],
    ),
    "particles are adverbs": ("(TOP (VP (VB a) (PRT (RP b))))", "(TOP (VP (VB a) (ADVP (RP b))))", [2, 2, 2, 1, 1]),
    "each level of a unary chain counts": (
        "(TOP (S (VP (VB a) (NP (NN b)))))",
        "(TOP (VP (VB a) (NP (NN b))))",
        [2, 2, 3, 0, 1],
    ),
    "the order of a chain does not": (
        "(TOP (S (VP (VB a))))",
        "(TOP (VP (S (VB a))))",
        [2, 2, 2, 1, 1],
    ),
    "equal brackets count as often as both sides have them": (
        "(TOP (NP (NP (NN a))))",
        "(TOP (NP (NP (NP (NN a)))))",
        [2, 3, 2, 0, 1],
    ),
    "a sentence of punctuation is complete": ("(TOP (X (. .)))", "(TOP (. .))", [0, 0, 0, 1, 1]),
}


@pytest.mark.parametrize(("gold", "predicted", "expected"), CASES.values(), ids=CASES.keys())
def test_counts_worked_by_hand(gold: str, predicted: str, expected: list[int]) -> None:
    assert row(gold, predicted) == expected


def test_function_tags_and_traces_do_not_count() -> None:
    gold = "(TOP (S-IMP (NP-SBJ=2 (-NONE- *)) (VP (VB a) (NP (NN b)))))"
    assert row(gold, "(TOP (S (NP (-NONE- *)) (VP (VB a) (NP (NN b)))))", functions=True, traces=True) == [
        3,
        3,
        3,
        1,
        1,
    ]


def test_scores_are_of_sums_over_sentences() -> None:
    gold = [tree("(TOP (S (NP (NN a)) (VP (VB b) (ADVP (RB c)))))"), tree("(TOP (NP (NN a)))")]
    found = [tree("(TOP (S (NP (NN a)) (VP (VB b)) (PRT (RB c))))"), tree("(TOP (NP (NN a)))")]
    metric = BracketF1()
    counts = metric.counts(gold, found)
    assert counts.tolist() == [[3, 4, 4, 0, 1], [1, 1, 1, 1, 1]]
    assert {name: float(value) for name, value in metric.scores(counts.sum(0)).items()} == {
        "precision": 80.0,
        "recall": 80.0,
        "f1": 80.0,
        "complete": 50.0,
    }
    assert metric.label_scores(gold, found) == {
        "ADVP": {"precision": 100.0, "recall": 100.0, "f1": 100.0, "support": 1},
        "NP": {"precision": 100.0, "recall": 100.0, "f1": 100.0, "support": 2},
        "S": {"precision": 100.0, "recall": 100.0, "f1": 100.0, "support": 1},
        "VP": {"precision": 0.0, "recall": 0.0, "f1": 0.0, "support": 1},
    }
    assert metric.scores(counts).keys() == {"precision", "recall", "f1", "complete"}


@given(st.integers(1, 8).flatmap(lambda n: st.tuples(con_trees(n), con_trees(n))))
def test_swapping_the_sides_swaps_precision_and_recall(pair: tuple[ConTree, ConTree]) -> None:
    one, other = pair
    other = ConTree(other.spans, one.pos)
    correct, predicted, gold, complete, _ = BracketF1().counts([one], [other])[0].tolist()
    assert BracketF1().counts([other], [one])[0].tolist() == [correct, gold, predicted, complete, 1]
    assert complete == (correct == predicted == gold)
    assert BracketF1().counts([one], [ConTree(other.spans, ())])[0].tolist() == [correct, predicted, gold, complete, 1]


def test_sides_that_do_not_fit_are_refused() -> None:
    short, long = tree("(TOP (NP (NN a)))"), tree("(TOP (NP (NN a) (NN b)))")
    with pytest.raises(ValueError, match="1 gold trees, 2 predicted"):
        BracketF1().counts([short], [short, long])
    with pytest.raises(ValueError, match="sentence 0: a predicted phrase ends behind"):
        BracketF1().counts([short], [long])
