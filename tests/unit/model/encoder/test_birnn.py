"""The biGRU encoder: its states by hand, one spelling a word, its start, what it has not, and back from disk."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

import mtlspec
from mtlspec.contract import training
from mtlspec.data.batching import collate
from mtlspec.data.prepared import Prepared
from mtlspec.errors import EncoderError
from mtlspec.model.encoder.birnn import BiRnn
from mtlspec.model.encoder.kinds.birnn import Options
from mtlspec.model.encoder.word_table import FILE

SMALL: dict[str, Any] = {"type": "birnn", "word_size": 6, "char_size": 4, "char_hidden": 3, "hidden": 5}


def _encoder(directory: Path, **more: Any) -> BiRnn:
    torch.manual_seed(3)
    return Options.model_validate({"card": "toy", **SMALL, **more}).build(directory).eval()


def _token(encoder: BiRnn, piece: int) -> Tensor:
    """A token's vector as the definition says: the word's, and the last states over its own letters alone."""
    starts, letters, rows = (encoder.get_buffer(name) for name in ("starts", "letters", "rows"))
    spelt = encoder.chars(letters[starts[piece] : starts[piece + 1]])
    _, last = encoder.speller(spelt.unsqueeze(0))
    return torch.cat([encoder.words(rows[piece]), last[-2, 0], last[-1, 0]])


def test_states_are_those_of_each_sentence_alone(toy_encoder: Path, toy_prepared: Path) -> None:
    data, encoder = Prepared.load(toy_prepared), _encoder(toy_encoder)
    batch = collate(data.train, torch.arange(6), data.specials)
    with torch.no_grad():
        states = encoder(batch)
        for i, (pieces, mask) in enumerate(zip(batch.pieces, batch.piece_mask, strict=True)):
            inner = pieces[mask][1:-1].tolist()
            alone, last = encoder.reader(torch.stack([_token(encoder, piece) for piece in inner]).unsqueeze(0))
            torch.testing.assert_close(states.pieces[i, 1 : len(inner) + 1], alone[0], rtol=0, atol=1e-6)
            whole = torch.cat([last[-2, 0], last[-1, 0]])
            for end in (states.cls[i], states.sep[i]):
                torch.testing.assert_close(end, whole, rtol=0, atol=1e-6)


def test_a_token_in_front_is_read_and_seen_by_nobody(toy_encoder: Path, toy_prepared: Path) -> None:
    data, encoder = Prepared.load(toy_prepared), _encoder(toy_encoder)
    batch = collate(data.train, torch.arange(3), data.specials)
    front = torch.randn(3, encoder.front_width)
    with torch.no_grad():
        plain = encoder(batch)
        with encoder.fronted(front):
            states = encoder(batch)
        assert torch.equal(encoder(batch).pieces, plain.pieces), "it is gone afterwards"
        assert states.words.shape == plain.words.shape and states.pieces.shape == plain.pieces.shape
        for i, (pieces, mask) in enumerate(zip(batch.pieces, batch.piece_mask, strict=True)):
            tokens = [front[i], *(_token(encoder, piece) for piece in pieces[mask][1:-1].tolist())]
            alone, _ = encoder.reader(torch.stack(tokens).unsqueeze(0))
            torch.testing.assert_close(states.pieces[i, 1 : len(tokens)], alone[0, 1:], rtol=0, atol=1e-6)


def test_a_word_is_spelt_once_however_often_it_stands_in_a_batch(toy_encoder: Path, toy_prepared: Path) -> None:
    data, encoder = Prepared.load(toy_prepared), _encoder(toy_encoder)
    batch = collate(data.train, torch.arange(8), data.specials)
    letters: list[int] = []
    encoder.chars.register_forward_hook(lambda _, __, vectors: letters.append(len(vectors)))
    encoder(batch)
    inner, starts = batch.pieces[batch.word_of_piece >= 0], encoder.get_buffer("starts")
    once, always = (int((starts[words + 1] - starts[words]).sum()) for words in (inner.unique(), inner))
    assert letters == [once] and once < always


def test_it_starts_as_the_paper_says(toy_encoder: Path) -> None:
    encoder = _encoder(toy_encoder, hidden=40)
    for table in (encoder.words, encoder.chars):
        bound = (3 / table.embedding_dim) ** 0.5
        assert 0.9 * bound < float(table.weight.detach().abs().max()) <= bound
    for name, parameter in (*encoder.reader.named_parameters(), *encoder.speller.named_parameters()):
        if "bias" in name:
            assert not parameter.any()
        else:
            bound = (6 / sum(parameter.shape)) ** 0.5
            assert 0.9 * bound < float(parameter.detach().abs().max()) <= bound
    assert (encoder.reader.dropout, encoder.speller.dropout) == (0.5, 0.25)
    default = Options(type="birnn", card="toy").build(toy_encoder)
    assert (default.width, default.front_width, default.subword_dropout) == (600, 100, 0.0)


def test_specials_alone_have_states(toy_encoder: Path) -> None:
    encoder = _encoder(toy_encoder)
    pieces = torch.tensor([[encoder.specials.cls, encoder.specials.sep, encoder.specials.pad]])
    states = encoder.hidden(pieces, torch.tensor([[True, True, False]]))
    assert states.shape == (1, 3, 10) and bool(states.isfinite().all())


def test_it_says_that_it_has_no_heads(toy_encoder: Path) -> None:
    encoder = _encoder(toy_encoder)
    with pytest.raises(EncoderError, match="E365: an encoder of type 'birnn' has no attention heads"):
        _ = encoder.heads
    with pytest.raises(EncoderError, match="E366: an encoder of type 'birnn' has no named places"):
        _ = encoder.places
    assert not Options.has_heads


def test_it_comes_back_from_disk_alone(toy_encoder: Path, toy_prepared: Path, tmp_path: Path) -> None:
    data, encoder = Prepared.load(toy_prepared), _encoder(toy_encoder)
    encoder.save(tmp_path, tokenizer=toy_encoder)
    again = mtlspec.load(tmp_path)
    assert isinstance(again, BiRnn) and json.loads((tmp_path / "encoder.json").read_bytes())["hidden"] == 5
    batch = collate(data.train, torch.arange(4), data.specials)
    assert torch.equal(again(batch).pieces, encoder(batch).pieces)


@pytest.mark.parametrize("content", [b"no weights", None], ids=["broken", "of another tokenizer"])
def test_words_that_do_not_fit_are_one_line(content: bytes | None, toy_encoder: Path, tmp_path: Path) -> None:
    from mtlspec.model.encoder.word_table import write_rows

    for name in ("tokenizer.json", "tokenizer_config.json"):
        (tmp_path / name).write_bytes((toy_encoder / name).read_bytes())
    if content is None:
        write_rows(tmp_path, torch.arange(3))
    else:
        (tmp_path / FILE).write_bytes(content)
    with pytest.raises(EncoderError, match=r"E97[23]: the words of the encoder") as caught:
        _encoder(tmp_path)
    assert FILE in str(caught.value)


def test_it_trains_resumes_to_the_bit_and_comes_back_from_disk(
    toy_encoder: Path, toy_prepared: Path, tmp_path: Path
) -> None:
    training.check(training.params(encoder=SMALL), tmp_path, toy_encoder, toy_prepared)
