"""Answers as files, each task's in its own format: those that an evaluation writes, made of one window after another.

A task writes a whole split at once. What it writes of a window is joined to the file so far: what stands once in a file
(a table's head, the borders of a document) is left out, and numbers of examples go on.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from mtlspec.errors import SpecError
from mtlspec.io.disk import naming
from mtlspec.io.write import staged_directory
from mtlspec.model.task import Task
from mtlspec.use.predictor import Part, Window

Joining = Callable[[str, int], str]
"""(what a task wrote of a window that is not the first, number of examples before it) -> what is appended"""

_SENTENCE = re.compile(r"^# sent_id = (\d+)$", re.MULTILINE)


class TaskFiles:
    """`<task>.<ext>` in a folder, for every task that was asked."""

    def __init__(self, folder: Path, tasks: Sequence[Task]) -> None:
        self._folder = folder
        self._tasks = {task.name: task for task in tasks}

    def add(self, window: Window) -> None:
        for part in window.parts:
            for name, answers in part.answers.items():
                predictions = [answer.prediction for answer in answers]
                self._append(self._tasks[name], part, predictions, window.first)

    def _append(self, task: Task, part: Part, predictions: Sequence[object], first: int) -> None:
        extension = task.extension_for(part.split)
        path, fresh = self._folder / f"{task.name}.{extension}", self._folder / f".{task.name}.part"
        task.write_predictions(part.split, predictions, fresh)
        if not path.exists():
            fresh.rename(path)
            return
        text = fresh.read_text("utf-8")
        fresh.unlink()
        if extension == "conll12":
            _open_again(path)
        if extension == "tsv" and part.split.has_tags(task.layer):
            text = _as_wide(path, text)
        else:
            text = _JOINING.get(extension, _as_it_is)(text, first)
        with path.open("a", encoding="utf-8", newline="") as file:
            file.write(text)


def require_new(folder: Path) -> None:
    """Nothing that is there is overwritten."""
    if folder.exists():
        raise SpecError("E549", "there is something of this name already", folder, "name a new folder")


@contextmanager
def task_files(folder: Path, tasks: Sequence[Task]) -> Iterator[TaskFiles]:
    """Files that appear in a new folder when all is done; nothing of them does if it fails."""
    require_new(folder)
    with staged_directory(folder) as staged:
        yield TaskFiles(staged, tasks)


@contextmanager
def lines_file(path: Path) -> Iterator[TextIO]:
    """A file that appears, or replaces an older one, when all is written; a device or a pipe is written to at once."""
    if path.is_dir():
        raise SpecError("E549", "this is a folder, not a file", path, "name a file")
    if path.exists() and not path.is_file():  # a rename would put a file in its place
        with naming(path), path.open("w", encoding="utf-8", newline="") as stream:
            yield stream
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with naming(path), tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp") as folder:
        with (Path(folder) / path.name).open("w", encoding="utf-8", newline="") as file:
            yield file
        (Path(folder) / path.name).replace(path)


def _as_it_is(text: str, first: int) -> str:
    del first
    return text


def _numbered(text: str, first: int) -> str:
    """CoNLL-U, whose sentences have numbers from 1."""
    return _SENTENCE.sub(lambda match: f"# sent_id = {int(match[1]) + first}", text)


def _undocumented(text: str, first: int) -> str:
    """CoNLL-2012: the document was begun before, and ends here."""
    del first
    return text.partition("\n")[2]


def _table(text: str, first: int) -> str:
    """Rows whose first cell is a number from 0, without the head."""
    rows = (line.partition("\t") for line in text.splitlines()[1:])
    return "".join(f"{int(number) + first}\t{rest}\n" for number, _, rest in rows)


def _objects(text: str, first: int) -> str:
    """JSON lines whose `index` is a number from 0."""
    rows = map(json.loads, text.splitlines())
    return "".join(json.dumps({**row, "index": row["index"] + first}, ensure_ascii=False) + "\n" for row in rows)


_JOINING: dict[str, Joining] = {"conllu": _numbered, "conll12": _undocumented, "tsv": _table, "jsonl": _objects}


def _as_wide(path: Path, text: str) -> str:
    """Rows of words and tags as wide as those of the file; where they are wider (spans lie in spans), it is widened."""
    with path.open(encoding="utf-8", newline="") as file:
        there, new = file.readline().count("\t"), text.partition("\n")[0].count("\t")
        file.seek(0)
        if there < new:
            wide = path.with_name(f".{path.name}.wide")
            with wide.open("w", encoding="utf-8", newline="") as widened:
                widened.writelines(_padded(line, new) for line in file)
            wide.replace(path)
    return "".join(_padded(line, there) for line in text.splitlines(keepends=True))


def _padded(line: str, tabs: int) -> str:
    """A row of words and tags with so many tabs; the tags that it lacks are outside of all spans."""
    return line.rstrip("\n") + "\tO" * (tabs - line.count("\t")) + "\n" if line.strip("\n") else line


def _open_again(path: Path) -> None:
    """Take the end of the document off a CoNLL-2012 file."""
    end = b"#end document\n"
    with path.open("r+b") as file:
        file.seek(-len(end), 2)
        assert file.read() == end, path
        file.truncate(path.stat().st_size - len(end))
