"""What `train.freeze` stands for in an encoder of so many layers: asked by `check`, if it can, and by training."""

from __future__ import annotations

from mtlspec.spec.models import FrozenPart

ALONE = "`freeze: {layers: 0}` freezes the embeddings alone"


def frozen_part(freeze: FrozenPart | float, layers: int) -> FrozenPart:
    """The layers that a share of them is."""
    return FrozenPart(layers=round(freeze * layers)) if isinstance(freeze, float) else freeze


def freeze_problem(freeze: FrozenPart | float, layers: int) -> tuple[str, str] | None:
    """Why it cannot be meant, and what to do; None if it can."""
    part = frozen_part(freeze, layers)
    if part.layers > layers:
        return f"`freeze` names {part.layers} layers, but the encoder has {layers}", (
            "name fewer, or a share of them such as 0.5"
        )
    if isinstance(freeze, float) and not part.layers:
        return f"`freeze: {freeze}` is a share of {layers} layers that rounds to none", f"name more; {ALONE}"
    if not part.layers and not part.embeddings:
        return "`freeze` names neither layers nor embeddings", f"leave it out; {ALONE}"
    return None
