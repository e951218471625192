"""`mtlspec export`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mtlspec.cli.predict import Model

EXAMPLES = (
    "mtlspec export {spec}/stl-pos-s1 tagger",
    "mtlspec export {spec}/mtl-all-s1 tagger --task pos",
    "mtlspec export {spec}/mtl-all-s1 everything",
    "mtlspec export {spec}/mtl-all-s1 --log",
)


def command(
    model: Model,
    folder: Annotated[Path | None, typer.Argument(metavar="DIR", help="A new folder.", show_default=False)] = None,
    task: Annotated[str | None, typer.Option(help="Only this task.")] = None,
    log: Annotated[bool, typer.Option("--log", help="Log it in MLflow, on the run of its training.")] = False,
) -> None:
    """Take a trained model elsewhere: a folder that transformers, MLflow and mtlspec read.

    Of one task whose decoder is a head of transformers (a linear tagger; a classifier built like the family's own) it
    is a model of transformers with labels and tokenizer. Else its encoder is, in encoder/, and the decoders are
    mtlspec's. Gates of heads are folded into the weights. What is written was read back and computes the same.
    With --log it is a model of MLflow, too, and a folder need not be named: in the project's own store, or at the
    server that MLFLOW_TRACKING_URI names. The same model is logged once.
    """
    from mtlspec.cli.exporting import logged, made_of, opened, require_place, require_run
    from mtlspec.cli.prediction import ready

    require_place(folder, log)
    if log:
        require_run(model)
    predictor = ready(model, None, "cpu")
    with opened(folder, predictor) as out:
        made_of(predictor, out, task, folder is not None)
        if log:
            logged(predictor, out, task)
