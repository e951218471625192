"""Answers are compared as SQuAD's script does: golden cases, its definition in plain steps, and real answers."""

from __future__ import annotations

import collections
import gzip
import json
import os
import re
import string
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mtlspec.data.answers import normalised
from mtlspec.metrics.answers import agreement, token_f1

# answer, right ones, exact match, F1: worked by hand.
CASES = [
    ("Denver Broncos", ["Denver Broncos"], 1, 1.0),
    ("the Denver Broncos!", ["Denver  broncos"], 1, 1.0),
    ("Denver", ["Denver Broncos"], 0, 2 / 3),
    ("Broncos of Denver", ["Denver Broncos"], 0, 4 / 5),
    ("a", ["the"], 1, 1.0),  # nothing is left of either
    ("", [], 1, 1.0),
    ("Denver", [], 0, 0.0),
    ("", ["Denver"], 0, 0.0),
    ("Panthers", ["Denver Broncos", "Carolina Panthers"], 0, 2 / 3),
    ("1,000", ["1000"], 1, 1.0),
    ("co-operate", ["cooperate"], 1, 1.0),
    ("co operate", ["co-operate"], 0, 0.0),
    ("U.S.", ["us"], 1, 1.0),
    ("“quoted”", ["quoted"], 0, 0.0),  # only ASCII's punctuation goes
    ("an apple", ["apple an"], 1, 1.0),
    ("theatre", ["atre"], 0, 0.0),  # articles are whole words
    ("the the the cat", ["cat"], 1, 1.0),
    ("cat cat dog", ["cat dog dog"], 0, 2 / 3),  # as often as both have them
    ("ÉCOLE", ["école"], 1, 1.0),
    ("10–12", ["1012"], 0, 0.0),
]


@pytest.mark.parametrize(("answer", "right", "exact", "f1"), CASES)
def test_cases_by_hand(answer: str, right: list[str], exact: int, f1: float) -> None:
    assert agreement(answer, right) == pytest.approx((exact, f1))


def _steps(text: str) -> list[str]:
    """The definition, character by character and word by word."""
    kept = "".join(sign for sign in text.lower() if sign not in set(string.punctuation))
    return re.sub(r"\b(a|an|the)\b", " ", kept).split()


def _f1(answer: str, right: str) -> float:
    ours, theirs = _steps(answer), _steps(right)
    if not ours or not theirs:
        return float(ours == theirs)
    rest, same = collections.Counter(theirs), 0
    for token in ours:
        if rest[token]:
            rest[token] -= 1
            same += 1
    if not same:
        return 0.0
    precision, recall = same / len(ours), same / len(theirs)
    return 2 * precision * recall / (precision + recall)


WORDS = st.lists(st.sampled_from(["the", "a", "An", "cat", "Cat.", "dog", "x-y", "xy", "'", "é", "3,5"]), max_size=6)


@given(WORDS.map(" ".join), WORDS.map(" ".join))
def test_any_two_texts_agree_as_the_definition_says(one: str, other: str) -> None:
    assert normalised(one).split() == _steps(one)
    assert token_f1(one, other) == pytest.approx(_f1(one, other))
    assert token_f1(one, other) == pytest.approx(token_f1(other, one))


def _real(root: Path) -> Iterator[tuple[str, list[str]]]:
    """Answers of SQuAD with all their annotators, and each context's first words as a wrong one."""
    with gzip.open(root / "qa/SQuAD-dev.first250.jsonl.gz", "rt", encoding="utf-8") as file:
        next(file)  # the header
        for line in file:
            found = json.loads(line)
            for asked in found["qas"]:
                yield asked["answers"][0], asked["answers"][1:]
                yield " ".join(found["context"].split()[:4]), asked["answers"]


@pytest.mark.realdata
@pytest.mark.skipif("MTLSPEC_DATA" not in os.environ, reason="MTLSPEC_DATA names no folder of real data")
def test_real_answers_agree_as_the_definition_says() -> None:
    seen = 0
    for answer, right in _real(Path(os.environ["MTLSPEC_DATA"])):
        known = right or [""]
        exact = max(float(_steps(answer) == _steps(one)) for one in known)
        assert agreement(answer, right) == pytest.approx((exact, max(_f1(answer, one) for one in known)))
        seen += 1
    assert seen >= 200
