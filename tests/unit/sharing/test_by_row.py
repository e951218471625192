"""Strategies that condition every row on its task, in all families: how they start, and batches in which tasks meet."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest
import torch

from tests.unit.model.encoder import many, small
from tests.unit.sharing import conditioned

CASES: dict[str, dict[str, Any]] = {
    "ca_mtl": {"bottleneck": "none"},
    "ca_mtl base": {"bottleneck_start": "identity"},
    "ca_mtl large": {"bottleneck": "large", "bottleneck_start": "identity"},
    "ca_mtl paper": {
        "length": 20,
        "matrix": True,
        "attention_film": "paper",
        "full_block": True,
        "bottleneck_start": "identity",
    },
    "adapters": {"size": 5},
    "pals": {"size": 12, "heads": 3},
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("family", many.FAMILIES)
def test_it_starts_as_the_encoder_and_rows_of_mixed_batches_are_as_if_alone(family: str, case: str) -> None:
    encoder = conditioned.encoder(family)
    sharing = conditioned.strategy(case.partition(" ")[0], encoder, **CASES[case])
    batch = conditioned.batch(2, 0, 1)
    with torch.no_grad():
        plain = encoder(batch).pieces[batch.piece_mask]
        near = 1e-3 if case == "adapters" else 1e-5  # adapters start near the identity
        torch.testing.assert_close(conditioned.pieces(sharing, batch), plain, rtol=0, atol=near)
        conditioned.shake(sharing)
        mixed = sharing.encode(batch).pieces
        for row in range(3):
            own = conditioned.alone(batch, row)
            found = conditioned.pieces(sharing, own)
            torch.testing.assert_close(mixed[row][batch.piece_mask[row]], found, rtol=0, atol=1e-5)
            other = conditioned.pieces(sharing, replace(own, tasks=(own.tasks + 1) % 3))
            assert (found - other).abs().max() > 1e-3, "tasks make a difference"
        assert torch.equal(encoder(batch).pieces[batch.piece_mask], plain), "the encoder itself stays what it is"


@pytest.mark.parametrize("case", CASES)
def test_windows_of_long_sentences_belong_to_their_tasks(case: str) -> None:
    encoder = conditioned.encoder()
    encoder.max_pieces = 12
    sharing = conditioned.strategy(case.partition(" ")[0], encoder, **CASES[case])
    conditioned.shake(sharing)
    batch = replace(small.batch(30, 5), tasks=torch.tensor([1, 2]))
    with torch.no_grad():
        mixed = sharing.encode(batch).pieces
        for row in range(2):
            found = conditioned.pieces(sharing, conditioned.alone(batch, row))
            torch.testing.assert_close(mixed[row][batch.piece_mask[row]], found, rtol=0, atol=1e-5)


@pytest.mark.parametrize("case", CASES)
def test_a_copy_is_a_strategy_of_its_own(case: str) -> None:
    sharing = conditioned.strategy(case.partition(" ")[0], **CASES[case])
    conditioned.shake(sharing)
    batch = conditioned.batch(2, 0, 1)
    copied = deepcopy(sharing)
    with torch.no_grad():
        wanted = conditioned.pieces(sharing, batch)
        assert torch.equal(conditioned.pieces(copied, batch), wanted)
        conditioned.shake(copied)
        assert not torch.allclose(conditioned.pieces(copied, batch), wanted, atol=1e-3)
        assert torch.equal(conditioned.pieces(sharing, batch), wanted)


@pytest.mark.parametrize("kind", ["ca_mtl", "adapters", "pals"])
def test_rows_without_tasks_are_refused(kind: str) -> None:
    sharing = conditioned.strategy(kind)
    with pytest.raises(ValueError, match="no tasks"):
        sharing.encode(small.batch(8, 5, 7))
    assert not sharing.task_free and not sharing.plain
