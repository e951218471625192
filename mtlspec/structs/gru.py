"""A layer of a biGRU over packed sequences on the CPU: torch's states and gradients in less than half the time.

Torch records every operation of every step and adds up the gradient of a weight step by step. Here a layer is one
function with a gradient of its own, and a direction one compiled loop over its steps. Products that do not wait for the
step before, which are all but one, are done for all steps at once.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import once_differentiable

from mtlspec.structs.packing import Packing


class Weights(NamedTuple):
    """Of a layer in one direction, float32, gates in torch's order: reset, update, new."""

    w_in: Tensor  # [3 H, I]
    w_state: Tensor  # [3 H, H]
    b_in: Tensor  # [3 H]
    b_state: Tensor  # [3 H]


def bigru_layer(rows: Tensor, onward: Weights, backward: Weights, packing: Packing) -> Tensor:
    """States of both directions [T, 2 H] of packed rows float32 [T, I]; each sequence starts with zeros."""
    states: Tensor = _Layer.apply(rows.contiguous(), packing, *onward, *backward)  # type: ignore[no-untyped-call]
    return states


class _Layer(Function):
    @staticmethod
    def forward(ctx: Any, rows: Tensor, packing: Packing, *weights: Tensor) -> Tensor:
        from mtlspec.structs._gru_numba import advance

        width = weights[1].shape[1]
        states, sizes = rows.new_empty(len(rows), 2 * width), torch.tensor(packing.sizes)
        kept = []
        for reverse, (w_in, w_state, b_in, b_state) in enumerate(_directions(weights)):
            gates, inside = rows.new_empty(len(rows), 3 * width), rows.new_empty(len(rows), width)
            _multiply(rows, w_in.t(), gates)
            outer, inner = b_in.clone(), b_state[2 * width :]  # the reset gate acts on this one
            outer[: 2 * width] += b_state[: 2 * width]
            bias = torch.cat([outer, inner])
            advance(*_arrays(gates, states), reverse * width, *_arrays(inside, w_state, bias, sizes), bool(reverse))
            kept += [gates, inside]
        ctx.packing = packing
        ctx.save_for_backward(rows, states, sizes, *weights, *kept)
        return states

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor | None, ...]:
        from mtlspec.structs._gru_numba import retreat

        rows, states, sizes, *saved = ctx.saved_tensors
        packing, width, count = ctx.packing, states.shape[1] // 2, ctx.packing.sizes[0]
        total = upstream.clone(memory_format=torch.contiguous_format)
        of_rows = torch.empty_like(rows) if ctx.needs_input_grad[0] else None
        found: list[Tensor] = []
        for reverse, (w_in, w_state, _, _) in enumerate(_directions(saved[:8])):
            gates, inside = saved[8 + 2 * reverse : 10 + 2 * reverse]
            of_state, of_new = torch.empty_like(gates), torch.empty_like(inside)
            given = _arrays(inside, total, w_state, of_state, of_new, sizes)
            retreat(*_arrays(gates, states), reverse * width, *given, bool(reverse))
            own = states[:, reverse * width : (reverse + 1) * width]
            steps, before = of_state[count:], own[packing.before]
            if reverse:
                steps, before = of_state[packing.before], own[count:]
            of_w_state, of_w_in = torch.empty_like(w_state), torch.empty_like(w_in)
            _multiply(steps.t(), before.contiguous(), of_w_state)
            of_b_state = of_state.sum(0)
            of_state[:, 2 * width :] = of_new  # from here on: of what comes from the input
            _multiply(of_state.t(), rows, of_w_in)
            if of_rows is not None:
                _multiply(of_state, w_in, of_rows, add=bool(reverse))
            of_b_in = torch.cat([of_b_state[: 2 * width], of_new.sum(0)])
            found += [of_w_in, of_w_state, of_b_in, of_b_state]
        return of_rows, None, *found


def _directions(weights: Any) -> tuple[Weights, Weights]:
    return Weights(*weights[:4]), Weights(*weights[4:])


def _arrays(*tensors: Tensor) -> list[Any]:
    return [tensor.detach().numpy() for tensor in tensors]


def _multiply(left: Tensor, right: Tensor, out: Tensor, add: bool = False) -> None:
    """out [M, N] = left [M, K] times right [K, N], or that is added; both may be a transposed contiguous matrix.

    Torch has more threads than one; with one it is slower than the compiled product.
    """
    if torch.get_num_threads() > 1:
        torch.addmm(out, left, right, beta=float(add), out=out)
        return
    from mtlspec.structs._gru_numba import multiply

    turned = [not matrix.is_contiguous() for matrix in (left, right)]
    stored = [matrix.t() if turn else matrix for matrix, turn in zip((left, right), turned, strict=True)]
    (first, second, target) = _arrays(*stored, out)
    multiply(first, turned[0], second, turned[1], target, add)
