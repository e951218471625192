"""Adapters and PALs against their definitions, what of them learns, and their published numbers of parameters."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from mtlspec.errors import EncoderError
from mtlspec.kinds import options_class
from mtlspec.spec.families import SHARING
from tests.unit.sharing import conditioned
from tests.unit.sharing.conditioned import bert, count


def _parameters(sharing: Any, name: str) -> tuple[Tensor, Tensor]:
    """Weight and bias that task 1 has of a layer."""
    return sharing.module.get_parameter(f"{name}.weight")[1], sharing.module.get_parameter(f"{name}.bias")[1]


def _linear(sharing: Any, name: str, x: Tensor) -> Tensor:
    weight, bias = _parameters(sharing, name)
    return x @ weight + bias


@torch.no_grad()
@pytest.mark.parametrize("activation", ["gelu", "relu"])
def test_an_adapter_follows_each_block_and_norms_are_the_tasks(activation: str) -> None:
    sharing = conditioned.strategy("adapters", size=4, activation=activation)
    conditioned.shake(sharing)
    batch = conditioned.batch(1, 1, 1)
    layer: Any = sharing.encoder.model.encoder.layer[0]
    seen: dict[str, tuple[Tensor, Tensor]] = {}
    handles = [
        module.register_forward_hook(lambda _, read, made, name=name: seen.update({name: (read[0], made)}))
        for name, module in (("dense", layer.output.dense), ("norm", layer.output.LayerNorm))
    ]
    places = sharing.encoder.places
    plain: list[Tensor] = []
    with places.after(places.norms(0)[0], lambda states: (plain.append(states), states)[1]):
        sharing.encode(batch)
    for handle in handles:
        handle.remove()
    block = nn.functional.linear(seen["dense"][0], layer.output.dense.weight, layer.output.dense.bias)
    inner = getattr(nn.functional, activation)(_linear(sharing, "adapters.0_output.down", block))
    adapted = block + _linear(sharing, "adapters.0_output.up", inner)
    torch.testing.assert_close(seen["norm"][0], adapted + plain[0], rtol=0, atol=1e-5)
    weight, bias = _parameters(sharing, "norms.0_output")
    own = layer.output.LayerNorm
    wanted = nn.functional.layer_norm(adapted + plain[0], (32,), own.weight + weight, own.bias + bias, own.eps)
    torch.testing.assert_close(seen["norm"][1], wanted, rtol=0, atol=1e-5)


@pytest.mark.parametrize("trained", [False, True])
def test_only_what_belongs_to_tasks_learns_unless_the_encoder_may(trained: bool) -> None:
    sharing = conditioned.strategy("adapters", size=4, encoder="trained" if trained else "frozen")
    conditioned.pieces(sharing, conditioned.batch(0, 1, 1)).square().sum().backward()
    assert any(p.grad is not None for p in sharing.encoder.parameters()) == trained
    for name, parameter in sharing.module.named_parameters():
        touched = [bool(part.any()) for part in parameter.grad]
        assert touched == [True, True, False], name  # nobody asked for the third task


@torch.no_grad()
@pytest.mark.parametrize("family", ["bert", "gpt2"])
def test_a_pal_is_attention_between_projections_that_all_layers_share(family: str) -> None:
    sharing = conditioned.strategy("pals", conditioned.encoder(family), size=6, heads=2)
    conditioned.shake(sharing, 0.3)
    batch = conditioned.batch(1, 1, 1)
    places = sharing.encoder.places
    read: list[Tensor] = []
    made: list[Tensor] = []
    before = places.after(places.layers[0], lambda states: (read.append(states), states)[1])
    with before, places.after(places.feed_forward(1), lambda states: (made.append(states), states)[1]):
        sharing.encode(batch)
    block = places.feed_forward(1).module
    inputs: list[Tensor] = []
    handle = block.register_forward_pre_hook(lambda _, given: inputs.append(given[0]))
    sharing.encode(batch)
    handle.remove()
    small = _linear(sharing, "encode", read[0])
    queries, keys, values = _linear(sharing, "attention.1.inputs", small).view(3, -1, 3, 2, 3).permute(2, 0, 3, 1, 4)
    scores = queries @ keys.transpose(2, 3) / 3**0.5
    hidden = ~batch.piece_mask[:, None, None, :]
    if family == "gpt2":
        hidden = hidden | torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
    contexts = scores.masked_fill(hidden, -torch.inf).softmax(-1) @ values
    added = nn.functional.gelu(_linear(sharing, "decode", contexts.transpose(1, 2).flatten(2)))
    torch.testing.assert_close(made[0] - block.forward(inputs[0]), added, rtol=0, atol=1e-5)


def test_pals_learn_with_the_encoder_and_heads_must_fit() -> None:
    sharing = conditioned.strategy("pals", size=6, heads=2, start="released")
    conditioned.pieces(sharing, conditioned.batch(0, 1, 2)).square().sum().backward()
    assert all(p.grad is not None and p.grad.any() for p in sharing.module.parameters())
    assert any(p.grad is not None for p in sharing.encoder.parameters())
    with pytest.raises(EncoderError, match="E989: `size: 10` is not a multiple of `heads: 4`"):
        conditioned.strategy("pals", size=10, heads=4)
    assert options_class(SHARING, "pals").model_validate({"type": "pals", "size": 10}).problem(started=False)  # type: ignore[attr-defined]


def test_published_numbers_of_parameters() -> None:
    """PALs of eight tasks make BERT-base 1.13 times as large; adapters of 64 for nine make BERT-large 1.2 times."""
    with torch.device("meta"):
        base, large = bert(), bert(large=True)
        pals = conditioned.strategy("pals", base).module
        adapters = conditioned.strategy("adapters", large).module
    assert count(pals) / 3 == 1_819_836
    assert 1 + 8 / 3 * count(pals) / count(base) == pytest.approx(1.135, abs=1e-3)
    assert 1 + 9 / 3 * count(adapters) / count(large) == pytest.approx(1.174, abs=1e-3)
