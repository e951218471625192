"""What measurements open: prepared data, and models whose heads have been proven to answer."""

from __future__ import annotations

from mtlspec.data.corpora import Corpora
from mtlspec.model.encoder.proof import require_sound_heads
from mtlspec.model.multitask import MultiTaskModel, load_model
from mtlspec.model.predict import scored_gold
from mtlspec.results.jobs import Measurement


def prepared_corpora(job: Measurement) -> Corpora:
    """The prepared data of every corpus that the model, or the spec, has."""
    return Corpora.load(job.inputs)


def undefined_scores(model: MultiTaskModel, corpora: Corpora, split: str) -> dict[str, str]:
    """Tasks whose labels of a split allow no score -> why, such as `constant gold`."""
    golds = {task: scored_gold(task, corpora.of(task).split(split)) for task in model.tasks}
    return {task.name: why for task, gold in golds.items() if gold and (why := task.metric.undefined(gold))}


def load_proven_model(job: Measurement) -> MultiTaskModel:
    """The trained model, on the job's device, after a short proof that its heads can be gated, captured and removed.

    Nothing is said about heads that do not answer.
    """
    model = load_model(job.inputs["train"], job.device)
    require_sound_heads(model.encoder)
    return model
