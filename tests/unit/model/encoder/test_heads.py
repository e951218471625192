"""The head seam: gates, captures, biases and slices mean the same in every family."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import pytest
import torch
from tokenizers import Tokenizer, models

from mtlspec.errors import EncoderError
from mtlspec.model.encoder import families
from mtlspec.model.encoder.encoder import Encoder
from mtlspec.model.encoder.heads import Heads
from mtlspec.model.encoder.loading import build_model, save_model
from tests.unit.model.encoder import many, small

every_family = pytest.mark.parametrize("family", many.FAMILIES)


def heads_of(model) -> Heads:
    return Heads(model, model.config)


def hooks(model) -> int:
    return sum(len(m._forward_hooks) + len(m._forward_pre_hooks) for m in model.modules())


def test_every_family_file_is_in_the_table():
    files = {path.stem for path in Path(families.__file__).parent.glob("*.py")} - {"__init__", "family"}
    assert files == {module.__name__.rpartition(".")[2] for module in families._MODULES}


def test_an_unsupported_family_is_an_error_not_a_seam_that_does_nothing():
    import transformers as t

    model = build_model(t.MPNetConfig(**many._SIZES))
    with pytest.raises(EncoderError, match=r"E340.*'mpnet'.*supported: albert, bert"):
        heads_of(model)
    with pytest.raises(EncoderError, match=r"E341.*talking_head"):
        heads_of(many.build("deberta", talking_head=True))


def test_an_encoder_that_is_built_in_another_way_is_refused():
    model = many.build("bert")
    del model.encoder.layer[1].attention.self.key
    with pytest.raises(EncoderError, match=r"E342.*layer\.1\.attention has no key projection"):
        heads_of(model)


@every_family
def test_the_importance_of_a_gate_is_the_context_times_its_gradient(family):
    model = many.build(family).train()  # dropout is on: both come from one pass
    heads = heads_of(model)
    assert (heads.counts, heads.shape, heads.width) == ((4, 4, 4), (3, 4), 8)
    gates = torch.ones(3, *heads.shape, requires_grad=True)
    with heads.captured() as seen, heads.gated(gates):
        loss = many.states(model).square().sum()
    gradients = torch.autograd.grad(loss, [gates, *seen.contexts])
    expected = [(c * g).sum((1, 3)) for c, g in zip(seen.contexts, gradients[1:], strict=True)]
    torch.testing.assert_close(gradients[0], torch.stack(expected, 1), rtol=1e-4, atol=1e-4)
    assert gradients[0].abs().min() > 0


@every_family
def test_slices_name_the_parameters_of_a_head_and_of_no_other(family):
    model = many.build(family)
    known = dict(model.named_parameters())
    layer, head = 1, 2
    gates = torch.ones(3, 4)
    shared = [i for i in range(3) if heads_of(model).slices(i)[0].name == heads_of(model).slices(layer)[0].name]
    gates[shared, head] = 0
    with torch.no_grad():
        with heads_of(model).gated(gates), heads_of(model).captured(contexts=False) as before:
            closed = many.states(model)
        for role in ("output", "value", "query"):
            changed = copy.deepcopy(model)
            found = [part for part in heads_of(changed).slices(layer) if part.role == role]
            for part in found:
                assert known[part.name].shape == part.parameter.shape
                part.part(head).mul_(0 if role != "query" else -3)
            if role != "query":  # without its columns, or with zero values, a head says nothing
                torch.testing.assert_close(many.states(changed), closed, rtol=0, atol=1e-6)
                continue
            with heads_of(changed).gated(gates), heads_of(changed).captured(contexts=False) as after:
                many.states(changed)
            differs = [(a != b).any((0, 2, 3)) for a, b in zip(before.attention, after.attention, strict=True)]
            expected = torch.zeros(3, 4, dtype=torch.bool)
            expected[shared, head] = True
            assert torch.equal(torch.stack(differs), expected)


def test_contexts_nest_and_gates_multiply():
    model = many.build("bert")
    heads, gates = heads_of(model), torch.rand(3, 4)
    with torch.no_grad():
        with heads.gated(gates * gates):
            expected = many.states(model)
        with heads.gated(gates), heads.captured() as outer:
            with heads.gated(gates), heads.captured(attention=False) as inner:
                found = many.states(model)
            assert model.config._attn_implementation == "mtlspec"
        assert model.config._attn_implementation == "sdpa"
        with heads.captured() as plain:
            many.states(model)
    torch.testing.assert_close(found, expected)
    torch.testing.assert_close(outer.contexts[0], plain.contexts[0])  # captured before gates, wherever it stands
    assert all(torch.equal(a, b) for a, b in zip(outer.contexts, inner.contexts, strict=True))
    with pytest.raises(EncoderError, match="E343"):
        _ = inner.attention
    assert hooks(model) == 0


@pytest.mark.parametrize("family", ["albert", "gpt2", "deberta"])
def test_an_error_leaves_no_hook_and_the_next_pass_is_right(family):
    model = many.build(family)
    heads, before = heads_of(model), many.states(many.build(family))
    implementation = model.config._attn_implementation
    with (
        pytest.raises(EncoderError, match=r"E345.*2 sentences, but.* 3"),
        heads.captured(),
        heads.gated(torch.ones(2, 3, 4)),
    ):
        many.states(model)
    assert (hooks(model), model.config._attn_implementation) == (0, implementation)
    assert torch.equal(many.states(model), before)


def test_wrong_shapes_are_errors():
    model = many.build("bert")
    heads = heads_of(model)
    for gates in (torch.ones(4, 3), torch.ones(3), torch.ones(3, 5)):
        with pytest.raises(EncoderError, match="E346"), heads.gated(gates):
            pass
    with pytest.raises(EncoderError, match="E347"), heads.biased(torch.zeros(2, 1, 4, 10, 10)):
        pass
    with pytest.raises(EncoderError, match="E344"), heads.biased(torch.zeros(9, 9)):
        many.states(model)
    assert hooks(model) == 0


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -float("inf")])
def test_gates_that_are_no_numbers_are_refused_and_change_nothing(bad):
    model = many.build("bert")
    heads, before = heads_of(model), many.states(model)
    gates = torch.ones(3, 4)
    gates[1, 2] = bad
    with pytest.raises(EncoderError, match=r"E357: 1 of the 12 gates"), heads.gated(gates):
        pass
    with pytest.raises(EncoderError, match=r"E357: 1 of the 12 gates"):
        heads.remove(gates)
    assert hooks(model) == 0 and heads.counts == (4, 4, 4)
    assert torch.equal(many.states(model), before)


def test_lists_are_refused_with_what_to_do():
    heads = heads_of(many.build("bert"))
    for context in (heads.gated([[1.0] * 4] * 3), heads.biased([[0.0]])):
        with pytest.raises(EncoderError, match=r"E356.*must be a tensor, not of type list; torch\.as_tensor"), context:
            pass
    with pytest.raises(EncoderError, match="E356"):
        heads.remove([[1.0] * 4] * 3)


def test_a_negative_gate_means_the_same_folded_in_as_open():
    model = many.build("bert")
    heads, gates = heads_of(model), torch.ones(3, 4)
    gates[1, 2] = -0.5
    gates[0, 0] = 0
    with heads.gated(gates):
        expected = many.states(model)
    heads.remove(gates)
    torch.testing.assert_close(many.states(model), expected, rtol=0, atol=1e-5)


def test_two_observers_of_one_model_are_an_error():
    model = many.build("bert")
    with heads_of(model).captured() as seen:
        with pytest.raises(EncoderError, match="E348"), heads_of(model).captured():
            pass
        many.states(model)
    assert len(seen.attention) == 3
    assert (hooks(model), model.config._attn_implementation) == (0, "sdpa")


@every_family
def test_a_bias_can_forbid_a_key_and_is_differentiable(family):
    model = many.build(family)
    bias = torch.zeros(3, 1, 4, 1, 10)
    bias[2, 0, 1, 0, 0] = -100
    bias.requires_grad_(True)
    heads = heads_of(model)
    with heads.biased(bias), heads.captured() as seen:
        loss = many.states(model).square().sum()
    attention = torch.stack(seen.attention, 1)  # [B, L, H, S, S]
    forbidden = attention[:, 2, 1, 1:, 0]  # without the first sub-token, which may see only itself
    assert forbidden[many.batch()[1][:, 1:]].max() < 1e-30
    assert attention[:, 2, 0, 1, 0].min() > 0
    (gradient,) = torch.autograd.grad(loss, bias)
    assert gradient.isfinite().all()
    assert gradient[0].abs().max() > 0


@every_family
def test_a_function_gives_the_bias_of_each_layer(family):
    model = many.build(family)
    bias = torch.randn(3, 3, 1, 10, 10, generator=torch.Generator().manual_seed(2))
    asked = []

    def function(layer, length):
        asked.append((layer, length))
        return bias[layer]

    heads = heads_of(model)
    with torch.no_grad():
        with heads.biased(bias):
            wanted = many.states(model)
        with heads.biased(function):
            assert torch.equal(many.states(model), wanted)
    assert asked == [(0, 10), (1, 10), (2, 10)]
    with pytest.raises(EncoderError, match=r"E344.*\[3, 1, 9, 9\]"), heads.biased(lambda *_: bias[0, ..., :9, :9]):
        many.states(model)
    assert hooks(model) == 0


@pytest.fixture(scope="module")
def encoder(tmp_path_factory) -> Encoder:
    return Encoder.load(small.write(tmp_path_factory.mktemp("bert")), max_pieces=12)


def test_gpt2_is_an_encoder_like_any_other(tmp_path):
    model = many.build("gpt2")
    save_model(model, model.config, tmp_path)
    Tokenizer(models.WordPiece({"w": 0, "[UNK]": 1}, unk_token="[UNK]")).save(str(tmp_path / "tokenizer.json"))
    roles = {f"{role}_token": "[UNK]" for role in ("bos", "eos", "unk")}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(roles))
    encoder, batch = Encoder.load(tmp_path), small.batch(7, 4)
    with torch.no_grad():
        whole = encoder(batch).words
        with encoder.heads.gated(torch.ones(3, 4)):
            torch.testing.assert_close(encoder(batch).words, whole)
        with encoder.heads.gated(torch.zeros(3, 4)):
            assert not torch.allclose(encoder(batch).words, whole)


def test_windows_of_a_long_sentence_take_its_gates(encoder):
    batch = small.batch(30, 5, 17)
    gates = torch.rand(3, *encoder.heads.shape, generator=torch.Generator().manual_seed(0))
    with encoder.heads.gated(gates):
        together = encoder.hidden(batch.pieces, batch.piece_mask)
    for row in range(3):
        length = int(batch.piece_mask[row].sum())
        with encoder.heads.gated(gates[row]):
            alone = encoder.hidden(batch.pieces[row : row + 1, :length], batch.piece_mask[row : row + 1, :length])
        torch.testing.assert_close(together[row, :length], alone[0])


def test_a_function_of_the_bias_is_asked_for_the_rows_of_windows(encoder):
    batch = small.batch(30, 5)
    own = torch.tensor([0.0, 1.0])

    def function(layer, length):
        rows = encoder.per_row(own)
        assert length == 12 and len(rows) > 2 and len(encoder.row_mask) == len(rows)
        return rows.view(-1, 1, 1, 1) * torch.arange(12.0)

    with torch.no_grad():
        plain = encoder.hidden(batch.pieces, batch.piece_mask)
        with encoder.heads.biased(function):
            found = encoder.hidden(batch.pieces, batch.piece_mask)
    torch.testing.assert_close(found[0], plain[0])
    assert not torch.allclose(found[1, :7], plain[1, :7], atol=1e-3)


def test_captures_of_windows_are_those_of_sentences(encoder):
    batch = small.batch(30, 5)
    with torch.no_grad(), encoder.heads.captured() as seen:
        encoder.hidden(batch.pieces, batch.piece_mask)
    shapes = {(tuple(a.shape), tuple(c.shape)) for a, c in zip(seen.attention, seen.contexts, strict=True)}
    assert shapes == {((2, 4, 32, 32), (2, 32, 4, 8))}
    attention = seen.attention[0]
    torch.testing.assert_close(attention.sum(-1), torch.ones(2, 4, 32))
    assert (attention[0, :, 15] > 0).sum(-1).unique().tolist() == [12]  # a window, its [CLS] and [SEP] included
    assert (attention[0, :, 15, [0, 31]] > 0).all()
    assert not attention[1, :, :, 7:].any()
    with torch.no_grad(), encoder.heads.captured() as short:
        encoder.hidden(batch.pieces[1:, :7], batch.piece_mask[1:, :7])
    torch.testing.assert_close(attention[1:, :, :7, :7], short.attention[0])
    torch.testing.assert_close(seen.contexts[1][1:, :7], short.contexts[1])


def test_a_bias_of_sentences_is_cut_with_them(encoder):
    batch = small.batch(30, 5)
    bias = torch.zeros(1, 2, 1, 32, 32)
    bias[0, 0, 0, :, 20] = -100  # nobody in the first sentence looks at its sub-token 20
    with torch.no_grad(), encoder.heads.biased(bias), encoder.heads.captured() as seen:
        encoder.hidden(batch.pieces, batch.piece_mask)
    assert seen.attention[1][0, :, :, 20].max() < 1e-30
    assert seen.attention[1][0, :, 20, 19].min() > 0
    assert seen.attention[1][1, :, :7, :7].min() > 0
