"""Maskings read together: for every family what each gives alone, with what they share computed once."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from mtlspec.errors import EncoderError
from mtlspec.kinds import options_class
from mtlspec.model.encoder.maskings import Maskings
from mtlspec.model.encoder.transformer import Transformer
from mtlspec.spec.encoders import EncoderOptions
from mtlspec.spec.families import ENCODERS
from tests.unit.model.encoder import many, small

SHAPE = (many.LAYERS, many.HEADS)


def _encoder(family: str, max_pieces: int | None = None) -> Transformer:
    kind = options_class(ENCODERS, "transformer")
    assert issubclass(kind, EncoderOptions)
    options = kind.model_construct(type="transformer", card="small", subword_dropout=0.0, max_pieces=max_pieces)
    return Transformer(many.build(family), options, small.SPECIALS).eval()


def _masks() -> np.ndarray:
    """None; two that part in the last layer; one from the first layer on; a whole layer; the first one again."""
    masks = np.zeros((6, *SHAPE), np.bool_)
    masks[1, 2, :2] = masks[2, 2, 1:3] = True
    masks[3, 0, 0] = masks[3, 2, 3] = True
    masks[4, 1] = True
    return masks


@torch.inference_mode()
def _alone(encoder: Transformer, batch: Any, mask: np.ndarray) -> torch.Tensor:
    with encoder.heads.gated(torch.from_numpy(~mask).float()):
        return encoder(batch).pieces


@torch.inference_mode()
def _together(encoder: Transformer, batch: Any, masks: np.ndarray, share: bool) -> Any:
    maskings = Maskings(encoder, masks)
    index = maskings.rows(len(batch.rows))
    repeated = replace(
        batch,
        **{name: value[index] for name, value in vars(batch).items() if isinstance(value, torch.Tensor)},
    )
    with maskings.applied(len(batch.rows), share=share):
        return encoder(repeated)


@pytest.mark.parametrize("family", many.FAMILIES)
@pytest.mark.parametrize("share", [True, False])
def test_all_maskings_together_give_what_each_gives_alone(family: str, share: bool) -> None:
    encoder, batch, masks = _encoder(family), small.batch(7, 3, 5), _masks()
    found = _together(encoder, batch, masks, share).pieces.unflatten(0, (len(masks), -1))
    expected = torch.stack([_alone(encoder, batch, mask) for mask in masks])
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-6)
    assert (found[0] - found[3]).abs().max() > 1e-3, "masks do something"
    assert not any(m._forward_hooks or m._forward_pre_hooks for m in encoder.modules()), "nothing is left behind"
    assert torch.equal(encoder(batch).pieces, encoder(batch).pieces)


def test_the_first_sub_token_alone_is_read_with_maskings_too() -> None:
    encoder, masks = _encoder("bert"), _masks()
    batch = small.batch(7, 3, 5)
    found = _together(encoder, replace(batch, first_only=True), masks, share=True)
    assert found.pieces.shape[1] == 1, "the last layer computed one position"
    expected = torch.cat([_alone(encoder, batch, mask)[:, 0] for mask in masks])
    torch.testing.assert_close(found.cls, expected, rtol=0, atol=1e-6)


def test_long_sentences_are_read_in_windows() -> None:
    encoder, batch, masks = _encoder("bert", max_pieces=6), small.batch(13, 3, 9), _masks()
    found = _together(encoder, batch, masks, share=False).pieces.unflatten(0, (len(masks), -1))
    expected = torch.stack([_alone(encoder, batch, mask) for mask in masks])
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize("family", ["bert", "albert"])
def test_layers_compute_one_row_for_all_maskings_that_agree_so_far(family: str) -> None:
    encoder, batch, masks = _encoder(family), small.batch(7, 3, 5), _masks()
    seen: list[int] = []
    outputs = {id(site.output): site.output for site in encoder.heads.sites}.values()
    hooks = [module.register_forward_hook(lambda _, inputs, __: seen.append(len(inputs[0]))) for module in outputs]
    _together(encoder, batch, masks, share=True)
    for hook in hooks:
        hook.remove()
    assert Maskings(encoder, masks).distinct == (2, 3, 5)
    assert seen == [3 * distinct for distinct in (2, 3, 5)]


def test_attention_computes_one_row_for_all_maskings_that_agree_below() -> None:
    encoder, batch, masks = _encoder("bert"), small.batch(7, 3, 5), _masks()
    seen: list[int] = []
    hooks = [
        site.inner.register_forward_hook(lambda _, __, output: seen.append(len(output[0])))
        for site in encoder.heads.sites
    ]
    _together(encoder, batch, masks, share=True)
    assert seen == [3 * distinct for distinct in (1, 2, 3)]
    seen.clear()
    _together(encoder, batch, masks, share=False)
    assert seen == [3 * len(masks)] * 3
    for hook in hooks:
        hook.remove()


def test_masks_of_another_shape_are_refused() -> None:
    with pytest.raises(EncoderError, match=r"not \[maskings, 3, 4\]") as error:
        Maskings(_encoder("bert"), np.zeros((2, 4, 3), np.bool_))
    assert error.value.code == "E951"
