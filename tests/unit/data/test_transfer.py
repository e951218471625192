"""Tensors on their way to a GPU: from pinned memory, and without waiting."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from mtlspec.data.transfer import to_device


class _Followed(torch.Tensor):
    """A tensor that says what is done with it instead of asking for a GPU."""

    steps: list[tuple[object, ...]]

    def pin_memory(self, *_: Any) -> _Followed:
        self.steps.append(("pinned",))
        return self

    def to(self, device: torch.device, non_blocking: bool = False) -> _Followed:  # type: ignore[override]
        self.steps.append((str(device), non_blocking))
        return self


@pytest.mark.parametrize(
    ("at", "wanted", "steps"),
    [
        ("cpu", "cuda:1", [("pinned",), ("cuda:1", True)]),
        ("cpu", torch.device("cuda"), [("pinned",), ("cuda", True)]),
        ("cpu", "cpu", [("cpu", True)]),
        ("cpu", "mps", [("mps", True)]),
        ("meta", "cuda", [("cuda", True)]),  # only what lies in the memory of the CPU can be pinned
    ],
)
def test_what_goes_to_a_gpu_is_pinned_first(at: str, wanted: torch.device | str, steps: list[object]) -> None:
    tensor = torch.zeros(2, device=at).as_subclass(_Followed)
    tensor.steps = []
    assert to_device(tensor, wanted) is tensor
    assert tensor.steps == steps
