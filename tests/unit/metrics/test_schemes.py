"""Tagging schemes: spans, conversions, detection, allowed transitions."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from seqeval.metrics.sequence_labeling import get_entities

from mtlspec.metrics.schemes import (
    allowed_transitions,
    convert,
    detect_scheme,
    spans_of,
    tags_of,
)

IOBES = ["O", *(f"{prefix}-{kind}" for prefix in "BIES" for kind in ("PER", "LOC-X"))]
BIO = [tag for tag in IOBES if tag[0] in "BIO"]


@given(st.lists(st.sampled_from(IOBES), max_size=12))
def test_spans_of_any_sequence_are_those_of_seqeval(tags):
    expected = [(start, end + 1, kind) for kind, start, end in get_entities(tags)]
    assert spans_of(tags, "iobes") == expected


def test_plain_tags_are_spans_of_one_word_and_outside_is_none():
    assert spans_of(["NN", "O", "VB"], "plain") == [(0, 1, "NN"), (2, 3, "VB")]


def test_iob1_becomes_iob2_and_iobes():
    iob1 = ["I-X", "I-X", "B-X", "O", "I-Y", "I-X"]
    assert convert(iob1, "bio") == ["B-X", "I-X", "B-X", "O", "B-Y", "B-X"]
    assert convert(iob1, "iobes") == ["B-X", "E-X", "S-X", "O", "S-Y", "S-X"]


@given(st.lists(st.sampled_from(IOBES), max_size=10), st.sampled_from(["bio", "iobes"]))
def test_conversion_keeps_spans_and_gives_well_formed_tags(tags, to):
    converted = convert(tags, to)
    assert spans_of(converted, to) == spans_of(tags, "iobes")
    assert convert(converted, to) == converted


def test_bare_tags_keep_their_form():
    assert convert(["I", "I", "O", "B"], "iobes") == ["B", "E", "O", "S"]


def test_overlapping_spans_are_refused():
    with pytest.raises(ValueError, match="overlaps"):
        tags_of([(0, 2, "X"), (1, 3, "Y")], 3, "bio")


@pytest.mark.parametrize(
    ("tags", "scheme"),
    [
        (["O", "B-X", "I-X"], "bio"),
        (["O", "I-X"], "bio"),
        (["O", "B-X", "E-X", "I-X"], "iobes"),
        (["O", "S-X"], "iobes"),
        (["B", "I", "O"], "bio"),
        (["NN", "VB", "O"], "plain"),
        (["O"], "plain"),
        ([], "plain"),
        (["S", "O"], "plain"),
        (["B-X", "NN"], "plain"),
        (["b", "i", "o", "B", "I", "O"], "plain"),
        (["B-", "O"], "plain"),
    ],
)
def test_the_scheme_is_found_from_the_inventory(tags, scheme):
    assert detect_scheme(tags) == scheme


@pytest.mark.parametrize(("tags", "scheme"), [(BIO, "bio"), (IOBES, "iobes")])
def test_allowed_transitions_admit_exactly_the_well_formed_sequences(tags, scheme):
    allowed = allowed_transitions(tags, scheme)
    for length in (1, 2, 3):
        for path in itertools.product(range(len(tags)), repeat=length):
            sequence = [tags[i] for i in path]
            well_formed = tags_of(spans_of(sequence, scheme), length, scheme) == sequence
            admitted = bool(allowed.start[path[0]] and allowed.end[path[-1]]) and all(
                allowed.pairs[a, b] for a, b in itertools.pairwise(path)
            )
            assert admitted == well_formed, sequence


def test_plain_allows_everything():
    allowed = allowed_transitions(["A", "B-X"], "plain")
    assert allowed.pairs.all()
    assert allowed.start.all()
    assert allowed.end.all()


def test_a_tag_of_another_task_is_outside_where_tags_spell_spans_and_it_spells_none() -> None:
    tags = ["B-NP", "NOUN", "B-PER"]
    assert spans_of(tags, "bio") == [(0, 1, "NP"), (2, 3, "PER")]
    assert spans_of(tags, "plain") == [(0, 1, "B-NP"), (1, 2, "NOUN"), (2, 3, "B-PER")]
