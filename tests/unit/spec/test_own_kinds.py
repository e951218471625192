"""A project's own kinds: what is found, what is refused, and what an edit makes stale."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from mtlspec import kinds
from mtlspec.errors import MtlspecError, SpecError
from mtlspec.io.project import Project
from mtlspec.plan.build import build_plan
from mtlspec.plan.code import module_of, source_file
from mtlspec.spec.families import FOLDERS, METRICS, SHARING, TASKS
from mtlspec.spec.load import load_spec
from mtlspec.spec.own_kinds import use_own_kinds
from tests.unit.spec.small_project import SPEC, make_project

STRATEGY = '''"""A strategy."""

from typing import TYPE_CHECKING, Literal

from mtlspec.model.sharing import Sharing
from mtlspec.spec.families import SharingOptions

from ._parts import scale
if TYPE_CHECKING:
    from mtlspec.structs import eisner


class Options(SharingOptions):
    type: Literal["{name}"]
    pace: float = 1.0

    def build(self, encoder, tasks):
        from . import _late
        import mtlspec.structs.arcs as arcs

        return Sharing(encoder, tasks)
'''


def _write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = make_project(tmp_path)
    sharing = {name: STRATEGY.format(name=name) for name in ("mine", "other")}
    sharing |= {"_parts": "scale = 1.0\n", "_late": "", "broken": "import nothing_of_the_sort\n"}
    _write(tmp_path / "kinds/sharing", {f"{name}.py": text for name, text in sharing.items()})
    _write(tmp_path / "kinds/sharing", {"words.txt": "a\n"})
    return made


@contextmanager
def used(project: Project) -> Iterator[None]:
    """As `use_own_kinds`, for a while."""
    with ExitStack() as stack:
        for folder in sorted((project.root / "kinds").iterdir()):
            stack.enter_context(kinds.extended(FOLDERS[folder.name], folder))
        yield


def _ids(project: Project, sharing: str = "mine") -> dict[str, str]:
    """Stage -> id of a spec with a group of own sharing beside one of ours."""
    own = f"  own: {{tasks: all, sharing: {sharing}}}\nanalyses:"
    path = project.root / "specs" / "study.yaml"
    path.write_text(SPEC.replace("analyses:", own))
    with used(project):
        return {stage.name: stage.id for stage in build_plan(load_spec(path, project)).stages}


@pytest.mark.parametrize("file", ["mine.py", "_parts.py", "_late.py", "words.txt"])
def test_an_edit_makes_exactly_the_models_that_use_it_stale(file: str, project: Project) -> None:
    before = _ids(project)
    path = project.root / "kinds/sharing" / file
    path.write_text(path.read_text() + "# edited\n")
    after = _ids(project)
    changed = {stage for stage in before if before[stage] != after[stage]}
    trained = {stage for stage in changed if stage.startswith(("train-", "evaluate-"))}
    assert len(trained) == 4 and all("-own-" in stage for stage in trained)
    assert changed - trained == {"report"}, "the analysis looks at other groups"


@pytest.mark.parametrize("file", ["other.py", "broken.py"])
def test_an_edit_of_what_nobody_names_changes_nothing(file: str, project: Project) -> None:
    before = _ids(project)
    (project.root / "kinds/sharing" / file).write_text("now it is (\n")
    assert _ids(project) == before


def test_sources_stand_in_fingerprints_under_names_of_their_own(project: Project) -> None:
    path = project.root / "specs" / "study.yaml"
    path.write_text(SPEC.replace("sharing: hard", "sharing: mine"))
    with used(project):
        plan = build_plan(load_spec(path, project))
        (files,) = {tuple(unit.files) for unit in plan.units if unit.name == plan.stage("train-stl-pos-s1").unit}
        own = [file for file in files if file.startswith("kinds:")]
        names = ("_late.py", "_parts.py", "mine.py", "words.txt")
        assert own == [f"kinds:sharing/{name}" for name in names]
        assert [source_file(file) for file in own] == [project.own_kinds / "sharing" / name for name in names]
        assert module_of("kinds:sharing/mine.py") == f"{SHARING}.mine"
        assert "structs/arcs.py" in files and "structs/eisner.py" not in files
    assert not source_file("kinds:sharing/mine.py").exists(), "nothing is left of them"


def test_metrics_of_own_tasks_belong_to_what_reads_evaluations(project: Project) -> None:
    task = "from mtlspec.model.tasks.tagging import Options as Tagging\nfrom typing import Literal\n"
    task += 'class Options(Tagging):\n    type: Literal["counted"]\n    def build(self, *given):\n'
    task += f"        from {METRICS}.exact import METRIC\n        return super().build(*given)\n"
    _write(project.own_kinds, {"tasks/counted.py": task, "metrics/exact.py": "METRIC = None\n"})
    path = project.root / "specs" / "study.yaml"
    path.write_text(SPEC.replace("pos: {type: tagging", "pos: {type: counted"))
    with used(project):
        assert "counted" in kinds.names(TASKS)
        plan = build_plan(load_spec(path, project))
        units = {unit.name: unit.files for unit in plan.units}
        readers = [stage for stage in plan.stages if "kinds:metrics/exact.py" in units[stage.unit]]
    found = {stage.name for stage in readers}
    assert {"analyse-scores", "report", "train-stl-pos-s1", "evaluate-stl-pos-s1"} <= found
    assert not {"train-stl-lem-s1", "evaluate-stl-lem-s1"} & found
    assert not any(stage.kind in ("data", "encoder", "prepare") for stage in readers)


BROKEN = {
    "syntax": ("x = (\n", r"kinds/sharing/bad\.py:1:5: error E836: not Python: '\(' was never closed"),
    "import": ("\nimport nowhere\n", r"bad\.py:2: error E836: it cannot be imported: ModuleNotFoundError: .*nowhere"),
    "exit": ("raise SystemExit(3)\n", r"bad\.py:1: error E836: it cannot be imported: SystemExit: 3"),
    "sibling": ("from ._deep import x\n", r"_deep\.py:1: error E836: .* ZeroDivisionError"),
    "empty": ("", r"bad\.py: error E837: a kind needs a class `Options` that derives from `SharingOptions`"),
    "stranger": ("class Options:\n    pass\n", r"bad\.py:1: error E837"),
    "name": (STRATEGY.format(name="mine"), r'bad\.py:13: error E838: .* `type: Literal\["bad"\]`'),
    "abstract": (STRATEGY.format(name="bad").replace("def build", "def built"), r"bad\.py:13: error E839: .* `build`"),
}


@pytest.mark.parametrize("how", BROKEN)
def test_a_broken_kind_is_told_in_one_line_to_who_names_it(
    how: str, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    text, message = BROKEN[how]
    _write(project.own_kinds / "sharing", {"bad.py": text, "_deep.py": "def f(): return 1 / 0\nx = f()\n"})
    monkeypatch.chdir(project.root)
    with pytest.raises(SpecError, match=message) as caught:
        _ids(project, "bad")
    assert len(str(caught.value).splitlines()) == 1
    assert _ids(project, "mine")


REFUSED = {
    "sharing/hard.py": r"kinds/sharing/hard\.py: error E835: mtlspec has a sharing strategy 'hard' already",
    "analyses/_gates.py": r"kinds/analyses/_gates\.py: error E835: mtlspec has a module '_gates' already",
    "model.py": r"kinds/model\.py: error E840: it lies in no family's folder",
    "sampler/x.py": r"kinds/sampler: error E841: .* did you mean 'samplers'\?",
    "sharing/Mine.py": r"kinds/sharing/Mine\.py: error E842: 'Mine' is not a name for a kind",
}


@pytest.mark.parametrize("file", REFUSED)
def test_what_would_be_overlooked_or_stand_in_for_ours_is_refused(file: str, project: Project) -> None:
    _write(project.own_kinds, {file: ""})
    before = os.environ.get(kinds.ADDED)
    with pytest.raises(MtlspecError, match=REFUSED[file]):
        use_own_kinds(project.root)
    assert os.environ.get(kinds.ADDED) == before


def _mtlspec(project: Project, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "mtlspec", *arguments]
    return subprocess.run(command, cwd=project.root, capture_output=True, text=True, check=False)


def test_commands_know_the_kinds_of_their_project(project: Project) -> None:
    """Suggestions, options and what the editor is told; a folder that is in order is no matter for `--help`."""
    (project.root / "specs/study.yaml").write_text(SPEC.replace("sharing: hard", "sharing: {type: mine, pace: x}"))
    wrong = _mtlspec(project, "check", "study")
    assert wrong.returncode == 2 and "'pace' must be a number, not the text 'x'" in wrong.stderr
    (project.root / "specs/study.yaml").write_text(SPEC.replace("sharing: hard", "sharing: minne"))
    assert "unknown sharing strategy 'minne'; did you mean 'mine'?" in _mtlspec(project, "check", "study").stderr
    told = _mtlspec(project, "schema")
    assert told.returncode == 2 and "kinds/sharing/broken.py:1: error E836" in told.stderr
    (project.own_kinds / "sharing/broken.py").unlink()
    options = json.loads(_mtlspec(project, "schema").stdout)["$defs"]["ModelGroup"]["properties"]["sharing"]["anyOf"]
    assert {"hard", "l0", "mine", "other"} <= set(options[0]["enum"])
    assert "mine" in json.dumps(options[1])
    (project.own_kinds / "sharing/hard.py").touch()
    assert _mtlspec(project, "check", "--help").returncode == 0
    assert "E835" in _mtlspec(project, "check", "study").stderr
