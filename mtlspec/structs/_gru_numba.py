"""What a GRU does between its matrix products, a step at a time, compiled: gates and new states, and the way back.

All arrays are float32. T rows are steps of several sequences; the rows of one step stand together (`packing.py`). H is
the width of a state; gates [T, 3 H] are reset, update and new. Everything is written as plain loops over numbers, with
no branches in the innermost, which the compiler turns into vector instructions; `np.exp` would be a call for each.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from mtlspec.structs._compile import compiled, one_at_a_time

Array = npt.NDArray[Any]

_FLOAT, _INT = np.float32, np.int32
_HALF, _ONE, _TWO = _FLOAT(0.5), _FLOAT(1), _FLOAT(2)
_LIMIT = _FLOAT(87)  # beyond, the exponential leaves the range of float32
_PER_DOUBLING = _FLOAT(1 / np.log(2))
_LOG_2_HIGH = _FLOAT(0.693359375)  # few digits, so that multiples are exact
_LOG_2_LOW = _FLOAT(np.log(2) - 0.693359375)
_SERIES = tuple(_FLOAT(1 / number) for number in (5040, 720, 120, 24, 6, 2))
_BIAS, _PLACE = _INT(127), _INT(23)  # of the exponent in the bits of a float32


@compiled
def _sigmoid(row: Array, fraction: Array, bits: Array, power: Array) -> None:
    """In place, to about 1e-7. `power` is the memory of `bits` as floats; all three are room to work in.

    exp(x) = 2^k exp(x - k log 2): the first is written into the exponent's bits, the second is a short series.
    """
    for j in range(row.size):
        x = min(max(-row[j], -_LIMIT), _LIMIT)
        k = np.floor(x * _PER_DOUBLING + _HALF)
        rest = x - k * _LOG_2_HIGH - k * _LOG_2_LOW
        total = _SERIES[0]
        total = total * rest + _SERIES[1]
        total = total * rest + _SERIES[2]
        total = total * rest + _SERIES[3]
        total = total * rest + _SERIES[4]
        total = total * rest + _SERIES[5]
        total = total * rest + _ONE
        fraction[j] = total * rest + _ONE
        bits[j] = (_INT(k) + _BIAS) << _PLACE
    for j in range(row.size):
        row[j] = _ONE / (_ONE + fraction[j] * power[j])


@one_at_a_time
@compiled
def advance(
    gates: Array, states: Array, inside: Array, product: Array, now: int, count: int, before: int, going: int
) -> None:
    """One step: `count` rows from `now` on; `going` of them have states before, from the row `before` on.

    In: gates [T, 3 H] with what comes from the input; product [going, 3 H], what comes from the states before; inside
    [T, H], filled with its bias. Out: the gates themselves, states [T, H], and inside, what the reset gate acts on.
    """
    width = states.shape[1]
    fraction, bits = np.empty(2 * width, _FLOAT), np.empty(2 * width, _INT)
    power = bits.view(_FLOAT)
    for i in range(count):
        row, out, acted = gates[now + i], states[now + i], inside[now + i]
        if i < going:
            for j in range(2 * width):
                row[j] += product[i, j]
            for j in range(width):
                acted[j] = product[i, 2 * width + j]
        both, new, update = row[: 2 * width], row[2 * width :], row[width : 2 * width]
        _sigmoid(both, fraction, bits, power)
        for j in range(width):
            new[j] = _TWO * (new[j] + both[j] * acted[j])
        _sigmoid(new, fraction, bits, power)
        for j in range(width):  # tanh(x) = 2 sigmoid(2 x) - 1
            new[j] = _TWO * new[j] - _ONE
            out[j] = new[j] - update[j] * new[j]
        if i < going:
            last = states[before + i]
            for j in range(width):
                out[j] += update[j] * last[j]


@one_at_a_time
@compiled
def retreat(
    gates: Array,
    states: Array,
    inside: Array,
    total: Array,
    of_state: Array,
    of_new: Array,
    product: Array,
    now: int,
    count: int,
    before: int,
    going: int,
    after: int,
    come: int,
) -> None:
    """The same step backwards; `come` of its rows went on to those from the row `after` on.

    In: total [T, H], the gradients of states as far as they are used outside; product [come, H], what comes back
    through the weights. Out: total, now of all that comes of a state; of_state [T, 3 H] and of_new [T, H], gradients of
    the sums in the three gates that come from the state before, and of the one in the tanh that comes from the input.
    """
    width = states.shape[1]
    for i in range(count):
        row, whole, acted = gates[now + i], total[now + i], inside[now + i]
        if i < come:
            later, kept = total[after + i], gates[after + i]
            for j in range(width):
                whole[j] += product[i, j] + later[j] * kept[width + j]
        out, direct = of_state[now + i], of_new[now + i]
        for j in range(width):
            reset, update, new = row[j], row[width + j], row[2 * width + j]
            inner = whole[j] * (_ONE - update) * (_ONE - new * new)
            direct[j] = inner
            out[2 * width + j] = inner * reset
            out[j] = inner * acted[j] * reset * (_ONE - reset)
            out[width + j] = -whole[j] * new * update * (_ONE - update)
        if i < going:
            last = states[before + i]
            for j in range(width):
                out[width + j] += whole[j] * last[j] * row[width + j] * (_ONE - row[width + j])
