"""One layer of a GRU in one direction over packed sequences on the CPU: torch's states and gradients in half the time.

Torch records every operation of every step and adds up the gradient of a weight step by step. Here a direction is one
function with a gradient of its own. Products that do not wait for the step before, which are all but one, are done for
all steps at once; they go through oneDNN, which uses the widest vectors that a CPU of any maker has. What stands
between products is compiled.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import accumulate
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import once_differentiable

from mtlspec.structs.packing import Packing

_WORTH = 2**20  # multiplications from which on a product is worth the call of oneDNN


class Weights(NamedTuple):
    """Of a layer in one direction, float32, gates in torch's order: reset, update, new."""

    w_in: Tensor  # [3 H, I]
    w_state: Tensor  # [3 H, H]
    b_in: Tensor  # [3 H]
    b_state: Tensor  # [3 H]


def gru(rows: Tensor, weights: Weights, packing: Packing, reverse: bool) -> Tensor:
    """States [T, H] of packed rows float32 [T, I]; each sequence starts with zeros. `reverse` reads from the end."""
    states: Tensor = _Direction.apply(rows, *weights, packing, reverse)  # type: ignore[no-untyped-call]
    return states


class _Step(NamedTuple):
    """`rows` rows from `now` on, of which `going` carry on from those from the row `before` on."""

    now: int
    rows: int
    before: int
    going: int


class _Direction(Function):
    @staticmethod
    def forward(
        ctx: Any,
        rows: Tensor,
        w_in: Tensor,
        w_state: Tensor,
        b_in: Tensor,
        b_state: Tensor,
        packing: Packing,
        reverse: bool,
    ) -> Tensor:
        from mtlspec.structs._gru_numba import advance

        width = w_state.shape[1]
        inner = torch.cat([b_state.new_zeros(2 * width), b_state[2 * width :]])  # the reset gate acts on this one
        gates = _product(rows, w_in, b_in + b_state - inner)
        states, inside = rows.new_empty(len(rows), width), b_state[2 * width :].repeat(len(rows), 1)
        weight = _for_steps(w_state, packing.sizes[0])
        arrays = [tensor.numpy() for tensor in (gates, states, inside)]
        nothing = rows.new_empty(0, 3 * width).numpy()
        for step in _steps(packing.sizes, reverse):
            last = states[step.before : step.before + step.going]
            product = _step(last, weight, inner).numpy() if step.going else nothing
            advance(*arrays, product, *step)
        ctx.packing, ctx.reverse = packing, reverse
        ctx.save_for_backward(rows, w_in, w_state, gates, states, inside)
        return states

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor | None, ...]:
        from mtlspec.structs._gru_numba import retreat

        rows, w_in, w_state, gates, states, inside = ctx.saved_tensors
        packing, width = ctx.packing, w_state.shape[1]
        total = upstream.clone(memory_format=torch.contiguous_format)
        of_state, of_new = torch.empty_like(gates), torch.empty_like(states)
        weight = _for_steps(w_state.t().contiguous(), packing.sizes[0])
        arrays = [tensor.numpy() for tensor in (gates, states, inside, total, of_state, of_new)]
        product, after, come = rows.new_empty(0, width).numpy(), 0, 0
        for step in reversed(list(_steps(packing.sizes, ctx.reverse))):
            retreat(*arrays, product, *step, after, come)
            after, come = step.now, step.going
            if come:
                product = _step(of_state[after : after + come], weight, None).numpy()
        count, before = packing.sizes[0], packing.before
        ours, theirs = (before, slice(count, None)) if ctx.reverse else (slice(count, None), before)
        of_w_state = _product(of_state[ours].t(), states[theirs].t())
        of_b_state = of_state.sum(0)
        of_state[:, 2 * width :] = of_new  # from here on: of what comes from the input
        of_rows = _product(of_state, w_in.t()) if ctx.needs_input_grad[0] else None
        return of_rows, _product(of_state.t(), rows.t()), of_w_state, of_state.sum(0), of_b_state, None, None


def _steps(sizes: list[int], reverse: bool) -> Iterator[_Step]:
    """In the order of reading."""
    starts = [0, *accumulate(sizes)]
    last = len(sizes) - 1
    for number in range(last, -1, -1) if reverse else range(last + 1):
        before = number + 1 if reverse else number - 1
        going = min(sizes[number], sizes[before]) if 0 <= before <= last else 0
        yield _Step(starts[number], sizes[number], starts[before] if going else 0, going)


def _product(rows: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """rows [M, K] times the transposed weight [N, K]: [M, N]"""
    if _pays(len(rows), weight):
        return _onednn(rows, weight, bias)
    return torch.nn.functional.linear(rows, weight, bias)


def _for_steps(weight: Tensor, count: int) -> Tensor:
    """A weight [N, K] as products with up to `count` rows want it."""
    if not _pays(count, weight):
        return weight
    packed: Tensor = torch.ops.mkldnn._reorder_linear_weight.default(weight, count)
    return packed


def _step(rows: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """A product with what `_for_steps` made."""
    return _onednn(rows, weight, bias) if weight.is_mkldnn else torch.nn.functional.linear(rows, weight, bias)


def _pays(rows: int, weight: Tensor) -> bool:
    return rows * weight.numel() >= _WORTH and _has_onednn()


@cache
def _has_onednn() -> bool:
    found: bool = torch.backends.mkldnn.is_available()  # type: ignore[no-untyped-call]
    return found


def _onednn(rows: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    product: Tensor = torch.ops.mkldnn._linear_pointwise.default(rows, weight, bias, "none", [], "")
    return product
