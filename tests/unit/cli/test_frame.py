"""The frame of the command line: light commands, one line an error, documented exit codes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from mtlspec.cli.app import HIDDEN, PANELS, available, run
from mtlspec.io.project import Project
from tests.terminal import in_terminal, lines
from tests.unit.spec.small_project import SPEC, make_project

HEAVY = (
    "torch",
    "transformers",
    "datasets",
    "mlflow",
    "dvc",
    "numpy",
    "pandas",
    "pyarrow",
    "numba",
    "scipy",
    "matplotlib",
)


def mtlspec(*arguments: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", "from mtlspec.cli import main; main()", *arguments],
        cwd=cwd,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def imported_by(code: str, cwd: Path) -> set[str]:
    """The heavy packages that are loaded after some code."""
    report = f"import sys, json; sys.stderr.write('\\n' + json.dumps(sorted(set({HEAVY!r}) & set(sys.modules))))"
    done = subprocess.run(
        [sys.executable, "-c", f"try:\n {code}\nexcept SystemExit:\n pass\n{report}"],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=True,
    )
    return set(json.loads(done.stderr.splitlines()[-1]))


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return make_project(tmp_path)


def test_all_command_files_are_light_at_import(tmp_path: Path) -> None:
    modules = ", ".join(f"mtlspec.cli.{name}" for name in available())
    assert imported_by(f"import {modules}", tmp_path) == set()


@pytest.mark.parametrize("arguments", [["--help"], ["check", "study"], ["check", "study", "--json"], ["schema"]])
def test_checking_and_help_import_nothing_heavy(arguments: list[str], project: Project) -> None:
    code = f"import sys; sys.argv[1:] = {arguments!r}; from mtlspec.cli import main; main()"
    assert imported_by(code, project.root) == set()


def test_every_command_file_is_in_a_panel() -> None:
    known = {name for names in PANELS.values() for name in names} | set(HIDDEN)
    assert set(available()) <= known


@pytest.mark.parametrize("name", [name for name, panel in available().items() if panel])
def test_every_help_has_examples(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([name, "--help"]) == 0
    shown = capsys.readouterr().out
    assert "Examples:" in shown
    assert f"mtlspec {name}" in shown.split("Examples:")[1]


def test_the_help_documents_the_exit_codes(tmp_path: Path) -> None:
    done = mtlspec("--help", cwd=tmp_path)
    assert done.returncode == 0
    for code in ("0", "1", "2", "3", "4", "5", "6", "70", "130", "141"):
        assert f"\n  {code:<3}  " in done.stdout


def test_a_sound_spec_is_summarised(project: Project) -> None:
    done = mtlspec("check", "study", "--offline", cwd=project.root)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "specs/study.yaml: correct",
        "  data       corpus",
        "  encoder    small",
        "  tasks      pos (tagging), lem (tagging)",
        "  models     stl (4), mtl (2)",
        "  analyses   scores",
        "  trainings  6, over 2 seeds",
    ]


def test_every_error_is_one_line_on_stderr(project: Project) -> None:
    (project.root / "specs/study.yaml").write_text(
        SPEC.replace("epochs: 5", "epochs: x").replace("layer: xpos", "layer: y")
    )
    done = mtlspec("check", "specs/study.yaml", "--offline", "--set", "seeds=[]", cwd=project.root)
    assert (done.returncode, done.stdout) == (2, "")
    assert [line.split(": ")[0] for line in done.stderr.splitlines()] == [
        "--set seeds=[]",
        "specs/study.yaml:6:31",
        "specs/study.yaml:9:11",
    ]
    assert "\x1b" not in done.stderr


def test_a_long_error_is_not_wrapped(project: Project) -> None:
    name = "x" * 300
    done = mtlspec("check", "study", "--set", f"tasks.{name[:200]}.{name}.y=1", cwd=project.root, COLUMNS="40")
    assert done.returncode == 2
    assert all(": error E" in line for line in done.stderr.splitlines())


def test_errors_as_json(project: Project) -> None:
    (project.root / "specs/study.yaml").write_text(SPEC.replace("epochs: 5", "epoch: 5"))
    done = mtlspec("check", "study", "--json", "--offline", cwd=project.root)
    assert (done.returncode, done.stderr) == (2, "")
    assert json.loads(done.stdout) == {
        "errors": [
            {
                "code": "E130",
                "column": 3,
                "file": "specs/study.yaml",
                "hint": "did you mean 'epochs'?",
                "line": 9,
                "message": "unknown key 'epoch'",
            }
        ],
        "notes": [],
        "specs": [],
    }


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["chekc"], "error: No such command 'chekc'. Did you mean 'check'?; see `mtlspec --help`"),
        (["check"], "error: mtlspec check needs SPEC, as in `mtlspec check specs/study.yaml`; specs here: study\n"),
        (
            ["data", "lock"],
            "error: mtlspec data lock needs CARD, as in `mtlspec data lock corpus`; data cards here: corpus\n",
        ),
        (["encoder", "show"], "error: mtlspec encoder show needs CARD, as in `mtlspec encoder show "),
        (
            ["registry", "show"],
            "error: mtlspec registry show needs SPEC, as in `mtlspec registry show study`; there are none",
        ),
        (["data", "new"], "error: mtlspec data new needs FILE, as in `mtlspec data new "),
        (["predict"], "error: mtlspec predict needs MODEL, as in `mtlspec predict "),
        (["data"], "error: Missing command; see `mtlspec data --help`"),
        (["check", "x", "--sett"], "error: No such option: --sett"),
    ],
)
def test_a_wrong_command_line_is_one_line(arguments: list[str], line: str, project: Project) -> None:
    done = mtlspec(*arguments, cwd=project.root)
    assert done.returncode == 2
    assert done.stderr.startswith(line)
    assert done.stderr.count("\n") == 1


def test_outside_a_project(tmp_path: Path) -> None:
    done = mtlspec("check", "x", cwd=tmp_path)
    assert done.returncode == 6
    assert "error E601: not inside an mtlspec project" in done.stderr


def run_with(body: str, arguments: list[str], cwd: Path) -> subprocess.CompletedProcess[str]:
    """The frame around a command that does something else."""
    code = f"import sys, mtlspec.cli.check as c\ndef command():\n    {body}\nc.command = command\n"
    code += f"from mtlspec.cli.app import run\nsys.exit(run({arguments!r}))"
    return subprocess.run([sys.executable, "-c", code], cwd=cwd, capture_output=True, text=True, check=False)


def test_an_internal_error_is_one_line_unless_debugging(tmp_path: Path) -> None:
    done = run_with("raise ZeroDivisionError('one\\ntwo')", ["check"], tmp_path)
    assert done.returncode == 70
    assert done.stderr == (
        "internal error: ZeroDivisionError: one two; this is a fault of mtlspec: run again with --debug and report it\n"
    )
    for arguments in (["check", "--debug"], ["--debug", "check"]):
        assert "Traceback (most recent call last)" in run_with("raise ZeroDivisionError", arguments, tmp_path).stderr


def test_a_file_in_place_of_a_folder_is_one_clear_line(
    project: Project, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (project.root / "registry/runs").write_text("")
    monkeypatch.chdir(project.root)
    assert run(["plan", "study", "--write"]) == 6
    line = "error E642: this is a file where mtlspec needs a folder; move it away, or delete it"
    assert capsys.readouterr().err == f"{project.root}/registry/runs: {line}\n"


def test_no_password_reaches_an_error_or_a_traceback(tmp_path: Path) -> None:
    for options in ([], ["--debug"]):
        text = "raise ValueError('http://me:hunter2@host/?key=hunter2 Authorization: Basic hunter2')"
        done = run_with(text.replace("hunter2", "hun' 'ter2"), ["check", *options], tmp_path)
        assert "ValueError: http://host/?key=*** Authorization: ***" in done.stderr
        assert "hunter2" not in done.stderr


def test_ctrl_c_is_one_line(tmp_path: Path) -> None:
    done = run_with(f"import os; os.kill(os.getpid(), {signal.SIGINT.value})", ["check"], tmp_path)
    assert (done.returncode, done.stderr) == (130, "interrupted\n")


def test_a_number_is_an_exit_code(tmp_path: Path) -> None:
    assert run_with("return 5", ["check"], tmp_path).returncode == 5
    assert run_with("import typer; raise typer.Exit(3)", ["check"], tmp_path).returncode == 3


@pytest.mark.parametrize(
    "statement", ["console.say('line')", "console.say_json([1])", "console.say_table(('a',), [('b',)])"]
)
def test_a_closed_pipe_is_silent(statement: str, tmp_path: Path) -> None:
    code = "import sys, mtlspec.cli.check as c\nfrom mtlspec.cli import console\n"
    code += f"def command():\n    for _ in range(20000):\n        {statement}\nc.command = command\n"
    code += "from mtlspec.cli.app import run\nsys.exit(run(['check']))"
    process = subprocess.Popen(
        [sys.executable, "-c", code], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.readline()
    process.stdout.close()
    errors = process.stderr.read()
    process.stderr.close()
    assert (process.wait(), errors) == (141, b"")


def test_completion_offers_the_commands(tmp_path: Path) -> None:
    done = mtlspec(cwd=tmp_path, _MTLSPEC_COMPLETE="complete_bash", COMP_WORDS="mtlspec ch", COMP_CWORD="1")
    assert done.stdout.split() == ["check"]


def test_the_version(tmp_path: Path) -> None:
    done = mtlspec("--version", cwd=tmp_path)
    assert done.stdout.startswith("mtlspec 0.")


def test_a_table_in_a_pipe_is_not_cut(tmp_path: Path) -> None:
    wide = "w" * 150
    code = f"from mtlspec.cli.console import say_table; say_table(('name', 'n'), [('{wide}', '1'), ('[x]', '20')])"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert wide in done.stdout
    assert "[x]" in done.stdout


def test_a_terminal_breaks_lines_between_words(tmp_path: Path) -> None:
    words = [f"word{number}" for number in range(40)]
    code = f"from mtlspec.cli import console; console.say({' '.join(words)!r}); console.error({' '.join(words)!r})"
    status, drawn = in_terminal([sys.executable, "-c", code], tmp_path, os.environ, columns=50)
    shown = lines(drawn)
    assert status == 0 and max(map(len, shown)) <= 50
    assert " ".join(shown).split() == [*words, *words]


def test_a_long_line_with_a_label_goes_on_below_its_text(tmp_path: Path) -> None:
    make_project(tmp_path)
    command = [sys.executable, "-m", "mtlspec", "check", "study", "--offline"]
    code, written = in_terminal(command, tmp_path, os.environ, columns=34)
    assert code == 0
    shown = lines(written)
    tasks = shown.index("  tasks      pos (tagging),")
    assert shown[tasks + 1] == "             lem (tagging)"
    assert all(len(line) <= 34 for line in shown)
    piped = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert "  tasks      pos (tagging), lem (tagging)\n  models     stl (4), mtl (2)\n" in piped
