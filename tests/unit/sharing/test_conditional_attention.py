"""The matrix that conditional attention adds: its blocks, for every length."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from mtlspec.sharing._conditional_attention import BlockAttention, block_size


@pytest.mark.parametrize(("length", "block", "rows"), [(128, 22, [22] * 5 + [18]), (256, 86, [86, 86, 84])])
def test_blocks_of_bert_base(length: int, block: int, rows: list[int]) -> None:
    assert block_size(768, length, full=False) == block
    assert block_size(768, length, full=True) == length
    attention = BlockAttention(768, length, block, "columns", "identity")
    assert attention.matrix.shape == (length, block) and attention.film.generator.out_features == 2 * block
    assert not attention.matrix.any(), "nothing is added at the start"
    with torch.no_grad():
        attention.matrix.fill_(1.0)
        (found,) = attention(torch.randn(1, 768), length)[0]
    wanted = torch.block_diag(*(torch.ones(size, block) for size in rows))[:, :length]
    assert [size for size in rows if size] == [part.shape[0] for part in torch.arange(length).split(block)]
    assert torch.equal(found, wanted)


@settings(deadline=None, max_examples=60)
@given(
    width=st.integers(1, 40),
    length=st.integers(1, 17),
    asked=st.integers(1, 20),
    full=st.booleans(),
    entries=st.booleans(),
)
def test_the_matrix_is_the_direct_sum_of_modulated_blocks_cropped(
    width: int, length: int, asked: int, full: bool, entries: bool
) -> None:
    """Against the definition, row by row of the batch and block by block."""
    torch.manual_seed(width * 1000 + length)
    block = block_size(width, length, full)
    attention = BlockAttention(width, length, block, "entries" if entries else "columns", "released")
    with torch.no_grad():
        attention.matrix.normal_()
        attention.film.generator.weight.normal_()
        z = torch.randn(2, width)
        found = attention(z, asked)
        assert found.shape == (2, 1, asked, asked)
        for row in range(2):
            gamma, beta = attention.film.generator(z[row]).chunk(2)
            parts = []
            for stored in attention.matrix.split(block):
                shape = (block, block) if entries else (1, block)
                own = (1 + gamma.view(shape))[: len(stored)] * stored + beta.view(shape)[: len(stored)]
                parts.append(own)
            whole = torch.block_diag(*parts)[:, :length]
            whole = torch.nn.functional.pad(whole, (0, length - whole.shape[1]))
            wanted = torch.zeros(asked, asked)
            covered = min(asked, length)
            wanted[:covered, :covered] = whole[:covered, :covered]
            torch.testing.assert_close(found[row, 0], wanted, rtol=1e-5, atol=1e-5)
