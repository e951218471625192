"""Feeds give every sentence of a task once a pass, in whole batches or to measure."""

from __future__ import annotations

import json
from collections import Counter

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from mtlspec.spec.models import BatchLimits
from mtlspec.train.feed import Feed

ROWS = torch.arange(0, 200, 2)
LENGTHS = torch.arange(100) % 23 + 1


def feed(seed: int = 1, name: str = "pos") -> Feed:
    return Feed(name, ROWS, LENGTHS, BatchLimits(sentences=8, tokens=100), seed)


@given(counts=st.lists(st.integers(1, 30), min_size=1, max_size=40))
def test_rows_to_measure_come_once_a_pass(counts: list[int]) -> None:
    stream = feed()
    taken = [stream.next(count) for count in counts]
    assert [len(rows) for rows in taken] == counts
    seen = Counter(torch.cat(taken).tolist())
    assert set(seen) <= set(ROWS.tolist())
    assert max(seen.values()) - min(seen[row] for row in ROWS.tolist()) <= 1


def test_whole_batches_cover_a_pass() -> None:
    stream = feed()
    rows = torch.cat([stream.next() for _ in range(stream.batches_per_pass)])
    assert sorted(rows.tolist()) == ROWS.tolist()


def test_passes_names_and_seeds_are_shuffled_differently() -> None:
    stream = feed()
    first, second = stream.next(100).tolist(), stream.next(100).tolist()
    others = [feed(seed=2).next(100).tolist(), feed(name="ner").next(100).tolist()]
    orders = [first, second, *others]
    assert all(sorted(order) == ROWS.tolist() for order in orders)
    assert len({tuple(order) for order in orders}) == 4


def test_what_is_taken_together_has_similar_lengths() -> None:
    stream = feed()
    place = {row: i for i, row in enumerate(ROWS.tolist())}
    spread = [
        torch.tensor([LENGTHS[place[row]] for row in stream.next(8).tolist()]).float().std().item() for _ in range(12)
    ]
    assert sum(spread) / len(spread) < LENGTHS.float().std().item() / 2


@pytest.mark.parametrize("counts", [(7,), (None,), (None, 7, None, 3)])
def test_both_streams_continue_from_their_state(counts: tuple[int | None, ...]) -> None:
    stream, other = feed(), feed()
    for number in range(25):
        stream.next(counts[number % len(counts)])
    other.load_state(json.loads(json.dumps(stream.state())))
    for number in range(30):
        count = counts[number % len(counts)]
        assert torch.equal(stream.next(count), other.next(count))


def test_batches_and_single_sentences_do_not_disturb_each_other() -> None:
    alone, both = feed(), feed()
    for _ in range(20):
        both.next(5)
        assert torch.equal(alone.next(), both.next())


def test_once_gives_all_rows_and_moves_nothing() -> None:
    stream = feed()
    before = stream.state()
    assert sorted(torch.cat(list(stream.once())).tolist()) == ROWS.tolist()
    assert stream.state() == before
