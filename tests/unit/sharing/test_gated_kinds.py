"""What a spec's checks believe about heads of models, against models that are built."""

from __future__ import annotations

from pathlib import Path

import pytest

from mtlspec import kinds
from mtlspec.model.encoder.encoder import Encoder
from mtlspec.spec.families import SHARING


@pytest.mark.parametrize("kind", kinds.names(SHARING))
def test_the_checks_know_which_strategies_gate_or_choose_heads(kind: str, toy_encoder: Path) -> None:
    options = kinds.options_class(SHARING, kind).model_validate({"type": kind})
    sharing = options.build(Encoder.load(toy_encoder), ("pos", "ner"))  # type: ignore[attr-defined]
    assert options.gates_heads == (sharing.head_gates("gate") is not None)  # type: ignore[attr-defined]
    assert options.heads_by_task == (sharing.task_heads() is not None)  # type: ignore[attr-defined]
