"""The tree CRF against enumeration of all binary trees, on both backends."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from mtlspec.structs import _tree_crf_numba as compiled
from mtlspec.structs import _tree_crf_torch as vectorised
from mtlspec.structs import tree_crf
from tests.unit.structs.binary_trees import NEVER, Case, cases, log_sum, trees

BACKENDS = pytest.mark.parametrize("backend", [compiled, vectorised], ids=["compiled", "vectorised"])


def log_z(backend: Any, scores: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
    value: torch.Tensor = tree_crf._Trees.apply(backend, scores, lengths)
    return value


@BACKENDS
@given(case=cases())
@settings(max_examples=60)
def test_log_partition_is_the_sum_over_all_trees(backend: Any, case: Case) -> None:
    totals = [list(case.totals(b).values()) for b in range(len(case.lengths))]
    expected = [log_sum(values) if values else 0.0 for values in totals]
    assert log_z(backend, case.scores, case.lengths).tolist() == pytest.approx(expected, abs=1e-9)


@BACKENDS
@given(case=cases())
@settings(max_examples=60)
def test_the_gradient_is_the_probability_of_spans(backend: Any, case: Case) -> None:
    leaf = case.scores.clone().requires_grad_()
    weights = torch.arange(1.0, len(case.lengths) + 1, dtype=torch.float64)
    (log_z(backend, leaf, case.lengths).nan_to_num(neginf=0.0) * weights).sum().backward()
    expected = torch.zeros_like(case.scores)
    for b in range(len(case.lengths)):
        totals = case.totals(b)
        whole = log_sum(list(totals.values())) if totals else NEVER
        for tree, score in totals.items() if whole > NEVER else ():
            for i, j in tree:
                expected[b, i, j] += weights[b] * math.exp(score - whole)
    torch.testing.assert_close(leaf.grad, expected, atol=1e-9, rtol=0)


def random_case(scale: float = 1.0, dtype: torch.dtype = torch.float32) -> tuple[torch.Tensor, torch.Tensor]:
    lengths = torch.tensor([9, 1, 2, 8, 0, 3])
    generator = torch.Generator().manual_seed(3)
    return (torch.randn(6, 10, 10, generator=generator, dtype=dtype) * scale).requires_grad_(), lengths


def some_trees(lengths: torch.Tensor, posts: int) -> torch.Tensor:
    """Right-branching trees as bool [B, F, F]."""
    gold = torch.zeros(len(lengths), posts, posts, dtype=torch.bool)
    for b, n in enumerate(lengths.tolist()):
        for i in range(n):
            gold[b, i, i + 1] = gold[b, i, n] = True
    return gold


@pytest.mark.parametrize("scale", [1.0, 30.0, 500.0, 1e4])
def test_backends_agree_whatever_the_range_of_scores(scale: float) -> None:
    scores, lengths = random_case(scale)
    values = [log_z(backend, scores, lengths) for backend in (compiled, vectorised)]
    torch.testing.assert_close(values[0], values[1], rtol=1e-5, atol=1e-5)
    one, other = (torch.autograd.grad(value.sum(), scores)[0] for value in values)
    assert one.isfinite().all()
    torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-5)


@BACKENDS
def test_gradients_of_log_z_pass_gradcheck(backend: Any) -> None:
    scores, lengths = random_case(dtype=torch.float64)
    small = scores.detach()[:, :6, :6].clone().requires_grad_()
    assert torch.autograd.gradcheck(lambda s: log_z(backend, s, lengths.clamp(max=5)), small)


def test_gradients_of_the_loss_pass_gradcheck() -> None:
    scores, lengths = random_case(dtype=torch.float64)
    small, lengths = scores.detach()[:, :6, :6].clone().requires_grad_(), lengths.clamp(max=5)
    gold = some_trees(lengths, 6)
    assert torch.autograd.gradcheck(lambda s: tree_crf.nll(s, lengths, gold), small)


@given(case=cases(least=1, never=False), data=st.data())
@settings(max_examples=30)
def test_the_loss_is_the_negative_log_probability_of_a_tree(case: Case, data: st.DataObject) -> None:
    gold = torch.zeros(case.scores.shape, dtype=torch.bool)
    expected = []
    for b in range(len(case.lengths)):
        tree = data.draw(st.sampled_from(trees(0, int(case.lengths[b]))))
        for i, j in tree:
            gold[b, i, j] = True
        totals = case.totals(b)
        expected.append(log_sum(list(totals.values())) - totals[tree])
    assert tree_crf.nll(case.scores, case.lengths, gold).tolist() == pytest.approx(expected, abs=1e-9)


def test_a_forbidden_span_costs_nothing_outside_of_the_tree() -> None:
    scores = torch.zeros(1, 4, 4, requires_grad=True)
    forbidden = scores.masked_fill(torch.eye(4, dtype=torch.bool).roll(2, 1), NEVER)  # (0, 2) and (1, 3)
    forbidden = forbidden.index_fill(1, torch.tensor([1]), 0.0)  # (1, 3) again allowed: one tree is left
    loss = tree_crf.nll(forbidden, torch.tensor([3]), some_trees(torch.tensor([3]), 4))
    assert loss.item() == 0.0
    assert torch.autograd.grad(loss.sum(), scores)[0].isfinite().all()


def test_padding_changes_nothing() -> None:
    scores, lengths = random_case()
    posts = torch.arange(10)
    inside = (posts.view(-1, 1) < posts) & (posts <= lengths.view(-1, 1, 1))
    for filling in (99.0, NEVER, math.nan):
        other = scores.detach().masked_fill(~inside, filling)
        for backend in (compiled, vectorised):
            assert torch.equal(log_z(backend, other, lengths), log_z(backend, scores, lengths))
        assert torch.equal(tree_crf.marginals(other, lengths), tree_crf.marginals(scores, lengths))


def test_marginals_count_every_span_of_the_expected_tree() -> None:
    scores, lengths = random_case()
    found = tree_crf.marginals(scores, lengths)
    assert found.dtype == torch.float32 and not found.requires_grad
    torch.testing.assert_close(found.sum((1, 2)), (2.0 * lengths - 1).clamp(min=0))
    for b, n in enumerate(lengths.tolist()):
        assert n == 0 or found[b, 0, n].item() == pytest.approx(1.0)


@BACKENDS
def test_nan_scores_give_nan_and_no_crash(backend: Any) -> None:
    scores, lengths = random_case()
    spoilt = scores.detach().clone()
    spoilt[0, 2, 5] = math.nan
    assert log_z(backend, spoilt, lengths).isnan().tolist() == [True] + [False] * 5


def test_half_precision_and_strided_scores_are_taken() -> None:
    scores, lengths = random_case()
    assert tree_crf.log_partition(scores.detach().bfloat16(), lengths).dtype == torch.bfloat16
    strided = scores.detach().transpose(0, 1).contiguous().transpose(0, 1)
    assert torch.equal(tree_crf.log_partition(strided, lengths), tree_crf.log_partition(scores, lengths))
