"""A direction of a GRU over packed sequences, compiled: matrix products, gates and new states, and the way back.

All arrays are float32 and contiguous. T rows are steps of several sequences; the rows of one step stand together
(`packing.py`). H is the width of a state; gates [T, 3 H] are reset, update and new.

Every number of a product is one sum over the inner dimension in its order, each term added by one fused operation. So
its bits depend neither on the width of vectors nor on how many rows are computed at once, and the widest vectors of a
processor may be used: others give the same. What stands between products is written as plain loops over numbers, with
no branches in the innermost, which the compiler turns into vector instructions; `np.exp` would be a call for each.

All of it is one file: numba takes machine code from its cache as long as the file of the function itself is unchanged.
"""

from __future__ import annotations

from typing import Any

import llvmlite.binding
import numba
import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

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


def _wide() -> bool:
    """Are there registers for tiles of 12 x 32 numbers, in what numba compiles for?"""
    asked = numba.config.CPU_FEATURES
    if asked is not None:
        return "+avx512f" in asked.split(",")
    return bool(llvmlite.binding.get_host_cpu_features().get("avx512f"))


_LANES = 32 if _wide() else 16  # columns of a tile
_ROWS = 12 if _wide() else 6  # and rows: as many as registers hold
_DEPTH = 512  # terms of a sum at a time, so that what is read again and again stays near


def _tile(rows: int) -> Any:
    """out[i, j] = (out[i, j] if add else 0) + sum over k of a[i, k] * b[k, j], for `rows` x `_LANES` numbers.

    Memory is given by addresses and by steps, in numbers, from row to row (`a`: and from k to k); b has `_LANES` a row.
    """

    @intrinsic  # type: ignore[untyped-decorator]  # numba is not typed, and asks for a signature alone
    def tile(_: Any, out: Any, out_row: Any, a: Any, a_row: Any, a_k: Any, b: Any, count: Any, add: Any) -> Any:  # noqa: ARG001
        number, pointer = types.intp, types.uintp
        signature = types.void(pointer, number, pointer, number, number, pointer, number, types.boolean)

        def call(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
            add = builder.zext(cgutils.is_true(builder, arguments[-1]), ir.IntType(64))
            builder.call(_tile_function(builder.module, rows), [*arguments[:-1], add])
            return context.get_dummy_value()

        return signature, call

    return tile


def _tile_function(module: Any, rows: int) -> Any:
    """One for all calls in a module: copies would only take long to compile."""
    i64 = ir.IntType(64)
    function = cgutils.get_or_insert_function(module, ir.FunctionType(ir.VoidType(), [i64] * 8), f"tile_{rows}")
    if function.is_declaration:
        function.linkage = "linkonce_odr"
        function.attributes.add("noinline")
        builder = ir.IRBuilder(function.append_basic_block("entry"))
        _write_tile(builder, rows, *function.args)
        builder.ret_void()
    return function


def _write_tile(
    builder: Any, rows: int, out: Any, out_row: Any, a: Any, a_row: Any, a_k: Any, b: Any, count: Any, add: Any
) -> None:
    """The instructions of a tile: all of it stays in registers while k goes on."""
    f32, i32, i64 = ir.FloatType(), ir.IntType(32), ir.IntType(64)
    vector, parts = ir.VectorType(f32, 16), range(_LANES // 16)
    fma = cgutils.get_or_insert_function(builder.module, ir.FunctionType(vector, [vector] * 3), "llvm.fma.v16f32")
    everywhere = ir.Constant(ir.VectorType(i32, 16), [ir.Constant(i32, 0)] * 16)

    def load(address: Any, kind: Any) -> Any:
        return builder.load(builder.inttoptr(address, kind.as_pointer()), align=4)

    def moved(address: Any, times: Any, step: Any) -> Any:
        return builder.add(address, builder.mul(builder.mul(times, step), ir.Constant(i64, 4)))

    cells = [(i, part) for i in range(rows) for part in parts]
    places = {
        (i, part): builder.add(moved(out, ir.Constant(i64, i), out_row), ir.Constant(i64, 64 * part))
        for i, part in cells
    }
    sums = {cell: cgutils.alloca_once(builder, vector) for cell in cells}
    with builder.if_else(builder.icmp_unsigned("!=", add, ir.Constant(i64, 0))) as (then, otherwise):
        with then:
            for cell in cells:
                builder.store(load(places[cell], vector), sums[cell])
        with otherwise:
            for cell in cells:
                builder.store(ir.Constant(vector, [ir.Constant(f32, 0.0)] * 16), sums[cell])
    with cgutils.for_range(builder, count, intp=i64) as loop:
        row, column = moved(b, loop.index, ir.Constant(i64, _LANES)), moved(a, loop.index, a_k)
        right = [load(builder.add(row, ir.Constant(i64, 64 * part)), vector) for part in parts]
        for i in range(rows):
            one = load(moved(column, ir.Constant(i64, i), a_row), f32)
            first = builder.insert_element(ir.Constant(vector, ir.Undefined), one, ir.Constant(i32, 0))
            left = builder.shuffle_vector(first, first, everywhere)
            for part in parts:
                total = builder.call(fma, [left, right[part], builder.load(sums[i, part])])
                builder.store(total, sums[i, part])
    for cell in cells:
        builder.store(builder.load(sums[cell]), builder.inttoptr(places[cell], vector.as_pointer()), align=4)


_most, _four, _two, _single = (_tile(rows) for rows in (_ROWS, 4, 2, 1))


@compiled
def _packed(matrix: Array, turned: bool) -> Array:
    """A matrix [K, N], or [N, K] if turned, as tiles want it: [its panels of `_LANES` columns, K, _LANES]."""
    inner, columns = (matrix.shape[1], matrix.shape[0]) if turned else matrix.shape
    panels = np.empty(((columns + _LANES - 1) // _LANES, inner, _LANES), _FLOAT)
    for p in range(panels.shape[0]):
        panel, start = panels[p], p * _LANES
        there = min(_LANES, columns - start)
        for k in range(inner):
            for j in range(there):
                panel[k, j] = matrix[start + j, k] if turned else matrix[k, start + j]
            for j in range(there, _LANES):
                panel[k, j] = 0
    return panels


@compiled
def _panel(out: Array, at: int, a: int, a_row: int, a_k: int, rows: int, b: int, count: int, add: bool) -> None:
    """All rows of a panel, whose columns begin at `at`."""
    step, i = out.shape[1], 0
    while i < rows:
        target, left = out[i, at:].ctypes.data, a + 4 * i * a_row
        if rows - i >= _ROWS:
            _most(target, step, left, a_row, a_k, b, count, add)
            i += _ROWS
        elif rows - i >= 4:
            _four(target, step, left, a_row, a_k, b, count, add)
            i += 4
        elif rows - i >= 2:
            _two(target, step, left, a_row, a_k, b, count, add)
            i += 2
        else:
            _single(target, step, left, a_row, a_k, b, count, add)
            i += 1


@compiled
def _multiply(a: int, a_row: int, a_k: int, rows: int, panels: Array, out: Array, add: bool) -> None:
    """Into out [at least `rows`, N]: a, `rows` rows from an address on, times a packed matrix."""
    inner, columns = panels.shape[1], out.shape[1]
    if inner == 0 and not add:
        out[:rows] = 0
    rest = np.empty((rows, _LANES), _FLOAT) if columns % _LANES else np.empty((0, 0), _FLOAT)
    for k in range(0, inner, _DEPTH):
        count, more = min(_DEPTH, inner - k), add or k > 0
        for p in range(panels.shape[0]):
            at, left, right = p * _LANES, a + 4 * k * a_k, panels[p, k].ctypes.data
            if at + _LANES <= columns:
                _panel(out, at, left, a_row, a_k, rows, right, count, more)
                continue
            if more:
                rest[:, : columns - at] = out[:rows, at:]
            _panel(rest, 0, left, a_row, a_k, rows, right, count, more)
            out[:rows, at:] = rest[:, : columns - at]


@one_at_a_time
@compiled
def multiply(left: Array, left_turned: bool, right: Array, right_turned: bool, out: Array, add: bool) -> None:
    """out [M, N] = left [M, K] times right [K, N], or that is added; what is turned is stored the other way round."""
    panels = _packed(right, right_turned)
    if left_turned:
        _multiply(left.ctypes.data, 1, left.shape[1], left.shape[1], panels, out, add)
    else:
        _multiply(left.ctypes.data, left.shape[1], 1, left.shape[0], panels, out, add)


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


@compiled
def _step(sizes: Array, starts: Array, number: int, reverse: bool) -> tuple[int, int, int, int]:
    """Of the step that is read as this one: its first row, its rows, and how many go on from which row before them."""
    last = sizes.size - 1
    now = last - number if reverse else number
    if number == 0:
        return starts[now], sizes[now], 0, 0
    before = now + 1 if reverse else now - 1
    return starts[now], sizes[now], starts[before], min(sizes[now], sizes[before])


@one_at_a_time
@compiled
def advance(
    gates: Array, states: Array, at: int, inside: Array, weight: Array, bias: Array, sizes: Array, reverse: bool
) -> None:
    """All steps of a direction, whose states are columns from `at` on of states [T, 2 H].

    In: gates [T, 3 H] with what comes from the input; weight [3 H, H]; bias [4 H], of the gates and of what the reset
    gate acts on. Out: the gates themselves, the states, and inside [T, H], what the reset gate acts on.
    """
    width, wide = inside.shape[1], states.shape[1]
    starts = np.cumsum(sizes) - sizes
    panels = _packed(weight, True)
    product = np.empty((sizes[0], 3 * width), _FLOAT)
    fraction, bits = np.empty(2 * width, _FLOAT), np.empty(2 * width, _INT)
    power = bits.view(_FLOAT)
    for number in range(sizes.size):
        now, count, before, going = _step(sizes, starts, number, reverse)
        if going:
            _multiply(states[before, at:].ctypes.data, wide, 1, going, panels, product, False)
        for i in range(count):
            row, out, acted = gates[now + i], states[now + i, at : at + width], inside[now + i]
            for j in range(3 * width):
                row[j] += bias[j]
            for j in range(width):
                acted[j] = bias[3 * width + j]
            if i < going:
                for j in range(2 * width):
                    row[j] += product[i, j]
                for j in range(width):
                    acted[j] += product[i, 2 * width + j]
            both, new, update = row[: 2 * width], row[2 * width :], row[width : 2 * width]
            _sigmoid(both, fraction, bits, power)
            for j in range(width):
                new[j] = _TWO * (new[j] + both[j] * acted[j])
            _sigmoid(new, fraction, bits, power)
            for j in range(width):  # tanh(x) = 2 sigmoid(2 x) - 1
                new[j] = _TWO * new[j] - _ONE
                out[j] = new[j] - update[j] * new[j]
            if i < going:
                last = states[before + i, at : at + width]
                for j in range(width):
                    out[j] += update[j] * last[j]


@one_at_a_time
@compiled
def retreat(
    gates: Array,
    states: Array,
    at: int,
    inside: Array,
    total: Array,
    weight: Array,
    of_state: Array,
    of_new: Array,
    sizes: Array,
    reverse: bool,
) -> None:
    """The same steps backwards.

    In: total [T, 2 H], the gradients of states as far as they are used outside. Out: total, now of all that comes of a
    state; of_state [T, 3 H] and of_new [T, H], gradients of the sums in the three gates that come from the state
    before, and of the one in the tanh that comes from the input.
    """
    width = inside.shape[1]
    starts = np.cumsum(sizes) - sizes
    panels = _packed(weight, False)
    product = np.empty((sizes[0], width), _FLOAT)
    after, come = 0, 0
    for number in range(sizes.size - 1, -1, -1):
        now, count, before, going = _step(sizes, starts, number, reverse)
        if come:
            _multiply(of_state[after].ctypes.data, 3 * width, 1, come, panels, product, False)
        for i in range(count):
            row, acted = gates[now + i], inside[now + i]
            whole = total[now + i, at : at + width]
            if i < come:
                later, kept = total[after + i, at : at + width], gates[after + i, width : 2 * width]
                for j in range(width):
                    whole[j] += product[i, j] + later[j] * kept[j]
            out, direct = of_state[now + i], of_new[now + i]
            for j in range(width):
                reset, update, new = row[j], row[width + j], row[2 * width + j]
                inner = whole[j] * (_ONE - update) * (_ONE - new * new)
                direct[j] = inner
                out[2 * width + j] = inner * reset
                out[j] = inner * acted[j] * reset * (_ONE - reset)
                out[width + j] = -whole[j] * new * update * (_ONE - update)
            if i < going:
                last = states[before + i, at : at + width]
                for j in range(width):
                    out[width + j] += whole[j] * last[j] * row[width + j] * (_ONE - row[width + j])
        after, come = now, going
