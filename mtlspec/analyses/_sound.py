"""Models for analyses of heads: nothing is said about heads that do not answer."""

from __future__ import annotations

from mtlspec.analyses._measured import Measurement
from mtlspec.model.encoder.proof import require_sound_heads
from mtlspec.model.multitask import MultiTaskModel, load_model


def load_sound_model(job: Measurement) -> MultiTaskModel:
    """The trained model, on the job's device, after a short proof that its heads can be gated, captured and removed."""
    model = load_model(job.inputs["train"], job.device)
    require_sound_heads(model.encoder)
    return model
