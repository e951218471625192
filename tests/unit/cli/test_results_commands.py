"""`report`, `verify` and the last screen of a run."""

from __future__ import annotations

import os
import sys

import pytest

from mtlspec.cli.app import run as mtlspec
from tests.finished_run import FinishedRun
from tests.terminal import in_terminal, lines

pytestmark = pytest.mark.usefixtures("inside")


def test_report_prints_its_path_or_its_text(capsys: pytest.CaptureFixture[str]) -> None:
    assert mtlspec(["report", "study"]) == 0
    assert capsys.readouterr().out.strip() == "registry/runs/study/work/report.html"
    assert mtlspec(["report", "specs/study.yaml", "--format", "md"]) == 0
    assert capsys.readouterr().out.startswith("# study\n")


def test_a_missing_report_says_how_to_make_one(own: FinishedRun, capsys: pytest.CaptureFixture[str]) -> None:
    own.add_spec("other")
    assert mtlspec(["report", "other"]) == 6
    assert "error E622: 'other' has no report yet; `mtlspec run other` makes it" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["report", "publish", "ui", "verify"])
def test_nobody_is_told_to_run_what_is_no_spec(
    command: str, own: FinishedRun, capsys: pytest.CaptureFixture[str]
) -> None:
    own.add_spec("other")
    for name in ("nosuch", "specs/nosuch.yaml"):
        assert mtlspec([command, name]) == 2
        assert capsys.readouterr().err == f"error E190: there is no spec '{name}'; known: other\n"


def test_a_spec_is_found_by_the_name_it_gives_itself(study: FinishedRun, capsys: pytest.CaptureFixture[str]) -> None:
    file = study.project.root / "specs" / "draft.yaml"
    file.parent.mkdir(exist_ok=True)
    file.write_text("name: study\n")
    try:
        for reference in ("draft", "specs/draft.yaml"):
            assert mtlspec(["report", reference]) == 0
            assert capsys.readouterr().out.strip() == "registry/runs/study/work/report.html"
    finally:
        file.unlink()


@pytest.mark.parametrize(("text", "code"), [(None, "E509"), ("{", "E511")])
@pytest.mark.parametrize("command", ["report", "publish"])
def test_a_plan_that_is_gone_or_broken_is_named(
    command: str, text: str | None, code: str, own: FinishedRun, capsys: pytest.CaptureFixture[str]
) -> None:
    own.places.plan.unlink()
    if text is not None:
        own.places.plan.write_text(text)
    assert mtlspec([command, "study"]) == 5
    captured = capsys.readouterr()
    assert f"{own.places.plan}: error {code}: " in captured.err
    assert captured.err.count("\n") == 1


@pytest.mark.parametrize("options", [["--sample", "3"], ["--seed", "3"], ["--rerun", "--seed", "3"]])
def test_an_option_of_verify_that_would_do_nothing_is_refused(
    options: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert mtlspec(["verify", "study", *options]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert f"error: Invalid value for {options[-2]}: " in captured.err
    assert "add --rerun" in captured.err
    assert captured.err.count("\n") == 1


def test_a_finished_run_speaks_plainly_before_its_numbers(
    study: FinishedRun, capsys: pytest.CaptureFixture[str]
) -> None:
    from mtlspec.cli.outcome import show_outcome

    show_outcome(study.project, study.places)
    lines = capsys.readouterr().out.splitlines()
    asked, question, told, *_ = (line for line in lines if line)
    assert asked == "asked: A made-up study."
    assert question == "  - Do other ways of training score differently from stl?"
    assert told.startswith("    That could not be tested: one seed")
    assert lines.index("stl: each task on its own") < next(i for i, line in enumerate(lines) if "test scores" in line)


def test_in_a_terminal_what_a_finished_run_says_goes_on_below_its_text(study: FinishedRun) -> None:
    code = (
        "from mtlspec.cli.outcome import show_outcome; from mtlspec.io.project import Project; "
        "project = Project.find(); show_outcome(project, project.run('study'))"
    )
    _, drawn = in_terminal([sys.executable, "-c", code], study.project.root, os.environ, 60)
    shown = lines(drawn)
    start = next(at for at, line in enumerate(shown) if line.startswith("  - Do other ways"))
    told = shown[start : next(at for at, line in enumerate(shown) if line.startswith("stl: "))]
    assert told == [
        "  - Do other ways of training score differently from stl?",
        "    That could not be tested: one seed does not show how",
        "    seeds scatter.",
    ]


def test_a_finished_run_names_only_commands_that_work(
    own: FinishedRun, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from mtlspec.cli.outcome import show_outcome

    def commands() -> list[str]:
        show_outcome(own.project, own.places)
        return [line for line in capsys.readouterr().out.splitlines() if line.startswith(("publish", "compare"))]

    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    assert commands() == ["publish  mtlspec publish study", "compare  mtlspec ui study"]
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://mlflow.example:5000")
    assert commands() == []  # what is on a server is not in our own page
    own.add_store([(7, "study", "active")])
    assert commands() == ["compare  mtlspec ui study"]
