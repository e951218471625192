"""CA-MTL's modules against their definitions, on BERT; what learns, and how many parameters there are."""

from __future__ import annotations

from contextlib import nullcontext
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from mtlspec.data.corpora import Corpora
from mtlspec.data.prepared import Prepared
from mtlspec.errors import EncoderError
from mtlspec.kinds import options_class
from mtlspec.model.encoder.encoder import Encoder
from mtlspec.model.encoder.kinds.transformer import Options as TransformerOptions
from mtlspec.model.encoder.places import Place
from mtlspec.model.encoder.transformer import Transformer
from mtlspec.model.multitask import build_model
from mtlspec.sharing._task_norm import norm_at
from mtlspec.sharing.ca_mtl import CaMtl, Options
from mtlspec.spec.families import TASKS
from mtlspec.spec.models import RunOptions, TrainOptions
from mtlspec.train.loop import Meter, take_update
from mtlspec.train.state import TrainState
from tests import toy
from tests.unit.model.encoder import small
from tests.unit.sharing import conditioned
from tests.unit.sharing.conditioned import bert, count

OFF: dict[str, Any] = {"attention": False, "alignment": False, "norm": False, "bottleneck": "none"}


def _only(**on: Any) -> CaMtl:
    """A strategy with some modules only, its parameters shaken."""
    sharing: CaMtl = conditioned.strategy("ca_mtl", **{**OFF, **on})
    conditioned.shake(sharing)
    return sharing


def _film(sharing: CaMtl, name: str, task: int) -> tuple[Tensor, Tensor]:
    """1 + gamma and beta that a module generates for a task."""
    film: Any = sharing.module.get_submodule(f"{name}.film")
    found: tuple[Tensor, Tensor] = film(sharing.module.get_parameter("embedding")[task])
    return found


def _states(sharing: CaMtl) -> tuple[Tensor, ...]:
    """What BERT's embeddings and layers give without the strategy, [3, S, D] each."""
    batch = conditioned.batch(1, 1, 1)
    encoder: Any = sharing.encoder
    found = encoder.model(input_ids=batch.pieces, attention_mask=batch.piece_mask, output_hidden_states=True)
    states: tuple[Tensor, ...] = found.hidden_states
    return states


@torch.no_grad()
@pytest.mark.parametrize("form", ["released", "paper"])
def test_conditional_norms_are_norms_of_the_upper_half_with_other_weights(form: str) -> None:
    sharing = _only(norm=True, norm_form=form)
    batch = conditioned.batch(1, 1, 1)
    encoder: Any = deepcopy(sharing.encoder.model)  # three layers: the upper half is the last one
    assert sorted(dict(sharing.module.get_submodule("norms").named_children())) == ["2_attention", "2_output"]
    layer = encoder.encoder.layer[2]
    for name, norm in (("2_attention", layer.attention.output.LayerNorm), ("2_output", layer.output.LayerNorm)):
        for hook in list(norm._forward_hooks):
            del norm._forward_hooks[hook]
        factor, summand = _film(sharing, f"norms.{name}", 1)
        if form == "released":
            norm.weight.copy_(factor * norm.weight + summand)
        else:
            norm.weight.copy_(norm.weight * factor + norm.bias)
            norm.bias.copy_(norm.bias + summand)
    wanted = encoder(input_ids=batch.pieces, attention_mask=batch.piece_mask).last_hidden_state
    found = sharing.encode(batch).pieces
    torch.testing.assert_close(found[batch.piece_mask], wanted[batch.piece_mask], rtol=0, atol=1e-5)


@torch.no_grad()
@pytest.mark.parametrize("matrix", [False, True])
def test_conditional_alignment_changes_what_the_first_layer_reads(matrix: bool) -> None:
    sharing = _only(alignment=True, matrix=matrix)
    embedded = _states(sharing)[0]
    factor, summand = _film(sharing, "alignment", 1)
    if matrix:
        stored = sharing.module.get_parameter("alignment.matrix.weight").T  # as it stands to the right of a row
        assert not torch.equal(stored, torch.eye(32)), "shaken"
        wanted = embedded @ (stored * factor + summand)
    else:
        wanted = embedded * factor + summand
    seen: list[Tensor] = []
    places = sharing.encoder.places
    with places.after(places.embeddings, lambda states: (seen.append(states), states)[1]):
        sharing.encode(conditioned.batch(1, 1, 1))
    torch.testing.assert_close(seen[0], wanted, rtol=0, atol=1e-5)


def _through(sharing: CaMtl, name: str, states: Tensor) -> Tensor:
    """A bottleneck by its definition."""
    factor, summand = _film(sharing, f"{name}.modulation", 1)
    part: Any = sharing.module.get_submodule(name)
    found: Tensor = part.up(part.down(states * factor + summand))
    return found


@torch.no_grad()
@pytest.mark.parametrize("start", ["random", "identity"])
def test_the_bottleneck_of_base_models_stands_on_the_top_layer(start: str) -> None:
    sharing = _only(bottleneck="base", bottleneck_start=start)
    between: list[Tensor] = []
    places = sharing.encoder.places
    with places.after(places.norms(2)[0], lambda states: (between.append(states), states)[1]):
        top = _states(sharing)[-1]
    assert sharing.module.get_parameter("bottleneck.down.weight").shape == (10, 32)
    weight, bias = (sharing.module.get_parameter(f"bottleneck_norm.{name}") for name in ("weight", "bias"))
    factor, summand = _film(sharing, "bottleneck_norm.conditional", 1)
    total = _through(sharing, "bottleneck", top) + between[0]
    normed = (total - total.mean(-1, keepdim=True)) / (total.var(-1, keepdim=True, correction=0) + 1e-12).sqrt()
    wanted = normed * (weight * factor + summand) + bias
    if start == "identity":
        wanted = top + sharing.module.get_parameter("bottleneck_share.share") * (wanted - top)
    torch.testing.assert_close(sharing.encode(conditioned.batch(1, 1, 1)).pieces, wanted, rtol=0, atol=1e-5)


@torch.no_grad()
def test_bottlenecks_of_large_models_are_a_chain_beside_all_layers() -> None:
    sharing = _only(bottleneck="large")
    _, first, second, third = _states(sharing)
    chain = _through(sharing, "bottlenecks.0", first)
    chain = _through(sharing, "bottlenecks.1", second + chain)
    chain = _through(sharing, "bottlenecks.2", third + chain)
    torch.testing.assert_close(sharing.encode(conditioned.batch(1, 1, 1)).pieces, chain, rtol=0, atol=1e-5)


@pytest.mark.parametrize("bottleneck", ["base", "large"])
@pytest.mark.parametrize("start", ["identity", "released"])
def test_gradients_reach_every_generator_in_frozen_layers_too(start: str, bottleneck: str) -> None:
    sharing: CaMtl = conditioned.strategy("ca_mtl", start=start, bottleneck=bottleneck, transform=start == "released")
    sharing.encoder.requires_grad_(False)
    conditioned.pieces(sharing, conditioned.batch(0, 1, 2)).square().sum().backward()
    idle = {name for name, p in sharing.module.named_parameters() if p.grad is None or not p.grad.any()}
    assert idle == (
        {"embedding"} if start == "identity" else set()
    )  # which learn when generators are not zero any more


def _state(toy_encoder: Path, toy_prepared: Path, train: dict[str, Any], **options: Any) -> TrainState:
    data = Prepared.load(toy_prepared)
    torch.manual_seed(3)
    tasks: Any = {name: options_class(TASKS, "tagging").model_validate(toy.TASKS[name]) for name in ("pos", "names")}
    sharing = Options.model_validate({"type": "ca_mtl", **options})
    model = build_model(Encoder.load(toy_encoder), sharing, tasks, Corpora.single(data).labels(tasks))
    limits = {"epochs": 1, "batch": {"sentences": 8, "tokens": 400}, "lr": {"encoder": 1e-3, "decoder": 1e-2}}
    chosen = TrainOptions.model_validate({**limits, **train})
    state = TrainState.fresh(model, Corpora.single(data), chosen, RunOptions(), seed=1)
    state.frozen.train()
    for _ in range(3):
        take_update(state, chosen, nullcontext(), Meter())
    return state


@pytest.mark.parametrize("attention", ["trained", "released"])
def test_frozen_parameters_stay_to_the_bit_and_modules_inside_learn(
    attention: str, toy_encoder: Path, toy_prepared: Path
) -> None:
    before = Encoder.load(toy_encoder)
    frozen = {"freeze": 0.5, "sampler": {"type": "balanced"}}
    state = _state(toy_encoder, toy_prepared, frozen, start="released", frozen_attention=attention)
    names = dict(state.model.encoder.named_parameters())
    still = {name for name, p in before.named_parameters() if torch.equal(p, names[name])}
    wanted = {name for name in names if "embeddings" in name or "layer.0." in name}
    assert wanted and {name for name in still if "pooler" not in name} == wanted
    fresh = Options(type="ca_mtl", start="released")
    torch.manual_seed(3)
    at_first = dict(fresh.build(Encoder.load(toy_encoder), ["pos", "names"]).module.named_parameters())
    kept = {n for n, p in state.model.sharing.module.named_parameters() if torch.equal(p, at_first[n])}
    generator = {"attention.0.film.generator.weight", "attention.0.film.generator.bias"}
    assert kept == (generator if attention == "released" else set())


def test_a_top_layer_can_begin_anew() -> None:
    encoder = conditioned.encoder()
    before = {name: value.clone() for name, value in encoder.state_dict().items()}
    conditioned.strategy("ca_mtl", encoder, top_layer="released")
    changed = {name for name, value in encoder.state_dict().items() if not torch.equal(value, before[name])}
    assert changed == {name for name in before if ".layer.2." in name}
    weights = encoder.state_dict()
    assert weights["model.encoder.layer.2.attention.self.query.weight"].std().item() == pytest.approx(0.02, rel=0.1)
    assert (weights["model.encoder.layer.2.output.LayerNorm.weight"] == 1).all()
    assert not weights["model.encoder.layer.2.output.LayerNorm.bias"].any()


def test_what_cannot_be_meant_is_one_line() -> None:
    with pytest.raises(EncoderError, match="E988: the encoder's layers share their parameters"):
        conditioned.strategy("ca_mtl", conditioned.encoder("albert"), top_layer="released")
    boundless = conditioned.encoder()
    boundless.max_pieces = None
    with pytest.raises(EncoderError, match=r"E987: .*say how many with `length`"):
        conditioned.strategy("ca_mtl", boundless)
    conditioned.strategy("ca_mtl", boundless, length=10)
    with pytest.raises(EncoderError, match="E986: the odd norm is a 'Linear'"):
        norm_at(Place("odd norm", "x", nn.Linear(2, 2)))
    with pytest.raises(EncoderError, match="E340: the heads of 'mpnet' encoders cannot be reached"):
        mpnet = Transformer(small.model("mpnet"), TransformerOptions(card="small"), small.SPECIALS)
        conditioned.strategy("ca_mtl", mpnet)


@pytest.mark.parametrize(
    ("large", "added", "factor", "trained"), [(False, 19_740_688, 1.183, 0.578), (True, 146_738_936, 1.441, 0.896)]
)
def test_parameters_of_the_papers_models(large: bool, added: int, factor: float, trained: float) -> None:
    """What docs/papers/ca_mtl.md says: modules as in the paper's code, eight tasks, half of the layers frozen."""
    with torch.device("meta"):
        encoder = bert(large)
        options = Options(type="ca_mtl", bottleneck="large" if large else "base", transform=True)
        module = options.build(encoder, [str(task) for task in range(8)]).module
    layers = encoder.places.layers
    learns = sum(count(place.module) for place in layers[len(layers) // 2 :])
    assert count(module) == added
    assert 1 + added / count(encoder) == pytest.approx(factor, abs=1e-3)
    assert (learns + added) / count(encoder) == pytest.approx(trained, abs=1e-3)
