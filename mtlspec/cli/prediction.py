"""What `mtlspec predict` is made of: the input that was named, the model made ready, the output with its progress."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from mtlspec.cli import console
from mtlspec.errors import Place, Problems, SpecError
from mtlspec.io.project import Project
from mtlspec.io.words import counted

if TYPE_CHECKING:
    from mtlspec.spec.card_families import ReaderOptions
    from mtlspec.spec.cards import DataCard, FileGroup
    from mtlspec.use.documents import Sentences
    from mtlspec.use.inputs import Input, PlainForm
    from mtlspec.use.predictor import Asking, Predictor


def opened(
    files: Sequence[str],
    form: PlainForm,
    sentences: Sentences | None,
    reader: str | None,
    card: str | None,
    split: str,
    keep_going: bool,
) -> Input:
    """The examples that a command line names."""
    from mtlspec.use.inputs import STDIN, plain, read_card, read_files, require_files

    if reader is not None and card is not None:
        raise SpecError("E550", "both say the format", Place("--reader, --card"), "name one")
    if sentences is not None and form != "documents":
        raise SpecError("E578", "this is about documents", Place("--sentences"), "say `--input documents`")
    if form != "text" and (reader or card) is not None:
        raise SpecError(
            "E579", "both say the format", Place(f"--input, --{'reader' if reader else 'card'}"), "name one"
        )
    require_files(files)
    names = files or [STDIN]
    if reader is not None:
        return read_files(names, _reader(reader), None, sys.stdin.buffer)
    if card is None:
        return plain(names, form, sys.stdin.buffer, sentences or "rules")
    from mtlspec.spec.load import load_data_card

    project = Project.find()
    found = load_data_card(card, project)
    if not files:
        return read_card(found, split, project, keep_going)
    group = _group(found, Path(files[0]).suffix)
    return read_files(names, group.reader, group.layers, sys.stdin.buffer)


def ready(model: str, threads: int | None, device: str | None) -> Predictor:
    """The model on its device, computing as its evaluation did."""
    from mtlspec.use.models import find_model

    with _shown(f"loading {find_model(model).name}"):
        from mtlspec.use.loaded import load_as_evaluated

        return load_as_evaluated(model, threads, device).predictor


def written(predictor: Predictor, given: Input, asking: Asking, output: Path | None, folder: Path | None) -> int:
    """Answers where they were asked for, malformed examples on stderr; 1 if there were any."""
    from mtlspec.use.files import lines_file, task_files
    from mtlspec.use.shown import json_line, objects

    examples = malformed = 0
    to_files = output is not None or folder is not None
    with ExitStack() as stack:
        files = stack.enter_context(task_files(folder, predictor.model.tasks)) if folder is not None else None
        lines = stack.enter_context(lines_file(output)) if output is not None else None
        drawn = to_files or not sys.stdout.isatty()  # else the answers themselves are on the terminal
        tell = stack.enter_context(_progress(predictor.name, drawn))
        for window in predictor.stream(given, asking):
            for defect in window.defects:
                console.error(str(defect))
            if files is not None:
                files.add(window)
            if lines is not None or files is None:
                (lines or sys.stdout).write("".join(map(json_line, objects(window))))
            if lines is None:
                sys.stdout.flush()
            examples, malformed = examples + len(window.examples), malformed + len(window.defects)
            tell(examples)
    if to_files:
        console.note(
            f"{counted(examples, 'example')} predicted: {', '.join(str(one) for one in (output, folder) if one)}"
        )
    if malformed:
        console.error(f"{counted(malformed, 'example')} left out, {examples:,} predicted")
    return 1 if malformed else 0


def _reader(said: str) -> ReaderOptions:
    """`conllu`, or `{type: jsonl, text: [body]}` as in a card."""
    from pydantic import ValidationError

    from mtlspec.spec.explain import explain
    from mtlspec.spec.nodes import Node
    from mtlspec.spec.yaml import parse_yaml
    from mtlspec.use.inputs import Format

    place = Place("--reader")
    node = Node({"reader": parse_yaml(said.encode(errors="surrogateescape"), place.file)}, place)
    try:
        reader = Format.model_validate(node.plain()).reader
    except ValidationError as error:
        raise Problems(explain(error, Format, node)) from None
    if problem := reader.problem():
        raise SpecError("E551", problem, place)
    return reader


def _group(card: DataCard, suffix: str) -> FileGroup:
    """The group of a card whose files are named like one that was given, or its first."""
    for group in card.files:
        if suffix in {Path(path).suffix for split in group.paths for path in group.entries(split)}:
            return group
    return card.files[0]


@contextmanager
def _shown(text: str) -> Iterator[None]:
    """Says what takes a while, to a terminal only: a pipe's reader wants nothing but the results."""
    with console.doing(text) if console.messages().is_terminal else nullcontext():
        yield


@contextmanager
def _progress(name: str, drawn: bool) -> Iterator[Callable[[int], None]]:
    """On a terminal, how many examples are done, and how many a second."""
    if not drawn or not console.messages().is_terminal or console.messages().is_dumb_terminal:
        yield lambda _: None
        return
    from rich.progress import Progress, SpinnerColumn, Task, TextColumn, TimeElapsedColumn
    from rich.text import Text

    class Speed(TextColumn):
        def render(self, task: Task) -> Text:
            speed = f", {task.speed:,.0f} a second" if task.speed else ""
            return Text(f"{task.completed:,.0f} examples{speed}")

    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), Speed(""), TimeElapsedColumn())
    # By itself rich takes over stdout while it draws, and what should go into a pipe would go to the terminal.
    with Progress(*columns, console=console.messages(), transient=True, redirect_stdout=False) as shown:
        bar = shown.add_task(f"predicting with {name}", total=None)
        yield lambda done: shown.update(bar, completed=done)
