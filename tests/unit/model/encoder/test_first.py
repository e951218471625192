"""The first sub-token alone: the same states and gradients as in a whole pass, and only where nobody reads more."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from mtlspec.data.batching import collate
from mtlspec.data.prepared import Prepared
from mtlspec.kinds import options_class
from mtlspec.model.encoder.encoder import Encoder
from mtlspec.model.encoder.first import can_narrow
from mtlspec.model.encoder.transformer import Transformer
from mtlspec.model.mixed import Reading, encode_parts
from mtlspec.model.multitask import MultiTaskModel, build_model
from mtlspec.model.predict import predict
from mtlspec.spec.encoders import EncoderOptions
from mtlspec.spec.families import ENCODERS, SHARING, TASKS
from mtlspec.spec.models import BatchLimits
from tests.unit.model.encoder import many, small

NARROW = {"bert", "roberta", "xlm-roberta", "camembert", "electra", "distilbert", "albert", "deberta", "deberta-v2"}


def _options(max_pieces: int | None = None) -> EncoderOptions:
    kind = options_class(ENCODERS, "transformer")
    assert issubclass(kind, EncoderOptions)
    return kind.model_construct(type="transformer", card="small", subword_dropout=0.0, max_pieces=max_pieces)


@pytest.fixture(scope="module", params=many.FAMILIES)
def encoder(request: pytest.FixtureRequest) -> Transformer:
    return Transformer(many.build(request.param), _options(), small.SPECIALS).eval()


def test_families_with_norms_behind_the_addition_compute_no_more_than_is_read(encoder: Transformer) -> None:
    assert can_narrow(encoder.config) == (encoder.config.model_type in NARROW)


def test_states_and_gradients_are_those_of_a_whole_pass(encoder: Transformer) -> None:
    batch = small.batch(7, 3, 5)
    parameters = list(encoder.parameters())
    usual = encoder.config._attn_implementation

    def gradients(first: Tensor) -> list[Tensor]:
        loss = (first * torch.linspace(-1, 1, first.numel()).view_as(first)).sum()
        found = torch.autograd.grad(loss, parameters, allow_unused=True)
        return [torch.zeros_like(p) if g is None else g for p, g in zip(parameters, found, strict=True)]

    whole = encoder(batch)
    few = encoder(replace(batch, first_only=True))
    torch.testing.assert_close(few.cls, whole.cls, rtol=1e-5, atol=1e-6)
    for found, expected in zip(gradients(few.cls), gradients(whole.cls), strict=True):
        torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-6)
    if can_narrow(encoder.config):
        assert few.pieces.shape[1] == 1 and bool(few.sep.isnan().all()), "nobody takes it for the last sub-token"
    assert encoder.config._attn_implementation == usual
    assert torch.equal(encoder(batch).pieces, whole.pieces), "nothing is left behind"
    assert not any(m._forward_hooks or m._forward_pre_hooks for m in encoder.modules())


def test_one_position_goes_through_the_last_feed_forward_block_and_one_query_through_its_attention(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from transformers.integrations import sdpa_attention

    encoder = Transformer(many.build("bert"), _options(), small.SPECIALS).eval()
    queries: list[int] = []
    usual = sdpa_attention.sdpa_attention_forward

    def noted(module: Any, query: Tensor, *given: Any, **named: Any) -> Any:
        queries.append(query.shape[2])
        return usual(module, query, *given, **named)

    monkeypatch.setattr(sdpa_attention, "sdpa_attention_forward", noted)
    seen: list[tuple[int, ...]] = []
    places = encoder.places

    def look(states: Tensor) -> Tensor:
        seen.append(tuple(states.shape))
        return states

    with places.after(places.feed_forward(0), look), places.after(places.feed_forward(many.LAYERS - 1), look):
        encoder(replace(small.batch(7, 3), first_only=True))
    assert queries == [9] * (many.LAYERS - 1) + [1]
    assert seen == [(2, 9, 32), (2, 1, 32)]


def test_heads_that_are_looked_at_and_long_texts_are_computed_whole() -> None:
    encoder = Transformer(many.build("bert"), _options(max_pieces=9), small.SPECIALS).eval()
    batch = replace(small.batch(7, 3), first_only=True)
    with encoder.heads.captured() as captured:
        encoder(batch)
    assert captured.contexts[-1].shape[1] == 9
    long = replace(small.batch(12, 3), first_only=True)
    states = encoder(long)
    assert states.windows is not None and states.pieces.shape[1] == 14


@pytest.fixture(scope="module")
def data(toy_prepared: Path) -> Prepared:
    return Prepared.load(toy_prepared)


def model_of(encoder: Path, data: Prepared, sharing: str) -> MultiTaskModel:
    about: dict[str, Any] = {
        "topic": {"type": "classification", "layer": "topic"},
        "size": {"type": "regression", "layer": "size", "pooling": "mean"},
        "pos": {"type": "tagging", "layer": "pos"},
    }
    tasks = {name: options_class(TASKS, said["type"]).model_validate(said) for name, said in about.items()}
    strategy = options_class(SHARING, sharing).model_validate({"type": sharing})
    torch.manual_seed(0)
    model = build_model(Encoder.load(encoder), strategy, tasks, data.labels)  # type: ignore[arg-type]
    model.module.eval()
    return model


@pytest.mark.parametrize(("readers", "narrow"), [([0], True), ([0, 0], True), ([1], False), ([0, 2], False)])
def test_a_batch_is_narrow_where_all_its_readers_read_the_first(
    toy_encoder: Path, data: Prepared, readers: list[int], narrow: bool
) -> None:
    readings = [Reading(task, data.train, torch.tensor([4, 1, 7])) for task in readers]
    found = encode_parts(model_of(toy_encoder, data, "hard"), readings)
    assert all((part.states.pieces.shape[1] == 1) == narrow for part in found)


def test_a_strategy_that_changes_the_encoder_gets_all_of_it(toy_encoder: Path, data: Prepared) -> None:
    found = encode_parts(model_of(toy_encoder, data, "l0"), [Reading(0, data.train, torch.tensor([4, 1, 7]))])
    assert found[0].states.pieces.shape[1] > 1


def test_predictions_are_those_of_a_whole_pass(toy_encoder: Path, data: Prepared) -> None:
    model = model_of(toy_encoder, data, "hard")
    found = predict(model, data.train, BatchLimits(sentences=8, tokens=400), [0])["topic"]
    batch = collate(data.train, torch.arange(len(data.train)), model.encoder.specials)
    with torch.inference_mode():
        expected = model.tasks[0].decode(model.states(batch, 0), batch)
    assert found == expected and set(found) <= {"names", "things"}
