"""Numbers that training needs of tensors: floats on a CPU; on a GPU they stay there until somebody must know them.

To read one number from a GPU is to wait for everything that was asked of it before. So losses, weights and norms are
tensors there, the history reads many of them at once, and whoever wants one now takes `float` of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor

    Number = float | Tensor
    """A float, or a double [] on a device."""


def number(value: Tensor) -> Number:
    """The value [] of a tensor, without waiting for a device."""
    return value.item() if value.device.type == "cpu" else value.detach().double()


def times(value: Tensor, factor: Number) -> Tensor:
    """A tensor of the same precision."""
    return value * (factor if isinstance(factor, float) else factor.to(value.dtype))


def ratio(whole: Number, part: Number) -> Number:
    """whole / part; 1 if the part is not above zero."""
    if isinstance(part, float):
        return whole / part if part > 0 else 1.0
    import torch

    return torch.where(part > 0, whole / part, torch.ones_like(part))
