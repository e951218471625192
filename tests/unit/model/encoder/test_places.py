"""Places in every family: what is put there is called once a layer, changes the output, and leaves no trace."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from mtlspec.errors import EncoderError
from mtlspec.model.encoder.encoder import Encoder
from mtlspec.model.encoder.places import Place, Places
from tests.unit.model.encoder import many, small

PLACES: dict[str, Callable[[Places, int], Place]] = {
    "layer": lambda places, layer: places.layers[layer],
    "attention norm": lambda places, layer: places.norms(layer)[0],
    "output norm": lambda places, layer: places.norms(layer)[1],
    "attention output": lambda places, layer: places.attention_output(layer),
    "feed-forward": lambda places, layer: places.feed_forward(layer),
}


@pytest.fixture(scope="module", params=many.FAMILIES)
def model(request: pytest.FixtureRequest) -> Any:
    return many.build(request.param)


@pytest.fixture
def places(model: Any) -> Places:
    return Places(model, model.config)


@pytest.mark.parametrize("name", PLACES)
def test_a_function_is_called_once_for_every_layer_in_their_order(model: Any, places: Places, name: str) -> None:
    calls: list[int] = []
    shapes: set[torch.Size] = set()

    def note(layer: int) -> Callable[[Tensor], Tensor]:
        def function(output: Tensor) -> Tensor:
            calls.append(layer)
            shapes.add(output.shape)
            return output

        return function

    plain = many.states(model)
    attached = [places.after(PLACES[name](places, layer), note(layer)) for layer in reversed(range(many.LAYERS))]
    for _ in range(2):
        calls.clear()
        assert torch.equal(many.states(model), plain), "the identity changes no bit"
        assert calls == list(range(many.LAYERS))
    assert shapes == {torch.Size((3, 10, 32))}
    for one in attached:
        one.remove()
    assert not any(m._forward_hooks or m._forward_pre_hooks for m in model.modules())


@pytest.mark.parametrize("name", PLACES)
def test_every_layer_has_an_effect_of_its_own(model: Any, places: Places, name: str) -> None:
    plain = many.states(model)
    found = []
    for layer in range(many.LAYERS):
        with places.after(PLACES[name](places, layer), lambda output: output + torch.arange(32.0).sin()):
            found.append(many.states(model))
        assert torch.equal(many.states(model), plain)
    for one in (plain, *found):
        assert sum(torch.allclose(one, other, atol=1e-6) for other in (plain, *found)) == 1, "all of them differ"


def test_the_last_layer_and_the_embeddings_are_where_they_should_be(model: Any, places: Places) -> None:
    calls: list[torch.Size] = []

    def zero(output: Tensor) -> Tensor:
        calls.append(output.shape)
        return torch.zeros_like(output)

    pieces, mask = many.batch()
    with places.after(places.embeddings, zero):
        first = [model(input_ids=p, attention_mask=mask).last_hidden_state[mask] for p in (pieces, pieces.flip(1))]
    assert calls == [torch.Size((3, 10, 32))] * 2
    assert torch.equal(*first), "nothing of the sub-tokens gets past them"
    with places.after(places.layers[-1], torch.zeros_like):
        last = many.states(model)
    assert torch.allclose(last, last[0].expand_as(last)), "nothing but norms without input follows"


def test_norms_are_norms(model: Any, places: Places) -> None:
    for layer in range(many.LAYERS):
        for place in places.norms(layer):
            if isinstance(place.module, nn.Identity):  # ModernBERT's first layer: the embeddings have their own norm
                assert model.config.model_type == "modernbert" and layer == 0
                continue
            assert "norm" in type(place.module).__name__.lower()
            seen: list[Tensor] = []
            weight, bias = place.module.weight, getattr(place.module, "bias", None)
            with places.after(place, lambda output, seen=seen: seen.append(output) or output):  # type: ignore[misc]
                many.states(model)
            plain = (seen[0] - (0 if bias is None else bias)) / weight
            assert plain.mean(-1).abs().max() < 1e-3
            torch.testing.assert_close(plain.std(-1, correction=0), torch.ones(3, 10), atol=2e-2, rtol=0)


@pytest.mark.parametrize("which", [0, 1])
def test_a_function_around_a_norm_sees_what_the_norm_read(model: Any, places: Places, which: int) -> None:
    """Norms made anew of their input leave the model's output as it is, in every layer."""
    plain = many.states(model)
    attached = []
    for layer in range(many.LAYERS):
        place = places.norms(layer)[which]
        if isinstance(place.module, nn.Identity):
            continue

        def again(read: Tensor, output: Tensor, norm: Any = place.module) -> Tensor:
            eps = norm.eps if hasattr(norm, "eps") else norm.variance_epsilon
            made = nn.functional.layer_norm(read, (32,), norm.weight, getattr(norm, "bias", None), eps)
            torch.testing.assert_close(made, output, rtol=0, atol=1e-5)
            return made + 0.0

        attached.append(places.around(place, again))
    assert len(attached) >= many.LAYERS - 1
    torch.testing.assert_close(many.states(model), plain, rtol=0, atol=1e-4)
    for one in attached:
        one.remove()


def test_only_albert_shares_its_layers(model: Any, places: Places) -> None:
    assert places.shared == (model.config.model_type == "albert")
    assert places.pre_norm == (model.config.model_type in ("gpt2", "modernbert"))
    with pytest.raises(EncoderError, match="E368: there is no layer 3"):
        places.feed_forward(3)


def test_values_of_examples_reach_the_windows_they_were_cut_into(tmp_path: Any) -> None:
    encoder = Encoder.load(small.write(tmp_path), max_pieces=12)
    batch = small.batch(20, 4)
    scale = torch.tensor([1.0, 3.0]).view(-1, 1, 1)
    rows: list[int] = []

    def scaled(output: Tensor) -> Tensor:
        rows.append(len(output))
        assert encoder.row_mask.shape == output.shape[:2] and encoder.row_mask[:, :3].all()
        return output * encoder.per_row(scale)

    with encoder.places.after(encoder.places.feed_forward(0), scaled):
        together = encoder(batch).pieces
    assert rows[0] > 2
    plain = encoder(batch).pieces
    torch.testing.assert_close(together[0], plain[0])
    assert not torch.allclose(together[1][batch.piece_mask[1]], plain[1][batch.piece_mask[1]])
    assert encoder.per_row(scale) is scale
    with pytest.raises(EncoderError, match=r"E985: .* no rows in flight"):
        _ = encoder.row_mask
