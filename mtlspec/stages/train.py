"""Stage `train`: one model of one seed, from the encoder and the prepared data to weights, history and dev scores."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

from pydantic import TypeAdapter

from mtlspec.data.corpora import Corpora
from mtlspec.errors import StageError
from mtlspec.io.write import write_json
from mtlspec.kinds import OneOf
from mtlspec.model.multitask import MultiTaskModel, build_model, start_from
from mtlspec.model.predict import flat_scores, undefined
from mtlspec.spec.encoders import AnEncoder, EncoderOptions
from mtlspec.spec.families import SHARING, TASKS, SharingOptions, TaskOptions
from mtlspec.spec.models import RunOptions, TrainOptions
from mtlspec.spec.selection import read_selection
from mtlspec.stages.context import StageContext, StageResult
from mtlspec.train.checkpoint import ResumePoints
from mtlspec.train.determinism import make_deterministic
from mtlspec.train.distilling import Distiller, load_teachers
from mtlspec.train.loop import Outcome, train

LENGTH, CURVE = "training.json", "curve.json"


def run(ctx: StageContext) -> StageResult:
    params = ctx.params
    options = TrainOptions.model_validate(params["train"])
    machine = RunOptions.model_validate(params["run"])
    tasks: dict[str, TaskOptions] = TypeAdapter(dict[str, Annotated[Any, OneOf(TASKS)]]).validate_python(
        params["tasks"]
    )
    if "select" in ctx.inputs:  # its order is that of a model of the same tasks which were known beforehand
        chosen = read_selection(ctx.inputs["select"])
        tasks = {name: task for name, task in tasks.items() if name in chosen}
    sharing: SharingOptions = TypeAdapter(Annotated[Any, OneOf(SHARING)]).validate_python(params["sharing"])
    device = make_deterministic(params["seed"], machine)
    corpora = Corpora.load(ctx.inputs)
    encoder: EncoderOptions = TypeAdapter(AnEncoder).validate_python(params["encoder"])
    built = encoder.build(ctx.inputs["encoder"])
    if options.distil is not None and options.distil.layers is not None:
        built.keep_layers(options.distil.layers)
    model = build_model(built, sharing, tasks, corpora.labels(tasks))
    _check_labelled(model, corpora, options)
    if "start" in ctx.inputs:
        start_from(model, ctx.inputs["start"], params["take"])
    model.to(device)
    points = ResumePoints(ctx.work, ctx.identity)
    distiller = Distiller(options.distil, model, load_teachers(ctx.inputs, device)) if options.distil else None
    outcome = train(model, corpora, options, machine, params["seed"], points, ctx.progress, distiller)
    model.save(ctx.out, tokenizer=ctx.inputs["encoder"])
    outcome.history.write(ctx.out / "history.parquet", list(tasks))
    write_json(ctx.out / "epochs.json", outcome.epochs)
    if options.watched is not None:
        write_json(ctx.out / CURVE, outcome.curve)
    write_json(ctx.out / LENGTH, [*_before(ctx.inputs.get("start")), _length(outcome)])
    return _result(outcome)


def _check_labelled(model: MultiTaskModel, corpora: Corpora, options: TrainOptions) -> None:
    """Every task has something to learn from, and something to choose the weights by."""
    for task in model.tasks:
        for split in ("train", "dev"):
            if not len(task.rows(corpora.of(task).split(split))):
                message = f"no example of the {split} split carries the layer '{task.layer}' of task '{task.name}'"
                raise StageError("E480", message, hint="name files that do, or hold them out with `hold_out`")
    for name, why in undefined(model, corpora, "dev").items() if options.keep == "best" else ():
        message = f"task '{name}': its dev split has {why}, so no epoch has a score and none can be chosen"
        raise StageError("E414", message, hint="take a larger dev split, or say `train.keep: last`")


def _before(start: Path | None) -> list[dict[str, Any]]:
    """How long the models were trained whose weights this one started from, the oldest first."""
    return json.loads((start / LENGTH).read_bytes()) if start is not None else []


def _length(outcome: Outcome) -> dict[str, Any]:
    """Updates that were planned and taken; of every task, the updates that it took part in and the examples it read."""
    tasks = {name: {"updates": seen["updates"], "examples": seen["read"]} for name, seen in outcome.examples.items()}
    return {"planned": outcome.planned, "updates": outcome.updates, "tasks": tasks}


def _result(outcome: Outcome) -> StageResult:
    best = next(epoch for epoch in reversed(outcome.epochs) if epoch["best"])
    seconds = max(outcome.seconds, 1e-9)
    return StageResult(
        scores=flat_scores(outcome.model, "dev", best["scores"]),
        facts={
            "best_epoch": best["epoch"],
            "epochs": outcome.epochs[-1]["epoch"],
            "updates": outcome.updates,
            "examples": outcome.examples,
            "parameters": outcome.model.sizes(),
        },
        timings={
            "train_seconds": outcome.seconds,
            "tokens_per_second": outcome.words / seconds,
            "sentences_per_second": outcome.sentences / seconds,
        },
    )
