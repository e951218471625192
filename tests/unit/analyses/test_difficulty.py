"""Estimates of difficulty: worked by hand, against loops over the definitions, on prepared data."""

from __future__ import annotations

import math
from collections import Counter
from itertools import combinations, permutations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau

from mtlspec.analyses._difficulty import TOP, Difficulty, agreement, difficulty, most_frequent, of_layer, read
from mtlspec.data.prepared import Prepared

GOOD, BAD = {"good": 2, "film": 1}, {"bad": 1, "film": 1}


def test_two_classes_by_hand() -> None:
    """`good good film` and `bad film`: three distinct words of five; they meet in `film`."""
    found = difficulty({"pos": 1, "neg": 1}, {"pos": GOOD, "neg": BAD})
    assert found is not None
    assert (found.distinct, found.imbalance, found.diversity) == pytest.approx((3 / 5, 0.0, math.log(2)))
    # The distributions are (2/3, 1/3, 0) and (0, 1/2, 1/2): only sqrt(1/3 * 1/2) of them is common.
    assert found.interference == pytest.approx(1 - math.sqrt(1 - math.sqrt(1 / 6)))
    # Entropies 0.63651 and 0.69315 on the diagonal, 0.4 * ln(0.4 / (1/3 * 1/2)) = 0.35019 twice beside it.
    assert found.information == pytest.approx((0.636514 + 0.693147 + 2 * 0.350187) / 4, abs=1e-6)
    assert found.estimate == pytest.approx(2.031402, abs=1e-5)


def test_uneven_classes_by_hand() -> None:
    found = difficulty({"a": 6, "b": 3, "c": 3}, {"a": GOOD, "b": GOOD, "c": BAD})
    assert found is not None
    assert found.imbalance == pytest.approx(1 / 6 + 2 / 12)
    assert found.diversity == pytest.approx(0.5 * math.log(2) + 0.5 * math.log(4))
    assert found.interference == pytest.approx(1.0)  # two classes have the same words


def test_nothing_is_estimated_without_two_classes_that_have_words() -> None:
    assert difficulty({"pos": 3}, {"pos": GOOD}) is None
    assert difficulty({"pos": 3, "neg": 3}, {"pos": GOOD}) is None
    assert difficulty({}, {}) is None


def test_words_are_read_without_punctuation_and_capitals_and_function_words_are_not_frequent() -> None:
    assert read(["The", "film,", "--", "isn't", "Ärgerlich!"]) == ["the", "film", "isnt", "ärgerlich"]
    words = {"the": 99, "of": 98} | {f"w{number:02}": 5 for number in range(12)} | {"z": 6}
    assert list(most_frequent(words)) == ["z", *(f"w{number:02}" for number in range(9))]


BAGS = st.dictionaries(st.sampled_from("abcdefghijklmnopqrst"), st.integers(1, 9), min_size=1, max_size=15)


@given(st.lists(st.tuples(st.integers(1, 50), BAGS), min_size=2, max_size=6))
def test_estimates_are_what_loops_over_the_definitions_give(classes: list[tuple[int, dict[str, int]]]) -> None:
    sizes = {str(number): size for number, (size, _) in enumerate(classes)}
    words = {str(number): own for number, (_, own) in enumerate(classes)}
    found = difficulty(sizes, words)
    assert found is not None
    whole = sum(sizes.values())
    nearest = min(_hellinger(words[i], words[j]) for i, j in combinations(words, 2))
    tops = {name: most_frequent(own) for name, own in words.items()}
    assert all(len(top) <= TOP and not top.keys() & {"a", "i", "d", "m", "o", "s", "t"} for top in tops.values())
    informed = [_information(tops[i], tops[j], i == j) for i in tops for j in tops]
    direct = Difficulty(
        len({word for own in words.values() for word in own}) / sum(sum(own.values()) for own in words.values()),
        sum(abs(1 / len(sizes) - size / whole) for size in sizes.values()),
        -sum(size / whole * math.log(size / whole) for size in sizes.values()),
        1 - nearest,
        sum(informed) / len(informed),
    )
    for part in ("distinct", "imbalance", "diversity", "interference", "information"):
        assert getattr(found, part) == pytest.approx(getattr(direct, part), abs=1e-6), part
    assert 0 <= found.interference <= 1


def _hellinger(one: dict[str, int], other: dict[str, int]) -> float:
    roots = (
        math.sqrt(one.get(word, 0) / sum(one.values())) - math.sqrt(other.get(word, 0) / sum(other.values()))
        for word in one.keys() | other.keys()
    )
    return math.sqrt(sum(root**2 for root in roots)) / math.sqrt(2)


def _information(one: dict[str, int], other: dict[str, int], same: bool) -> float:
    n, m = sum(one.values()), sum(other.values())
    if same:
        return -sum(count / n * math.log(count / n) for count in one.values())
    found = 0.0
    for word in one.keys() & other.keys():
        both = (one[word] + other[word]) / (n + m)
        found += both * (math.log(both) - math.log(one[word] / n) - math.log(other[word] / m))
    return found


def test_classes_of_prepared_data_are_those_of_examples_or_of_words(toy_prepared: Path) -> None:
    data = Prepared.load(toy_prepared)
    train = data.split("train")
    tags, topics = train.values("pos"), train.values("topic")
    sizes, words = Counter[str](), dict[str, Counter[str]]()
    for row in train.labelled("pos").tolist():
        for word, tag in zip(train.words(row), tags[row], strict=True):
            if tag is not None:
                sizes[tag] += 1
                words.setdefault(tag, Counter()).update(read([word]))
    found = of_layer(data, "pos")
    assert found is not None and found == difficulty(sizes, words)
    of_topics = of_layer(data, "topic")
    assert of_topics is not None and of_topics.diversity <= math.log(len({topic for topic in topics if topic}))
    assert of_layer(data, "dep") is None and of_layer(data, "size") is None


@given(st.integers(0, 2**32 - 1), st.integers(2, 5))
def test_agreement_is_kendalls_with_a_p_value_over_all_pairings(seed: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    one, other = (rng.integers(0, 4, count).astype(np.float64) for _ in range(2))
    tau, p = agreement(one, other)
    if p is None:
        assert len(set(one)) == 1 or len(set(other)) == 1
        return
    assert tau == pytest.approx(kendalltau(one, other).statistic)
    ways = [kendalltau(one, other[list(way)]).statistic for way in permutations(range(count))]
    assert p == pytest.approx(np.mean([abs(way) >= abs(tau) - 1e-9 for way in ways]))


def test_many_things_are_paired_by_drawing() -> None:
    rising = np.arange(12.0)
    assert agreement(rising, rising) == (pytest.approx(1.0), pytest.approx(1 / 10_001))
    tau, p = agreement(rising, np.random.default_rng(5).permutation(rising))
    expected = kendalltau(rising, np.random.default_rng(5).permutation(rising), method="exact")
    assert (tau, p) == (pytest.approx(expected.statistic), pytest.approx(expected.pvalue, abs=0.02))
