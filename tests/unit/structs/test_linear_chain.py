"""The linear-chain CRF against enumeration of all paths, on both backends."""

from __future__ import annotations

import itertools
import math
import subprocess
import sys
from dataclasses import dataclass

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from mtlspec.structs import _linear_chain_numba as compiled
from mtlspec.structs import _linear_chain_torch as vectorised
from mtlspec.structs import linear_chain

BACKENDS = pytest.mark.parametrize("backend", [compiled, vectorised], ids=["compiled", "vectorised"])
NEVER = -math.inf
SCORES = st.one_of(st.integers(-2, 2), st.floats(-30, 30), st.just(NEVER))


@dataclass
class Case:
    """Scores and lengths of a small batch."""

    scores: list[torch.Tensor]  # emissions [B, N, C], transitions [C, C], start [C], end [C]
    lengths: list[int]

    @property
    def mask(self) -> torch.Tensor:
        return torch.arange(self.scores[0].shape[1]) < torch.tensor(self.lengths).unsqueeze(1)

    def paths(self, b: int) -> dict[tuple[int, ...], float]:
        """Every tagging of sentence b with its score."""
        emissions, transitions, start, end = (s.tolist() for s in self.scores)
        n, tags = self.lengths[b], len(start)
        found = {}
        for path in itertools.product(range(tags), repeat=n):
            total = sum(emissions[b][t][tag] for t, tag in enumerate(path))
            total += sum(transitions[i][j] for i, j in itertools.pairwise(path))
            found[path] = total + (start[path[0]] + end[path[-1]] if path else 0.0)
        return found


def log_sum(scores) -> float:
    top = max(scores)
    return top if top == NEVER else top + math.log(sum(math.exp(s - top) for s in scores))


@st.composite
def cases(draw, value=SCORES):
    tags = draw(st.integers(1, 3))
    lengths = draw(st.lists(st.integers(0, 4), min_size=1, max_size=3).filter(any))
    shapes = [(len(lengths), max(lengths), tags), (tags, tags), (tags,), (tags,)]
    scores = [
        torch.tensor(draw(st.lists(value, min_size=math.prod(s), max_size=math.prod(s))), dtype=torch.float64).view(s)
        for s in shapes
    ]
    return Case(scores, lengths)


@BACKENDS
@given(case=cases())
def test_log_partition_is_the_sum_over_all_paths(backend, case):
    found = linear_chain._Chain.apply(backend, *case.scores, case.mask, None)
    expected = [log_sum(case.paths(b).values()) for b in range(len(case.lengths))]
    assert found.tolist() == pytest.approx(expected, abs=1e-9)


@BACKENDS
@given(case=cases())
def test_gradients_are_expected_counts(backend, case):
    leaves = [s.clone().requires_grad_() for s in case.scores]
    weights = torch.arange(1.0, len(case.lengths) + 1, dtype=torch.float64)
    (linear_chain._Chain.apply(backend, *leaves, case.mask, None).nan_to_num(neginf=0.0) * weights).sum().backward()
    expected = [torch.zeros_like(s) for s in case.scores]
    for b, n in enumerate(case.lengths):
        paths = case.paths(b)
        log_z = log_sum(paths.values())
        if log_z == NEVER or n == 0:
            continue
        for path, score in paths.items():
            share = weights[b] * math.exp(score - log_z)
            for t, tag in enumerate(path):
                expected[0][b, t, tag] += share
            for i, j in itertools.pairwise(path):
                expected[1][i, j] += share
            expected[2][path[0]] += share
            expected[3][path[-1]] += share
    for leaf, right in zip(leaves, expected, strict=True):
        torch.testing.assert_close(leaf.grad, right, atol=1e-9, rtol=0)


@BACKENDS
@given(case=cases())
def test_viterbi_finds_the_first_of_the_best_paths(backend, case):
    tags, score = backend.viterbi(*case.scores, torch.tensor(case.lengths))
    for b, n in enumerate(case.lengths):
        paths = case.paths(b)
        best = max(paths.values())
        assert score[b].item() == pytest.approx(best)
        assert tags[b, n:].eq(0).all()
        if best > NEVER:
            assert paths[tuple(tags[b, :n].tolist())] == pytest.approx(best)


@given(case=cases(st.integers(-2, 2)))
def test_both_backends_break_ties_alike(case):
    found = [b.viterbi(*case.scores, torch.tensor(case.lengths))[0].tolist() for b in (compiled, vectorised)]
    assert found[0] == found[1]


def random_case(rows=5, words=9, tags=6, scale=1.0, dtype=torch.float32) -> tuple[list[torch.Tensor], torch.Tensor]:
    generator = torch.Generator().manual_seed(3)
    shapes = [(rows, words, tags), (tags, tags), (tags,), (tags,)]
    scores = [(torch.randn(s, generator=generator, dtype=dtype) * scale).requires_grad_() for s in shapes]
    lengths = torch.tensor([words, 1, 2, words - 1, 3])[:rows]
    return scores, torch.arange(words) < lengths.unsqueeze(1)


@pytest.mark.parametrize("scale", [1.0, 30.0, 500.0, 1e4])
def test_backends_agree_whatever_the_range_of_scores(scale):
    scores, mask = random_case(scale=scale)
    tags = torch.randint(0, 6, mask.shape, generator=torch.Generator().manual_seed(1))
    values, gradients = [], []
    for backend in (compiled, vectorised):
        value = linear_chain._Chain.apply(backend, *scores, mask, tags * mask)
        gradients.append(torch.autograd.grad(value.sum(), scores))
        values.append(value)
    torch.testing.assert_close(values[0], values[1], rtol=1e-5, atol=1e-5)
    for one, other in zip(*gradients, strict=True):
        assert one.isfinite().all()
        torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-5)


def test_a_path_that_scaled_arithmetic_would_lose_is_kept():
    """Tag 1 falls 800 nats behind and wins in the end: probabilities scaled to sum 1 would have dropped it."""
    emissions = torch.tensor([[[0.0, -800.0], [-300.0, 0.0], [-300.0, 0.0], [-300.0, 0.0]]], dtype=torch.float64)
    transitions = torch.tensor([[0.0, NEVER], [NEVER, 0.0]], dtype=torch.float64)
    zero = torch.zeros(2, dtype=torch.float64)
    mask = torch.ones(1, 4, dtype=torch.bool)
    assert linear_chain.log_partition(emissions, transitions, zero, zero, mask).item() == pytest.approx(-800.0)
    assert linear_chain.marginals(emissions, transitions, zero, zero, mask)[0, :, 1].tolist() == pytest.approx(
        [1.0] * 4
    )


def test_gradients_of_the_loss_pass_gradcheck():
    scores, mask = random_case(rows=3, words=4, tags=3, dtype=torch.float64)
    tags = torch.randint(0, 3, mask.shape, generator=torch.Generator().manual_seed(1))
    assert torch.autograd.gradcheck(lambda *s: linear_chain.nll(*s, mask, tags), scores)


def test_the_loss_ignores_tags_and_scores_on_padding():
    scores, mask = random_case()
    tags = torch.randint(0, 6, mask.shape, generator=torch.Generator().manual_seed(1))
    value = linear_chain.nll(*scores, mask, tags)
    other = scores[0].detach().masked_fill(~mask.unsqueeze(2), 99.0)
    assert torch.equal(value, linear_chain.nll(other, *scores[1:], mask, tags.masked_fill(~mask, -100)))
    assert (value > 0).all()


def test_marginals_sum_to_one_on_words_and_are_zero_on_padding():
    scores, mask = random_case()
    found = linear_chain.marginals(*scores, mask)
    assert found.dtype == torch.float32
    assert not found.requires_grad
    torch.testing.assert_close(found.sum(2), mask.float())


def test_nan_scores_give_nan_and_no_crash():
    scores, mask = random_case()
    spoilt = scores[0].detach().clone()
    spoilt[0, 2, 1] = math.nan
    found = linear_chain.log_partition(spoilt, *scores[1:], mask)
    assert found.isnan().tolist() == [True, False, False, False, False]


def test_a_mask_with_a_gap_is_refused():
    scores, mask = random_case()
    mask = mask.clone()
    mask[0, 1] = False
    with pytest.raises(ValueError, match="a mask has a gap"):
        linear_chain.log_partition(*scores, mask)


def test_half_precision_and_strided_scores_are_taken():
    scores, mask = random_case()
    value = linear_chain.log_partition(*(s.detach().bfloat16() for s in scores), mask)
    assert value.dtype == torch.bfloat16
    strided = scores[0].detach().transpose(0, 1).contiguous().transpose(0, 1)
    assert torch.equal(
        linear_chain.log_partition(strided, *scores[1:], mask), linear_chain.log_partition(*scores, mask)
    )


def test_compilation_is_loaded_only_when_used():
    code = "import sys; import mtlspec.structs.linear_chain; sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
