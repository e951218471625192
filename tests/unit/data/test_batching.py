"""Batches: limits, coverage, exact resume, little padding, and tensors equal to a plain loop."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from mtlspec.data.batching import BatchCursor, Specials, collate, sequential
from mtlspec.data.prepared import Prepared
from mtlspec.errors import DataError

LENGTHS = st.lists(st.integers(1, 60), min_size=1, max_size=80)
LIMITS = {"sentences": st.integers(1, 12), "tokens": st.integers(3, 200)}


def padded(lengths: torch.Tensor, rows: torch.Tensor) -> int:
    return len(rows) * (int(lengths[rows].max()) + 2)


@settings(max_examples=80)
@given(lengths=LENGTHS, passes=st.integers(1, 3), **LIMITS)
def test_every_pass_covers_every_row_once_within_the_limits(
    lengths: list[int], passes: int, sentences: int, tokens: int
) -> None:
    sizes = torch.tensor(lengths)
    cursor = BatchCursor(sizes, sentences, tokens, 1, "x")
    for _ in range(passes):
        batches = [cursor.next() for _ in range(cursor.batches_per_pass)]
        assert sorted(torch.cat(batches).tolist()) == list(range(len(lengths)))
        for rows in batches:
            assert 1 <= len(rows) <= sentences
            assert len(rows) == 1 or padded(sizes, rows) <= tokens


@settings(max_examples=60)
@given(lengths=LENGTHS, done=st.integers(0, 60), **LIMITS)
def test_a_cursor_resumed_from_its_state_gives_the_same_stream(
    lengths: list[int], done: int, sentences: int, tokens: int
) -> None:
    sizes = torch.tensor(lengths)
    cursor = BatchCursor(sizes, sentences, tokens, 5, "pos")
    for _ in range(done):
        cursor.next()
    state = json.loads(json.dumps(cursor.state()))
    expected = [cursor.next().tolist() for _ in range(30)]
    resumed = BatchCursor(sizes, sentences, tokens, 5, "pos")
    resumed.load_state(state)
    assert [resumed.next().tolist() for _ in range(30)] == expected


@settings(max_examples=60)
@given(lengths=LENGTHS, **LIMITS)
def test_evaluation_takes_every_row_once_shortest_first(lengths: list[int], sentences: int, tokens: int) -> None:
    sizes = torch.tensor(lengths)
    batches = sequential(sizes, sentences, tokens)
    rows = torch.cat(batches)
    assert sorted(rows.tolist()) == list(range(len(lengths)))
    assert sizes[rows].tolist() == sorted(lengths)
    assert all(len(b) == 1 or (padded(sizes, b) <= tokens and len(b) <= sentences) for b in batches)


def test_seed_name_and_pass_each_change_the_order() -> None:
    sizes = torch.arange(400) % 30 + 3
    streams = {}
    for seed, name in ((1, "a"), (2, "a"), (1, "b")):
        cursor = BatchCursor(sizes, 16, 10_000, seed, name)
        for number in range(2):
            streams[seed, name, number] = [tuple(cursor.next().tolist()) for _ in range(cursor.batches_per_pass)]
    assert len({tuple(stream) for stream in streams.values()}) == len(streams)
    first, second = (set(map(frozenset, streams[1, "a", number])) for number in range(2))
    assert not first & second  # batches are composed anew, not only reordered


def test_the_stream_is_the_same_for_ever() -> None:
    cursor = BatchCursor(torch.tensor([5, 5, 9, 5, 9, 30, 9, 5]), 2, 100, 7, "golden")
    assert [cursor.next().tolist() for _ in range(cursor.batches_per_pass + 1)] == [
        [2, 4],
        [0, 3],
        [1, 7],
        [6, 5],
        [0, 1],
    ]


def test_bucketing_saves_most_of_the_padding(toy_prepared: Path) -> None:
    generator = torch.Generator().manual_seed(3)
    sizes = torch.randint(4, 60, (3000,), generator=generator)
    cursor = BatchCursor(sizes, 32, 3200, 1, "x")
    bucketed = sum(padded(sizes, cursor.next()) for _ in range(cursor.batches_per_pass))
    random = sum(padded(sizes, rows) for rows in torch.randperm(3000, generator=generator).split(32))
    real = int((sizes + 2).sum())
    assert (bucketed - real) / bucketed < 0.06
    assert (random - real) / random > 0.35


def test_no_sentences_is_an_error() -> None:
    with pytest.raises(DataError, match="no sentences"):
        BatchCursor(torch.zeros(0, dtype=torch.int64), 4, 100, 1, "empty")
    assert sequential(torch.zeros(0, dtype=torch.int64), 4, 100) == []


def test_collate_equals_a_plain_loop(toy_prepared: Path) -> None:
    prepared = Prepared.load(toy_prepared)
    split, specials = prepared.dev, prepared.specials
    rows = torch.tensor([7, 0, 29, 7])
    batch = collate(split, rows, specials)
    pieces, words = split.column("pieces").to_pylist(), split.column("word_pieces").to_pylist()
    width = max(len(pieces[row]) for row in rows.tolist()) + 2
    for at, row in enumerate(rows.tolist()):
        inner, owners = pieces[row], [n for n, count in enumerate(words[row]) for _ in range(count)]
        rest = width - len(inner) - 2
        assert batch.pieces[at].tolist() == [specials.cls, *inner, specials.sep, *[specials.pad] * rest]
        assert batch.word_of_piece[at].tolist() == [-1, *owners, -1, *[-1] * rest]
        assert batch.piece_mask[at].tolist() == [True] * (len(inner) + 2) + [False] * rest
        assert batch.word_mask[at].sum() == len(words[row])
    assert batch.pieces.shape == (4, width) and batch.word_mask.shape[1] == max(len(words[r]) for r in rows.tolist())
    assert batch.rows.tolist() == rows.tolist()
    moved = batch.to("meta")
    assert moved.pieces.device.type == moved.word_mask.device.type == "meta"
    assert isinstance(specials, Specials)
