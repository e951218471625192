"""The encoder: families, pooling, sub-word dropout, sliding windows, safe loading."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from mtlspec.data.length_limit import limit_of
from mtlspec.errors import EncoderError
from mtlspec.model.encoder.encoder import Encoder, pool_words
from mtlspec.model.encoder.windows import cut, window_owners, window_starts
from tests.unit.model.encoder import small


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    return small.write(tmp_path_factory.mktemp("bert"))


@pytest.mark.parametrize("family", ["bert", "roberta", "distilbert", "electra"])
def test_a_family_loads_without_a_sound_and_survives_a_checkpoint(family, tmp_path, capfd):
    encoder = Encoder.load(small.write(tmp_path / "a", family))
    assert not encoder.training
    assert (encoder.width, encoder.specials) == (32, small.SPECIALS)
    states = encoder(small.batch(4, 7))
    assert states.words.shape == (2, 4, 32)
    assert states.cls.shape == states.sep.shape == (2, 32)
    states.words.sum().backward()
    unused = [name for name, p in encoder.named_parameters() if p.grad is None]
    assert unused == []
    encoder.save_config(tmp_path / "b")
    again = Encoder.empty(tmp_path / "b")
    again.load_state_dict(encoder.state_dict())
    assert torch.equal(again(small.batch(4, 7)).words, states.words)
    assert capfd.readouterr() == ("", "")


def test_saved_settings_say_nothing_about_this_machine(directory, tmp_path):
    Encoder.load(directory, 0.2, 16).save_config(tmp_path)
    assert str(directory) not in (tmp_path / "config.json").read_text()
    assert json.loads((tmp_path / "encoder.json").read_bytes())["max_pieces"] == 16
    assert Encoder.empty(tmp_path).subword_dropout == 0.2


def test_a_word_is_the_mean_of_its_sub_tokens(directory):
    encoder, batch = Encoder.load(directory), small.batch(3, 7)
    states = encoder(batch)
    hidden = encoder.model(input_ids=batch.pieces, attention_mask=batch.piece_mask).last_hidden_state
    for row, length in enumerate((3, 7)):
        torch.testing.assert_close(states.cls[row], hidden[row, 0])
        torch.testing.assert_close(states.sep[row], hidden[row, length + 1])
        for word in range(states.words.shape[1]):
            mine = hidden[row][batch.word_of_piece[row] == word]
            expected = mine.mean(0) if len(mine) else torch.zeros(32)
            torch.testing.assert_close(states.words[row, word], expected)


def test_pooling_has_exact_gradients():
    hidden = torch.randn(2, 5, 3, dtype=torch.float64, requires_grad=True)
    owner = torch.tensor([[-1, 0, 0, 1, -1], [-1, 0, -1, -1, -1]])
    assert torch.autograd.gradcheck(lambda h: pool_words(h, owner, 2), (hidden,))


def test_sub_word_dropout_masks_the_asked_share_and_no_special_token(directory):
    encoder, batch = Encoder.load(directory, subword_dropout=0.3), small.batch(*[20] * 200)
    torch.manual_seed(1)
    dropped = encoder.drop_subwords(batch)
    changed = dropped != batch.pieces
    inner = batch.word_of_piece >= 0
    assert not changed[~inner].any()
    assert (dropped[changed] == small.SPECIALS.mask).all()
    assert changed[inner].float().mean().item() == pytest.approx(0.3, abs=0.03)


def test_sub_word_dropout_is_for_training_and_follows_the_global_seed(directory):
    encoder, batch = Encoder.load(directory, subword_dropout=0.5), small.batch(9, 9)
    assert torch.equal(encoder(batch).words, encoder(batch).words)
    encoder.train()
    for module in encoder.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0
    runs = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        runs.append(encoder(batch).words)
    assert torch.equal(runs[0], runs[1])
    assert not torch.equal(runs[0], runs[2])


@given(st.integers(0, 200), st.integers(1, 40))
def test_windows_cover_every_piece_and_keep_away_from_edges(length, size):
    starts, owners = window_starts(length, size), window_owners(length, size)
    assert len(owners) == length
    assert starts[-1] + size >= length
    assert starts == sorted(set(starts))
    for piece, owner in enumerate(owners):
        inside = piece - starts[owner]
        assert 0 <= inside < size
        if length > size:
            left = inside + 1 if owner else size
            right = size - inside if owner < len(starts) - 1 else size
            assert min(left, right) >= size // 4


def test_cutting_leaves_short_sentences_whole_and_wraps_every_window(directory):
    batch = small.batch(5, 30)
    windows = cut(batch.pieces, batch.piece_mask, 12, small.SPECIALS)
    assert windows.pieces.shape[1] == 12
    assert torch.equal(windows.pieces[0, :7], batch.pieces[0, :7])
    assert (windows.pieces[:, 0] == small.SPECIALS.cls).all()
    last = windows.mask.sum(1, keepdim=True) - 1
    assert (windows.pieces.gather(1, last) == small.SPECIALS.sep).all()
    ids = windows.stitch(windows.pieces.unsqueeze(2).double()).squeeze(2)
    assert torch.equal(ids[batch.piece_mask].long(), batch.pieces[batch.piece_mask])


def bare(*lengths):
    """Texts as GPT has them: the sub-tokens of small.batch without its specials."""
    batch, rows = small.batch(*lengths), torch.arange(max(lengths)) < torch.tensor(lengths).unsqueeze(1)
    pieces = batch.pieces[:, 1:-1].masked_fill(~rows, small.SPECIALS.pad)
    return replace(batch, pieces=pieces, piece_mask=rows, word_of_piece=batch.word_of_piece[:, 1:-1])


def test_windows_of_texts_without_specials_repeat_nothing():
    batch = bare(5, 30, 12)
    windows = cut(batch.pieces, batch.piece_mask, 12, small.SPECIALS)
    assert windows.pieces.shape == (1 + 4 + 1, 12)
    assert torch.equal(windows.pieces[0, :5], batch.pieces[0, :5])
    assert windows.mask.sum(1).tolist() == [5, 12, 12, 12, 12, 12]
    assert windows.places[1:5].tolist() == [list(range(start, start + 12)) for start in (0, 6, 12, 18)]
    ids = windows.stitch(windows.pieces.unsqueeze(2).double()).squeeze(2)
    assert torch.equal(ids[batch.piece_mask].long(), batch.pieces[batch.piece_mask])


def test_windows_of_mixed_rows_repeat_specials_where_there_are_some():
    long = small.batch(30)
    pieces = torch.cat([long.pieces, torch.full_like(long.pieces, 7)])
    windows = cut(pieces, torch.ones_like(pieces, dtype=torch.bool), 12, small.SPECIALS)
    with_specials = windows.pieces[windows.rows == 0]
    assert (with_specials[:, 0] == small.SPECIALS.cls).all() and (with_specials[:, -1] == small.SPECIALS.sep).all()
    assert len(with_specials) == 5 and int((windows.rows == 1).sum()) == 5
    ids = windows.stitch(windows.pieces.unsqueeze(2).double()).squeeze(2)
    assert torch.equal(ids.long(), pieces)


def test_an_encoder_says_in_which_direction_it_reads(tmp_path):
    """One that we cannot look into can be read as well."""
    for family, causal in (("gpt2", True), ("bert", False), ("mpnet", False)):
        encoder = Encoder.load(small.write(tmp_path / family, family))
        assert encoder.causal is causal
        states = encoder(small.batch(4, 40))
        assert states.causal is causal
        assert states.select(torch.tensor([1]), 3, 7).causal is causal


def test_sub_tokens_of_a_causal_encoder_know_only_what_stands_before(tmp_path):
    encoder = Encoder.load(small.write(tmp_path, "gpt2"))
    batch = bare(9)
    other = replace(batch, pieces=batch.pieces.clone())
    other.pieces[0, 8] = 5 if int(other.pieces[0, 8]) != 5 else 6
    one, two = encoder(batch), encoder(other)
    torch.testing.assert_close(one.pieces[:, :8], two.pieces[:, :8])
    assert not torch.equal(one.sep, two.sep)


def test_a_window_changes_nothing_for_short_sentences(directory):
    plain, windowed = Encoder.load(directory), Encoder.load(directory, max_pieces=12)
    alone, beside = plain(small.batch(6)), windowed(small.batch(6, 40))
    torch.testing.assert_close(beside.words[0, :3], alone.words[0, :3])
    torch.testing.assert_close(beside.sep[0], alone.sep[0])


def test_a_sentence_over_the_limit_is_read_to_its_end(directory):
    encoder = Encoder.load(directory)
    assert encoder.max_pieces == 24
    long = small.batch(100)
    states = encoder(long)
    other = small.batch(100)
    other.pieces[0, 100] = 5 if int(other.pieces[0, 100]) != 5 else 6
    assert states.words.shape[1] == int(long.word_mask.sum())
    assert not torch.equal(encoder(other).words[0, -1], states.words[0, -1])
    states.words.sum().backward()


@pytest.mark.parametrize("family", ["bert", "gpt2"])
def test_the_ends_of_a_long_text_are_the_mean_over_its_windows(family, tmp_path):
    """So that a label of a whole text depends on all of it, whatever is pooled."""
    encoder = Encoder.load(small.write(tmp_path, family), max_pieces=12)
    batch = small.batch(5, 30, 20)
    states = encoder(batch)
    windows = cut(batch.pieces, batch.piece_mask, 12, small.SPECIALS)
    read = [
        encoder.hidden(p[m].unsqueeze(0), m[m].unsqueeze(0))[0]
        for p, m in zip(windows.pieces, windows.mask, strict=True)
    ]
    for row in range(3):
        own = [window for window, number in zip(read, windows.rows.tolist(), strict=True) if number == row]
        torch.testing.assert_close(states.ends.first[row], torch.stack([w[0] for w in own]).mean(0), rtol=0, atol=1e-5)
        torch.testing.assert_close(states.ends.last[row], torch.stack([w[-1] for w in own]).mean(0), rtol=0, atol=1e-5)
    torch.testing.assert_close(states.ends.first[0], states.cls[0])
    for end, also in zip(states.select(torch.tensor([2, 0]), 4, 9).ends, states.ends, strict=True):
        assert torch.equal(end, also[[2, 0]])
    short = encoder(small.batch(5, 6))
    assert short.windows is None and short.ends.first is short.cls and short.ends.last is short.sep
    other = replace(batch, pieces=batch.pieces.clone())
    for place in (2, 16, 29):  # in its first window, in its middle, in its last
        other.pieces[1] = batch.pieces[1]
        other.pieces[1, place] = 5 if int(batch.pieces[1, place]) != 5 else 6
        changed = encoder(other).ends
        assert not torch.allclose(changed.last[1], states.ends.last[1], atol=1e-5)
        assert family == "gpt2" or not torch.allclose(changed.first[1], states.ends.first[1], atol=1e-5)


def test_the_limit_of_families_that_we_do_not_know_is_the_same_before_and_after_loading(tmp_path):
    for family in ("mpnet", "roberta", "bert"):
        directory = small.write(tmp_path / family, family)
        assert limit_of(directory) == Encoder.load(directory).max_pieces, family


def test_a_limit_above_the_encoders_is_refused(directory):
    with pytest.raises(EncoderError, match="max_pieces is 25, but the encoder reads at most 24") as error:
        Encoder.load(directory, max_pieces=25)
    assert error.value.code == "E309"


def test_pickled_weights_are_never_read(directory, tmp_path):
    for path in directory.iterdir():
        if path.name != "model.safetensors":
            (tmp_path / path.name).write_bytes(path.read_bytes())
    with pytest.raises(EncoderError, match=r"E302: there is no model\.safetensors"):
        Encoder.load(tmp_path)
    (tmp_path / "pytorch_model.bin").write_bytes(b"\x80\x04.")
    with pytest.raises(EncoderError, match=r"E301: the weights are only there as pytorch_model\.bin"):
        Encoder.load(tmp_path)


@pytest.mark.parametrize(
    ("name", "content", "code"),
    [
        ("model.safetensors", b"nonsense", "E306"),
        ("config.json", b"{}", "E304"),
        ("config.json", b"{", "E311"),
        ("config.json", b'{"model_type": "t5"}', "E305"),
        ("config.json", json.dumps(small.SIZES | {"model_type": "bert", "num_hidden_layers": 3}).encode(), "E307"),
    ],
)
def test_broken_directories_are_one_clear_line(tmp_path, name, content, code):
    small.write(tmp_path)
    (tmp_path / name).write_bytes(content)
    with pytest.raises(EncoderError) as error:
        Encoder.load(tmp_path)
    assert error.value.code == code
    assert "\n" not in str(error.value)


def test_a_missing_config_is_named(tmp_path):
    with pytest.raises(EncoderError, match=r"E303: there is no config\.json"):
        Encoder.load(tmp_path)
