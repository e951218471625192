"""Hard-concrete gates: golden values, agreement with sampling, and gradients."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from mtlspec.model.hard_concrete import HardConcrete, half_open

GATE = HardConcrete()
PARAMETERS = st.floats(-6, 6)


def _at(a: float) -> torch.Tensor:
    return torch.tensor(a, dtype=torch.float64)


@pytest.mark.parametrize(
    ("a", "evaluation", "p_open", "expected"),
    [(0.0, 0.5, 0.68811, 0.5), (2.0, 0.95696, 0.94220, 0.8750), (-2.0, 0.04304, 0.22993, 0.1249)],
)
def test_golden_values(a: float, evaluation: float, p_open: float, expected: float) -> None:
    assert GATE.evaluation(_at(a)).item() == pytest.approx(evaluation, abs=5e-6)
    assert GATE.p_open(_at(a)).item() == pytest.approx(p_open, abs=5e-6)
    assert GATE.expected(_at(a)).item() == pytest.approx(expected, abs=1e-3)


def test_p_open_depends_on_the_temperature() -> None:
    assert HardConcrete(beta=1.0).p_open(_at(0.0)).item() == pytest.approx(0.91667, abs=5e-6)


def test_boundaries() -> None:
    assert GATE.boundary(0.0) == pytest.approx(-math.log(11), abs=1e-9)
    assert GATE.boundary(1e-3) == pytest.approx(-2.38704, abs=5e-6)
    assert GATE.boundary(1.0) == pytest.approx(math.log(11), abs=1e-9)


@pytest.mark.parametrize("a", [-3.0, -1.0, 0.0, 0.7, 2.5])
def test_drawn_gates_agree_with_the_formulas(a: float) -> None:
    torch.manual_seed(1)
    drawn = GATE.draw(torch.full((400_000,), a, dtype=torch.float64))
    assert drawn.min() >= 0 and drawn.max() <= 1
    assert (drawn > 0).double().mean().item() == pytest.approx(GATE.p_open(_at(a)).item(), abs=3e-3)
    assert drawn.mean().item() == pytest.approx(GATE.expected(_at(a)).item(), abs=3e-3)
    if a == 0.0:
        assert (drawn == 0).any() and (drawn == 1).any() and ((drawn > 0) & (drawn < 1)).any()


@given(a=PARAMETERS)
def test_the_gradient_of_the_penalty_is_that_of_finite_differences(a: float) -> None:
    at = _at(a).requires_grad_()
    GATE.p_open(at).backward()
    step = 1e-6
    slope = (GATE.p_open(_at(a + step)) - GATE.p_open(_at(a - step))) / (2 * step)
    assert at.grad is not None and at.grad.item() == pytest.approx(slope.item(), abs=1e-8)
    assert at.grad.item() > 0


@given(a=PARAMETERS, u=st.floats(1e-4, 1 - 1e-4))
def test_a_drawn_gate_is_differentiable_where_it_is_a_fraction(a: float, u: float) -> None:
    def gate(value: torch.Tensor) -> torch.Tensor:
        return GATE.of_uniform(value, _at(u))

    at = _at(a).requires_grad_()
    gate(at).backward()
    step = 1e-6
    low, high = gate(_at(a - step)).item(), gate(_at(a + step)).item()
    assert at.grad is not None
    if low > 0 and high < 1:
        assert at.grad.item() == pytest.approx((high - low) / (2 * step), abs=1e-6)
    elif low == high:
        assert at.grad.item() == 0


@given(low=PARAMETERS, high=PARAMETERS)
def test_a_larger_parameter_opens_a_gate(low: float, high: float) -> None:
    low, high = sorted((low, high))
    for measure in (GATE.evaluation, GATE.p_open, GATE.expected):
        assert measure(_at(low)).item() <= measure(_at(high)).item() + 1e-12


def test_half_open_gates_lie_within_xaviers_bound() -> None:
    torch.manual_seed(1)
    drawn = half_open(2000, 12)
    bound = math.sqrt(6 / 13)
    assert bound == pytest.approx(0.67937, abs=5e-6)
    assert drawn.abs().max().item() <= bound
    assert drawn.abs().max().item() > 0.99 * bound
    reference = torch.nn.init.xavier_uniform_(torch.empty(1, 12, 1, 1))
    assert reference.abs().max().item() <= bound
    assert drawn.var().item() == pytest.approx(bound**2 / 3, rel=0.02)
