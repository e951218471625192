"""Layers that point into raw text: characters of sub-tokens, whole pairs, windows that begin with the first text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from mtlspec.data.answers import Answered
from mtlspec.data.batching import collate, collate_parts
from mtlspec.data.layer import TextSpan
from mtlspec.data.marks import Marked
from mtlspec.data.prepare import write_prepared
from mtlspec.data.prepared import Prepared
from mtlspec.data.sentence import Sentence
from mtlspec.data.text_tokenizer import TextTokenizer
from mtlspec.data.tokenizer import WordTokenizer
from mtlspec.errors import DataError
from mtlspec.model.encoder.encoder import Encoder
from mtlspec.model.encoder.windows import cut
from tests.unit.data import tokenizers_of
from tests.unit.model.encoder.small import SPECIALS

QUESTION = "Who sees the dog?"


def example(*texts: str, **layers: Any) -> Sentence:
    return Sentence("x", (), layers, ("a.json", 7), texts=texts)


def answered(context: str, *answers: str) -> Answered:
    starts = [context.index(text) for text in answers]
    return Answered(answers, tuple((at, at + len(text)) for text, at in zip(answers, starts, strict=True)))


def prepared(encoder: Path, folder: Path, *examples: Sentence, **tokenizer: Any) -> Prepared:
    splits = {"train": examples, "dev": examples}
    write_prepared(splits, WordTokenizer.load(encoder), folder, None, lambda: TextTokenizer.load(encoder, **tokenizer))
    return Prepared.load(folder)


@pytest.mark.parametrize("family", sorted(tokenizers_of.FAMILIES))
def test_the_characters_of_sub_tokens_are_those_of_the_familys_own_tokenizer(family: str, tmp_path: Path) -> None:
    directory = tokenizers_of.write(family, tmp_path)
    texts = ("is it good?", "the  cat saw,\ta dog. İt ис 犬")
    own = tokenizers_of.own(directory)(*texts, return_offsets_mapping=True)
    (found,) = TextTokenizer.load(directory).encode([example(*texts)], whole=True, located=True)
    assert list(zip(found.starts, found.ends, strict=True)) == [tuple(pair) for pair in own["offset_mapping"]]
    (plain,) = TextTokenizer.load(directory, long_text="window").encode([example(*texts)])
    assert found._replace(starts=(), ends=()) == plain


def test_prepared_texts_tell_characters_only_where_a_layer_points_at_some(toy_encoder: Path, tmp_path: Path) -> None:
    context = "Anna sees  the old dog."
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    data = prepared(toy_encoder, tmp_path / "a", example(QUESTION, context, reply=answered(context, "Anna", "old dog")))
    split = data.train
    starts, ends = split.characters
    second = split.piece_words == 1
    words = [context[a:b] for a, b in zip(starts[second].tolist(), ends[second].tolist(), strict=True)]
    assert words == ["Anna", "sees", "the", "old", "dog", "."]
    assert split.repeated is not None and split.repeated.tolist() == [int(second.nonzero()[0])]
    assert split.values("reply") == [answered(context, "Anna", "old dog")]
    plain = prepared(toy_encoder, tmp_path / "b", example(QUESTION, context, same="no")).train
    assert plain.repeated is None and collate(plain, torch.tensor([0]), data.specials).repeated is None
    with pytest.raises(DataError, match="E271: the prepared data have no column 'starts'"):
        _ = plain.characters


def test_a_text_that_must_be_whole_is_never_cut_and_its_question_must_leave_room(
    toy_encoder: Path, tmp_path: Path
) -> None:
    context = "the cat " * 60 + "Anna"
    pair = example(QUESTION, context, reply=answered(context, "Anna"))
    data = prepared(toy_encoder, tmp_path, pair, max_pieces=16, long_text="longest_first")
    assert int(data.train.piece_counts[0]) == 5 + 2 + 121 + 1
    with pytest.raises(
        DataError, match=r"a\.json:7: error E920: the first text has 62 sub-tokens, over half of the 64"
    ):
        TextTokenizer.load(toy_encoder).encode([example("dog " * 60, context)], whole=True)
    TextTokenizer.load(toy_encoder).encode([example("dog " * 40, "cat")], whole=True)  # all of it is read at once


def test_what_a_layer_points_at_must_have_been_read(toy_encoder: Path, tmp_path: Path) -> None:
    text = "the cat sees a dog and a red house"
    house = Marked((TextSpan(0, 4, 7), TextSpan(0, 29, 34)), "yes")
    with pytest.raises(DataError, match=r"a\.json:7: error E921: layer 'm' is about characters 29 to 34 of text 1"):
        prepared(toy_encoder, tmp_path, example(text, m=house), max_pieces=8, long_text="longest_first")
    with pytest.raises(DataError, match=r"E921: .* characters 3 to 4 of text 1, .*; what it points at is no text"):
        prepared(toy_encoder, tmp_path, example(text, m=Marked((TextSpan(0, 3, 4),), "yes")))
    split = prepared(toy_encoder, tmp_path, example(text, m=house), example(text, m=Marked(house.spans))).train
    assert split.values("m") == [house, None] and split.labelled("m").tolist() == [0]
    assert split.flat("m.start")[0].tolist() == [4, 29, 4, 29]


@given(st.lists(st.tuples(st.integers(0, 8), st.integers(0, 60)), min_size=1, max_size=4), st.integers(20, 30))
def test_windows_begin_with_what_is_repeated_and_hold_every_sub_token(rows: list[tuple[int, int]], limit: int) -> None:
    width = max(front + content for front, content in rows) + 3
    pieces = torch.zeros(len(rows), width, dtype=torch.int64)
    for row, (front, content) in enumerate(rows):
        inner = list(range(10, 10 + front + content))
        pieces[row, : len(inner) + 3] = torch.tensor([SPECIALS.cls, *inner[:front], SPECIALS.sep, *inner[front:], 3])
    mask = pieces != SPECIALS.pad
    repeated = torch.tensor([front + 2 for front, _ in rows])
    windows = cut(pieces, mask, limit, SPECIALS, repeated)
    for number, row in enumerate(windows.rows.tolist()):
        own, front = windows.pieces[number][windows.mask[number]], int(repeated[row])
        assert own[:front].tolist() == pieces[row, :front].tolist()
        assert int(own[-1]) == SPECIALS.sep and len(own) <= limit
    ids = windows.stitch(windows.pieces.unsqueeze(2)).squeeze(2)
    assert torch.equal(ids[mask], pieces[mask])


def test_each_part_of_a_long_text_is_read_with_its_question(toy_encoder: Path, tmp_path: Path) -> None:
    """Against a direct reading of every window; short pairs in the same batch are read as ever."""
    context = " ".join(["anna sees the cat", "a red house finds boris"] * 8)
    other = "the old dog"
    examples = [
        example(QUESTION, context, reply=answered(context, "red")),
        example(QUESTION, other, reply=answered(other, "dog")),
    ]
    split = prepared(toy_encoder, tmp_path, *examples, max_pieces=24).train
    encoder = Encoder.load(toy_encoder, max_pieces=24).eval()
    batch = collate_parts([(split, torch.tensor([0, 1]))], encoder.specials)
    assert batch.repeated is not None
    states = encoder(batch)
    front, count = int(batch.repeated[0]), int(split.piece_counts[0])
    size = 24 - front - 1
    last = torch.cat([batch.pieces[0, :front], batch.pieces[0, count - 1 - size : count]])
    types = torch.tensor([0] * front + [1] * (size + 1))
    direct = encoder.hidden(last.unsqueeze(0), torch.ones(1, 24, dtype=torch.bool), types.unsqueeze(0))
    torch.testing.assert_close(
        states.pieces[0, count - size // 2 : count], direct[0, -(size // 2) :], rtol=0, atol=1e-5
    )
    alone = encoder(collate(split, torch.tensor([1]), encoder.specials))
    torch.testing.assert_close(states.pieces[1, : alone.pieces.shape[1]], alone.pieces[0], rtol=0, atol=1e-5)
    assert states.windows is not None
