"""Every help page fits 80 columns, and every example in it can be typed as it stands."""

from __future__ import annotations

import importlib
import os
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.core import TyperGroup
from typer.main import get_command

from mtlspec.cli.app import EXAMPLES, available, build, run
from mtlspec.cli.examples import filled, names
from mtlspec.cli.specs import find_spec
from mtlspec.io.project import Project
from tests.terminal import in_terminal, lines

COMMANDS = list(available())


def pages() -> Iterator[list[str]]:
    """The words before `--help` of every page."""
    yield []
    program = get_command(build(COMMANDS))
    assert isinstance(program, TyperGroup)
    for name, command in program.commands.items():
        yield [name]
        for part in command.commands if isinstance(command, TyperGroup) else ():
            yield [name, part]


@pytest.mark.parametrize("words", list(pages()), ids=" ".join)
def test_a_page_of_help_fits_and_shows_no_types_of_programs(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*words, "--help"]) == 0
    page = capsys.readouterr().out
    assert page.startswith(f"Usage: {' '.join(['mtlspec', *words])}")
    assert max(map(len, page.splitlines())) <= 80
    assert not re.search(r"<[a-z]+>|\{\w+\}|\[\[|\.\.\.\]?\.\.\.|_:|\bNone\b", page)


def test_the_page_of_a_command(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["publish", "--help"]) == 0
    page = capsys.readouterr().out
    assert page.splitlines()[0] == "Usage: mtlspec publish [SPEC...] [OPTIONS]"
    assert "\nArguments:\n  [SPEC...]  Names or spec files; default: all that wait.\n" in page
    assert "\n  -h, --help  Show this message and exit.\n" in page
    assert "\nExamples:\n  mtlspec publish first\n" in page
    assert run(["run", "--help"]) == 0
    page = capsys.readouterr().out
    assert "  --set KEY=VALUE  " in page and "  -j, --jobs N     " in page and "  --[no-]publish   " in page


def test_help_follows_the_width_of_the_terminal(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "from mtlspec.cli import main; main()", "run", "--help"]
    narrow, wide = (lines(in_terminal(command, tmp_path, os.environ, columns)[1]) for columns in (50, 140))
    assert max(map(len, narrow)) <= 64 < max(map(len, wide)) <= 100  # an example is never broken
    assert " ".join(narrow).split() == " ".join(wide).split()


def examples() -> list[str]:
    return [*EXAMPLES, *(line for name in COMMANDS for line in importlib.import_module(f"mtlspec.cli.{name}").EXAMPLES)]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Project:
    """What `mtlspec init first` makes."""
    monkeypatch.chdir(tmp_path)
    assert run(["init", "first"]) == 0
    capsys.readouterr()
    return Project.find()


def test_every_example_names_what_is_there(project: Project) -> None:
    program = get_command(build(COMMANDS))
    specs = {"first", "first/mtl-all-s1", "first/stl-pos-s1", "first/mtl-*", "specs/first.yaml", "specs/*.yaml", "long"}
    for line in examples():
        for part in filled(line).split("&&"):
            words = shlex.split(part.partition("|")[0].partition(">")[0])
            if words[:1] == ["mtlspec"] or "mtlspec" in words[:2]:
                context = program.make_context("mtlspec", words[words.index("mtlspec") + 1 :], resilient_parsing=False)
                _parse(context, line)
                told = {word for word in words if "first" in word or "stem" in word or "long" in word}
                assert told <= specs, line
    assert find_spec("first", project).is_file()


def _parse(context: Any, line: str) -> None:
    """Down to the command that would run: its arguments and options are those that it has."""
    group = context.command
    if isinstance(group, TyperGroup):
        name, command, rest = group.resolve_command(context, context._protected_args + context.args)
        assert command is not None, line
        _parse(command.make_context(name, rest, parent=context), line)


def test_names_in_examples_are_those_of_the_project(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert names() == {"spec": "first", "data": "english_mini", "encoder": "tiny", "layer": "upos"}
    (project.root / "specs" / "a_study.yaml").write_text("data: {x: one, y: two}\nencoder: {card: big}\n")
    assert names()["spec"] == "first", "everybody can run it: its data are generated"
    (project.root / "specs" / "first.yaml").unlink()
    assert names() == {"spec": "a_study", "data": "english_mini", "encoder": "big", "layer": "upos"}
    monkeypatch.chdir(tmp_path.parent)
    assert names()["spec"] == "first"


def test_examples_that_compute_nothing_work(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    theirs = project.root / "corpora/reviews/train.tsv"  # what `data new` is for: a file that nobody but the user has
    theirs.parent.mkdir(parents=True)
    rows = [f"The film of {year} is {word} indeed.\t{word}" for year in range(1980, 2000) for word in ("good", "bad")]
    theirs.write_text("\n".join(["text\tlabel", *rows]) + "\n")
    cheap = ("check", "plan", "status", "data", "schema")
    tried = 0
    for line in map(filled, examples()):
        words = [name for word in shlex.split(line) for name in (["specs/first.yaml"] if "*" in word else [word])]
        if words[1] in cheap and not {"&&", ">", "|"} & set(words):
            assert run(words[1:]) == 0, f"{line}: {capsys.readouterr().err}"
            tried += 1
    assert tried >= 10
