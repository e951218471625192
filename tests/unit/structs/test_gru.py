"""The packed GRU against torch's own, states and gradients, for any lengths; and the gates far from zero."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence

from mtlspec.model.encoder import bigru
from mtlspec.structs._gru_numba import multiply
from mtlspec.structs.packing import Packing
from mtlspec.track.environment import cpu_facts

LENGTHS = st.lists(st.integers(1, 6), min_size=1, max_size=5)


def _sequences(lengths: list[int], size: int) -> Tensor:
    """Padded with what must not be read: [B, N, size]."""
    padded = torch.randn(len(lengths), max(lengths), size)
    for row, length in zip(padded, lengths, strict=True):
        row[length:] = torch.nan
    return padded


@given(LENGTHS)
def test_packed_rows_are_those_of_torch_and_know_their_neighbours(lengths: list[int]) -> None:
    padded = _sequences(lengths, 2)
    packing = Packing.of(torch.tensor(lengths))
    rows = padded.flatten(0, 1)[packing.source]
    theirs = pack_padded_sequence(padded, torch.tensor(lengths), batch_first=True, enforce_sorted=False)
    assert torch.equal(rows.sort(0).values, theirs.data.sort(0).values)
    assert packing.sizes == theirs.batch_sizes.tolist()
    for sequence, length in enumerate(lengths):
        assert torch.equal(rows[packing.first[sequence]], padded[sequence, 0])
        assert torch.equal(rows[packing.last[sequence]], padded[sequence, length - 1])
    assert torch.equal(packing.source[packing.before] + 1, packing.source[len(lengths) :])


@pytest.mark.parametrize("width", [3, 140], ids=["narrow", "as wide as pays for oneDNN"])
@pytest.mark.parametrize("layers", [1, 2])
def test_states_and_gradients_are_those_of_torch(width: int, layers: int) -> None:
    torch.manual_seed(5)
    module = nn.GRU(4, width, layers, batch_first=True, bidirectional=True)
    lengths = torch.randint(1, 9, (20,))
    padded = torch.randn(20, 8, 4, requires_grad=True)
    packing = Packing.of(lengths)
    ours = bigru.read(module, padded.flatten(0, 1)[packing.source], packing)
    packed, last = module(pack_padded_sequence(padded, lengths, batch_first=True, enforce_sorted=False))
    aligned = packed.data[torch.argsort(_positions(packed, lengths))][torch.argsort(torch.argsort(packing.source))]
    torch.testing.assert_close(ours, aligned, rtol=0, atol=1e-6)
    torch.testing.assert_close(bigru.ends(ours, packing), torch.cat([last[-2], last[-1]], 1), rtol=0, atol=1e-6)
    weight = torch.randn_like(ours)
    leaves = [padded, *module.parameters()]
    for mine, theirs in zip(
        torch.autograd.grad((ours * weight).sum(), leaves),
        torch.autograd.grad((aligned * weight).sum(), leaves),
        strict=True,
    ):
        torch.testing.assert_close(mine, theirs, rtol=1e-4, atol=1e-5 * float(theirs.abs().max()))


def _positions(packed: nn.utils.rnn.PackedSequence, lengths: Tensor) -> Tensor:
    """Where each row of torch's packing stands in the padded batch, flattened."""
    assert packed.sorted_indices is not None
    width = int(lengths.max())
    steps = [packed.sorted_indices[:count] * width + step for step, count in enumerate(packed.batch_sizes.tolist())]
    return torch.cat(steps)


@given(LENGTHS, st.booleans())
def test_any_lengths_give_the_states_of_each_sequence_alone(lengths: list[int], trained: bool) -> None:
    torch.manual_seed(1)
    module = nn.GRU(2, 3, 2, batch_first=True, bidirectional=True).train(trained)
    padded, packing = _sequences(lengths, 2), Packing.of(torch.tensor(lengths))
    with torch.no_grad():
        ours = bigru.read(module, padded.flatten(0, 1)[packing.source], packing)
        place = torch.empty(padded[..., 0].numel(), dtype=torch.int64)
        place[packing.source] = torch.arange(len(ours))
        for own, sequence, length in zip(place.view(len(lengths), -1), padded, lengths, strict=True):
            alone, _ = module(sequence[:length].unsqueeze(0))
            torch.testing.assert_close(ours[own[:length]], alone[0], rtol=0, atol=1e-6)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 30.0, 1e4])
def test_gates_are_right_at_any_size(scale: float) -> None:
    torch.manual_seed(2)
    module = nn.GRU(1, 40, 1, batch_first=True, bidirectional=True)
    rows = torch.linspace(-scale, scale, 61).unsqueeze(1)
    packing = Packing.of(torch.tensor([61]))
    with torch.no_grad():
        theirs, _ = module.double()(rows.double().unsqueeze(0))
        torch.testing.assert_close(bigru.read(module.float(), rows, packing).double(), theirs[0], rtol=0, atol=2e-6)


def test_dropout_keeps_the_share_and_the_mean_and_repeats_with_the_seed() -> None:
    module = nn.GRU(3, 50, 2, batch_first=True, bidirectional=True, dropout=0.25)
    rows, packing = torch.randn(400, 3), Packing.of(torch.full((20,), 20))
    torch.manual_seed(1)
    kept = bigru._kept(torch.empty(1001, 101), 0.25)
    assert kept.unique().tolist() == [0.0, pytest.approx(4 / 3)]
    assert float((kept == 0).float().mean()) == pytest.approx(0.25, abs=0.005)
    found = []
    for _ in range(2):
        torch.manual_seed(1)
        found.append(bigru.read(module, rows, packing))
    assert torch.equal(*found)
    assert not torch.equal(found[0], bigru.read(module, rows, packing)), "another draw"
    assert torch.equal(bigru.read(module.eval(), rows, packing), bigru.read(module, rows, packing))


def test_other_precisions_go_through_torch() -> None:
    module = nn.GRU(3, 4, 2, batch_first=True, bidirectional=True).double()
    rows, packing = torch.randn(6, 3, dtype=torch.float64), Packing.of(torch.tensor([4, 2]))
    assert bigru.read(module, rows, packing).dtype == torch.float64


@given(LENGTHS, st.integers(1, 35))
def test_any_lengths_and_widths_give_the_gradients_of_torch(lengths: list[int], width: int) -> None:
    torch.manual_seed(1)
    module = nn.GRU(2, width, 2, batch_first=True, bidirectional=True)
    padded = torch.randn(len(lengths), max(lengths), 2, requires_grad=True)
    packing = Packing.of(torch.tensor(lengths))
    place = torch.empty(padded[..., 0].numel(), dtype=torch.int64)
    ours = bigru.read(module, padded.flatten(0, 1)[packing.source], packing)
    place[packing.source] = torch.arange(len(ours))
    theirs = [module(sequence[:length].unsqueeze(0))[0][0] for sequence, length in zip(padded, lengths, strict=True)]
    mine = [ours[own[:length]] for own, length in zip(place.view(len(lengths), -1), lengths, strict=True)]
    leaves = [padded, *module.parameters()]
    weight = torch.randn(len(ours), 2 * width)
    found, wanted = (torch.autograd.grad((torch.cat(rows) * weight).sum(), leaves) for rows in (mine, theirs))
    for one, other in zip(found, wanted, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5 * max(1.0, float(other.abs().max())))


@given(
    st.integers(1, 30), st.integers(0, 20), st.integers(1, 70), st.booleans(), st.booleans(), st.booleans(),
    st.integers(0, 2**32 - 1),
)  # fmt: skip
def test_a_product_is_one_sum_in_order_to_the_bit(
    rows: int, inner: int, columns: int, left_turned: bool, right_turned: bool, add: bool, seed: int
) -> None:
    """So neither the width of vectors nor the size of tiles can be seen in it."""
    draw = np.random.default_rng(seed)
    left, right, out = (
        draw.standard_normal(shape, np.float32) for shape in ((rows, inner), (inner, columns), (rows, columns))
    )
    wanted = out.astype(np.float64) if add else np.zeros((rows, columns))
    for k in range(inner):  # the product of two numbers of 24 bits is exact in 53
        wanted = (left[:, k : k + 1].astype(np.float64) * right[k] + wanted).astype(np.float32).astype(np.float64)
    stored = [np.ascontiguousarray(m.T if turn else m) for m, turn in ((left, left_turned), (right, right_turned))]
    multiply(stored[0], left_turned, stored[1], right_turned, out, add)
    assert np.array_equal(out, wanted.astype(np.float32))


def test_long_sums_are_cut_without_a_trace() -> None:
    draw = np.random.default_rng(1)
    left, right = draw.standard_normal((2, 1300), np.float32), draw.standard_normal((1300, 3), np.float32)
    whole, parts = np.empty((2, 3), np.float32), np.zeros((2, 3), np.float32)
    multiply(left, False, right, False, whole, False)
    for start in range(0, 1300, 100):
        cut = slice(start, start + 100)
        multiply(np.ascontiguousarray(left[:, cut]), False, right[cut], False, parts, True)
    assert np.array_equal(whole, parts)


def bits() -> str:
    """A digest of states and gradients of a layer that has rows, columns and panels of all kinds."""
    torch.manual_seed(7)
    torch.set_num_threads(1)
    module = nn.GRU(21, 37, 1, batch_first=True, bidirectional=True)
    packing = Packing.of(torch.randint(1, 9, (23,)))
    rows = torch.randn(len(packing.source), 21, requires_grad=True)
    states = bigru.read(module, rows, packing)
    found = (states, *torch.autograd.grad(states.square().sum(), [rows, *module.parameters()]))
    return hashlib.sha256(b"".join(tensor.detach().numpy().tobytes() for tensor in found)).hexdigest()


@pytest.mark.slow  # compiled anew for a processor that has less
@pytest.mark.skipif("avx512f" not in cpu_facts()["features"], reason="this processor has no wider vectors to compare")
def test_processors_with_narrower_vectors_give_the_same_bits() -> None:
    features = "+sse4.2,+avx,+avx2,+fma,+bmi,+bmi2"
    narrow = {"ATEN_CPU_CAPABILITY": "avx2", "NUMBA_CPU_NAME": "haswell", "NUMBA_CPU_FEATURES": features}
    command = [sys.executable, "-c", f"from {__name__} import bits; print(bits())"]
    wide = {"ATEN_CPU_CAPABILITY": "avx2"}  # sums of biases are torch's, and stages have it so
    found = [
        subprocess.run(command, env={**os.environ, **more}, capture_output=True, text=True, check=True).stdout
        for more in (wide, narrow)
    ]
    assert found[0] == found[1] and len(found[0]) == 65
