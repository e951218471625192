"""Exact match and F1 of answers: over 200 cases against a plain version of SQuAD's definition, and real questions."""

from __future__ import annotations

import gzip
import json
import os
import random
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from mtlspec.data.answers import Answered
from mtlspec.metrics.own.squad import SquadScores
from mtlspec.metrics.rebuild import rebuild_metric

# Answers that differ by what the normalisation removes, by order, by number, and by one word.
SAID = [
    "the Denver Broncos",
    "Denver  Broncos!",
    "Broncos, Denver",
    "denver",
    "an apple",
    "apple-tree",
    "The",
    "",
    "10%",
]
RIGHT = [
    ["Denver Broncos"],
    ["the DENVER broncos", "Broncos"],
    ["Carolina Panthers", "Denver"],
    ["apple"],
    ["appletree", "a tree", "apple tree"],
    ["10", "10 %"],
    ["broncos broncos denver", "x"],
    ["the"],  # nothing is left of it: as if the question had no answer
    ["a", "Denver"],
    [],
    ["Ünïcode – dash"],
    ["denver broncos denver"],
    ["Broncos\tof\nDenver"],
    ["\u00a0Denver\u00a0Broncos"],
    ["theatre", "Then"],
    ["10"],
    ["“Denver”"],
    ["A. An. The."],
    ["Denver."],
    ["apple tree apple"],
    ["U.S."],
    ["Apples"],
    ["1,0%"],
]


def plain_words(text: str) -> list[str]:
    """Lower case; no punctuation of ASCII; no articles; what blanks separate."""
    marks = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
    bare = "".join(sign for sign in text.lower() if sign not in marks)
    words: list[str] = []
    word = ""
    for sign in bare + " ":  # an article is a run of letters, digits and `_`, so no word of a longer one
        if sign.isalnum() or sign == "_":
            word += sign
            continue
        words += [word if word not in ("a", "an", "the") else " ", sign]
        word = ""
    return "".join(words).split()


def plain_scores(said: str, right: list[str]) -> tuple[float, float]:
    golds = [text for text in right if plain_words(text)] or [""]
    exact, best = 0.0, 0.0
    for gold in golds:
        ours, theirs = plain_words(said), plain_words(gold)
        exact = max(exact, float(ours == theirs))
        if not ours or not theirs:
            best = max(best, float(ours == theirs))
            continue
        same, rest = 0, list(theirs)
        for word in ours:
            if word in rest:
                rest.remove(word)
                same += 1
        if same:
            precision, recall = same / len(ours), same / len(theirs)
            best = max(best, 2 * precision * recall / (precision + recall))
    return exact, best


def answered(*texts: str) -> Answered:
    return Answered(texts, tuple((0, len(text)) for text in texts))


def check(cases: list[tuple[str, list[str]]]) -> None:
    gold = [answered(*right) for _, right in cases]
    given = [answered(said) if said else Answered() for said, _ in cases]
    metric = SquadScores(unanswerable=True)
    rows = metric.counts(gold, given)
    wanted = np.array([plain_scores(*case) for case in cases])
    np.testing.assert_allclose(rows[:, 1:3], wanted, rtol=0, atol=1e-12)
    found = metric.score_rows(rows)
    has = np.array([bool(right) for _, right in cases])
    assert found["em"] == pytest.approx(100 * wanted[:, 0].mean()) and found["f1"] == pytest.approx(
        100 * wanted[:, 1].mean()
    )
    assert found["em_answerable"] == pytest.approx(100 * wanted[has, 0].mean())
    assert found["f1_answerable"] == pytest.approx(100 * wanted[has, 1].mean())
    assert found["unanswerable"] == pytest.approx(100 * wanted[~has, 0].mean() if (~has).any() else 0.0)


def test_two_hundred_cases_by_hand_score_as_defined() -> None:
    cases = list(product(SAID, RIGHT))
    assert len(cases) >= 200
    check(cases)


@pytest.mark.realdata
@pytest.mark.skipif("MTLSPEC_DATA" not in os.environ, reason="MTLSPEC_DATA names no folder of real data")
def test_real_questions_score_as_defined() -> None:
    """Predictions are spans around the right ones of real texts, some of them none."""
    rng = random.Random(1)
    cases = []
    with gzip.open(Path(os.environ["MTLSPEC_DATA"]) / "qa/SQuAD-dev.first250.jsonl.gz", "rt", encoding="utf-8") as file:
        for line in list(file)[1:]:
            found = json.loads(line)
            for asked in found["qas"]:
                start, end = asked["detected_answers"][0]["char_spans"][0]
                said = found["context"][max(start - rng.randrange(9), 0) : end + 1 + rng.randrange(9)]
                cases.append((said if rng.random() < 0.9 else "", asked["answers"] if rng.random() < 0.9 else []))
    assert len(cases) == 1687
    check(cases)


def test_by_hand() -> None:
    gold = [answered("Denver Broncos", "the Broncos"), answered("1066"), Answered()]
    given = [answered("Broncos"), answered("in 1066"), answered("Rollo")]
    metric = SquadScores()
    rows = metric.counts(gold, given)
    assert rows.tolist() == [[1, 1, 1, 1, 1, 1], [1, 0, 2 / 3, 1, 0, 2 / 3], [1, 0, 0, 0, 0, 0]]
    assert {name: float(value) for name, value in metric.score_rows(rows).items()} == pytest.approx(
        {"em": 100 / 3, "f1": 500 / 9}
    )
    assert metric.score_rows(metric.pool([rows, rows])) == metric.score_rows(rows)
    assert rebuild_metric(SquadScores(True).describe()).score_rows(rows).keys() > metric.score_rows(rows).keys()
    with pytest.raises(ValueError, match="3 questions, 0 predicted answers"):
        metric.counts(gold, [])
