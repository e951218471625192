"""`mtlspec predict`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

EXAMPLES = (
    "echo 'Anna sees the old house.' | mtlspec predict {spec}/mtl-all-s1",
    "mtlspec predict {spec}/mtl-all-s1 news.txt --files predicted",
    "mtlspec predict {spec}/mtl-all-s1 book.txt --input documents",
    "mtlspec predict {spec}/mtl-all-s1 --card {data} -o test.jsonl",
    "mtlspec predict {spec}/mtl-all-s1 trees.conllu --reader conllu --task pos",
)


def complete_model(incomplete: str) -> list[str]:
    """Runs, then the models of one."""
    from mtlspec.errors import MtlspecError
    from mtlspec.io.project import Project
    from mtlspec.use.models import model_names, run_names

    try:
        project = Project.find()
    except MtlspecError:
        return []
    run, slash, _ = incomplete.partition("/")
    if not slash:
        return [f"{name}/" for name in run_names(project) if name.startswith(incomplete)]
    known = model_names(project.run(run)) if run in run_names(project) else []
    return [name for name in (f"{run}/{model}" for model in known) if name.startswith(incomplete)]


Model = Annotated[
    str,
    typer.Argument(
        metavar="MODEL", help="`spec/model` of a run, or a trained model's folder.", autocompletion=complete_model
    ),
]


def command(
    model: Model,
    files: Annotated[
        list[str] | None, typer.Argument(metavar="FILE", help="What to predict; `-`, or none: standard input.")
    ] = None,
    input_: Annotated[
        Literal["text", "words", "pairs", "documents"],
        typer.Option("--input", help="What a line of a plain file is; or each file is a document."),
    ] = "text",
    sentences: Annotated[
        Literal["rules", "lines", "paragraphs"] | None,
        typer.Option("--sentences", help="What ends a sentence of a document (rules); docs/use.md says it."),
    ] = None,
    tokens: Annotated[
        Literal["rules", "blanks"], typer.Option("--tokens", help="How text becomes words; docs/use.md says it.")
    ] = "rules",
    reader: Annotated[
        str | None, typer.Option(metavar="READER", help="Format of the files: a name, or options as in a data card.")
    ] = None,
    card: Annotated[
        str | None, typer.Option(metavar="CARD", help="Data card that says the format; without files: its corpus.")
    ] = None,
    split: Annotated[str, typer.Option(help="Split of the card's corpus.")] = "test",
    task: Annotated[list[str] | None, typer.Option("--task", help="Only this task. Repeatable.")] = None,
    probabilities: Annotated[
        bool, typer.Option("--probabilities", help="Of the labels, where a decoder has them.")
    ] = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="JSON lines go to this file, not to standard output.")
    ] = None,
    folder: Annotated[
        Path | None, typer.Option("--files", metavar="FOLDER", help="Each task's own format goes to a new folder.")
    ] = None,
    keep_going: Annotated[
        bool, typer.Option("--keep-going", help="Name malformed examples and leave them out; exit code 1 then.")
    ] = False,
    batch: Annotated[int | None, typer.Option(min=1, help="Sentences in a batch; default: as evaluated.")] = None,
    window: Annotated[int, typer.Option(min=1, help="Examples held at a time; 1 answers line by line.")] = 4096,
    longest: Annotated[int | None, typer.Option(min=1, help="Words of the longest example that is read.")] = None,
    threads: Annotated[int | None, typer.Option(min=1, help="Default: as evaluated, for the same bits.")] = None,
    device: Annotated[str | None, typer.Option(help="Default: as evaluated, if it is there.")] = None,
) -> int:
    """Predict new text with a trained model: all its tasks, or some.

    A line is a sentence, unless --input, --reader or --card says otherwise; of --input documents, each sentence comes
    with its place in its document. For each example a line of JSON has the
    predictions of all tasks side by side; --files writes what an evaluation writes. Input of any length is read in
    windows.
    """
    from mtlspec.cli.prediction import opened, ready, written
    from mtlspec.cli.stopping import explained

    given = opened(files or [], input_, sentences, reader, card, split, keep_going)
    predictor = ready(model, threads, device)
    limits = predictor.found.limits.model_copy(update={"sentences": batch} if batch is not None else {})
    asking = predictor.asking(
        task or (), probabilities, limits=limits, tokens=tokens, window=window, longest=longest, keep_going=keep_going
    )
    with explained("interrupted: nothing was written to files"):
        return written(predictor, given, asking, output, folder)
