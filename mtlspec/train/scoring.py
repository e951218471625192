"""Dev while a model trains: its scores after an epoch, and those that are only looked at on the way."""

from __future__ import annotations

from typing import Any

from mtlspec.errors import StageError
from mtlspec.model.mixed import Reading
from mtlspec.model.predict import count_corpora, mean_score, predict_corpora, score
from mtlspec.model.task import SILENT
from mtlspec.model.uncertainty import uncertainty
from mtlspec.spec.models import TrainOptions
from mtlspec.train.state import TrainState


def dev_scores(state: TrainState) -> dict[str, dict[str, float]]:
    """Task -> metric -> percent, of the tasks whose dev labels give a score; training goes on as if nothing were."""
    model, corpora = state.model, state.corpora
    counts = count_corpora(model, corpora, "dev", predict_corpora(model, corpora, "dev", state.limits))
    scores = score(model, {name: rows for name, rows in counts.items() if name not in state.unscored})
    state.frozen.train()
    return scores


def watch(state: TrainState, options: TrainOptions) -> None:
    """Note the scores of dev where `evaluate_every` asks for them, and at the end; an epoch's are not made twice."""
    every = options.watched
    if every is None or not (state.update % every.updates == 0 or state.done):
        return
    last = state.epochs[-1] if state.epochs else None
    scores = last["scores"] if last is not None and last["update"] == state.update else dev_scores(state)
    whole = mean_score(state.model, scores) if scores and not state.unscored else None
    point: dict[str, Any] = {"update": state.update, "scores": scores, "mean": whole}
    if every.entropy:
        point["entropy"] = _entropies(state)
    state.curve.append(point)


def _entropies(state: TrainState) -> dict[str, float]:
    """Task -> the mean normalised entropy of its dev predictions, of the tasks whose type has one."""
    found = {}
    for number, task in enumerate(state.model.tasks):
        split = state.corpora.of(task).split("dev")
        try:
            (unsure,) = uncertainty(state.model, [Reading(number, split, task.rows(split))], state.limits)
        except StageError as error:
            if error.code != SILENT:
                raise
        else:
            found[task.name] = float(unsure.double().mean())
    return found
