"""The packed GRU against torch's own, states and gradients, for any lengths; and the gates far from zero."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence

from mtlspec.model.encoder import bigru
from mtlspec.structs.packing import Packing

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
