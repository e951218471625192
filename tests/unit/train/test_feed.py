"""Feeds give every sentence of a task once a pass, in whole batches or to measure."""

from __future__ import annotations

from collections import Counter

import torch
from hypothesis import given
from hypothesis import strategies as st

from mtlspec.spec.models import BatchLimits
from mtlspec.train.feed import Feed

ROWS = torch.arange(0, 200, 2)
LENGTHS = torch.arange(100) % 23 + 1


def feed(by_count: bool, seed: int = 1, name: str = "pos") -> Feed:
    return Feed(name, ROWS, LENGTHS, BatchLimits(sentences=8, tokens=100), seed, by_count)


@given(counts=st.lists(st.integers(1, 30), min_size=1, max_size=40))
def test_rows_to_measure_come_once_a_pass(counts: list[int]) -> None:
    stream = feed(by_count=True)
    taken = [stream.next(count) for count in counts]
    assert [len(rows) for rows in taken] == counts
    seen = Counter(torch.cat(taken).tolist())
    assert set(seen) <= set(ROWS.tolist())
    assert max(seen.values()) - min(seen[row] for row in ROWS.tolist()) <= 1


def test_whole_batches_cover_a_pass() -> None:
    stream = feed(by_count=False)
    rows = torch.cat([stream.next(None) for _ in range(stream.batches_per_pass)])
    assert sorted(rows.tolist()) == ROWS.tolist()


def test_passes_names_and_seeds_are_shuffled_differently() -> None:
    stream = feed(by_count=True)
    first, second = stream.next(100).tolist(), stream.next(100).tolist()
    others = [feed(True, seed=2).next(100).tolist(), feed(True, name="ner").next(100).tolist()]
    orders = [first, second, *others]
    assert all(sorted(order) == ROWS.tolist() for order in orders)
    assert len({tuple(order) for order in orders}) == 4


def test_what_is_taken_together_has_similar_lengths() -> None:
    stream = feed(by_count=True)
    place = {row: i for i, row in enumerate(ROWS.tolist())}
    spread = [
        torch.tensor([LENGTHS[place[row]] for row in stream.next(8).tolist()]).float().std().item() for _ in range(12)
    ]
    assert sum(spread) / len(spread) < LENGTHS.float().std().item() / 2


def test_both_kinds_continue_from_their_state() -> None:
    for by_count, count in ((True, 7), (False, None)):
        stream, other = feed(by_count), feed(by_count)
        for _ in range(25):
            stream.next(count)
        other.load_state(stream.state())
        assert all(torch.equal(stream.next(count), other.next(count)) for _ in range(30))


def test_once_gives_all_rows_and_moves_nothing() -> None:
    stream = feed(by_count=False)
    before = stream.state()
    assert sorted(torch.cat(list(stream.once())).tolist()) == ROWS.tolist()
    assert stream.state() == before
