"""Biaffine products and perceptrons of the parsers."""

from __future__ import annotations

import pytest
import torch

from mtlspec.model.biaffine import Biaffine, Mlp, SharedDropout


@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize("bias_left", [False, True])
@pytest.mark.parametrize("bias_right", [False, True])
def test_scores_are_the_bilinear_form_with_ones_appended(outputs: int, bias_left: bool, bias_right: bool) -> None:
    torch.manual_seed(0)
    module = Biaffine(4, 5, outputs, bias_left, bias_right)
    torch.nn.init.normal_(module.weight)
    left, right = torch.randn(2, 3, 4), torch.randn(2, 6, 5)
    scores = module(left, right)
    for b, n, m, o in torch.cartesian_prod(*map(torch.arange, (2, 3, 6, outputs))).tolist():
        x = torch.cat([left[b, n], torch.ones(int(bias_left))])
        y = torch.cat([right[b, m], torch.ones(int(bias_right))])
        found = scores[b, n, m] if outputs == 1 else scores[b, n, m, o]
        torch.testing.assert_close(found, x @ module.weight[o] @ y)


def test_scores_start_at_zero_and_learn_through_both_sides() -> None:
    module = Biaffine(4, 4, 1, bias_left=True, bias_right=True)
    words = torch.randn(2, 3, 4, generator=torch.Generator().manual_seed(0))
    scores = module(words, words)
    assert scores.shape == (2, 3, 3) and not scores.any()
    scores.sum().backward()
    assert module.weight.grad is not None and module.weight.grad.abs().sum() > 0


def test_shared_dropout_drops_a_feature_for_a_whole_sentence_and_keeps_the_mean() -> None:
    torch.manual_seed(0)
    dropout = SharedDropout(0.33)
    dropped = dropout(torch.ones(64, 7, 200))
    assert torch.equal(dropped, dropped[:, :1].expand_as(dropped))
    assert abs(float(dropped.mean()) - 1.0) < 0.02
    assert not torch.equal(dropped[0], dropped[1])
    assert torch.equal(dropout.eval()(torch.ones(2, 3, 4)), torch.ones(2, 3, 4))


def test_an_mlp_leaks_negative_values_by_its_slope() -> None:
    mlp = Mlp(3, 3, dropout=0.0, slope=0.1)
    torch.nn.init.eye_(mlp.linear.weight)
    assert torch.allclose(mlp(torch.tensor([[[1.0, -1.0, 0.0]]])), torch.tensor([[[1.0, -0.1, 0.0]]]))
