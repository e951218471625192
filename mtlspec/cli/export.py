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
)


def command(
    model: Model,
    folder: Annotated[Path, typer.Argument(help="A new folder.")],
    task: Annotated[str | None, typer.Option(help="Only this task.")] = None,
) -> None:
    """Take a trained model elsewhere: a folder that transformers, MLflow and mtlspec read.

    Of one task whose decoder is a head of transformers (a linear tagger; a classifier built like the family's own) it
    is a model of transformers with labels and tokenizer. Else its encoder is, in encoder/, and the decoders are
    mtlspec's. Gates of heads are folded into the weights. What is written was read back and computes the same.
    """
    from mtlspec.cli import console
    from mtlspec.cli.prediction import ready
    from mtlspec.use.export import export_model

    made = export_model(ready(model, None, "cpu"), folder, task)
    same = "proven equal" + (f" but for {made.difference:.1e}" if made.difference else " to the bit")
    if made.pipeline is not None:
        console.say(f"{folder}: task '{made.tasks[0]}' as a {made.pipeline} model of transformers, {same}")
    else:
        console.say(f"{folder}: {', '.join(made.tasks)}; encoder/ is a plain model of transformers, {same}")
        console.note(f"the decoders are read by mtlspec alone: {made.why}")
