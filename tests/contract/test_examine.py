"""`mtlspec doctor --kinds`: kinds of every family keep what they promise, and those that do not are told why."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from mtlspec import kinds
from mtlspec.contract.examine import Tried, examine
from mtlspec.io.project import Project
from mtlspec.spec.families import FOLDERS

KINDS = Path(__file__).parents[1] / "kinds"
DERIVED = '''"""A kind that is another one under a name of its own."""

from typing import Literal

from {module} import Options as Ours


class Options(Ours):
    type: Literal["{name}"]
{more}
'''
LAYER = '''"""Two labels for an example."""

from mtlspec.data.layer import Kind


class Pair(Kind[frozenset]):
    def columns(self):
        import pyarrow as pa

        return {"": pa.list_(pa.string())}

    def cells(self, value):
        return (sorted(value),)

    def value(self, cells):
        return frozenset(cells[0])

    def shows(self, value):
        return isinstance(value, frozenset)

    def labels(self, value):
        return sorted(value)

    def lines(self, words, value):
        return [" ".join(sorted(value))]


KIND = Pair()
EXAMPLE = [frozenset({"a", "b"})]
'''
METRIC = '''"""The accuracy under another name."""

from mtlspec.metrics.accuracy import TagAccuracy


class Exact(TagAccuracy):
    kind = "exact"


METRIC = Exact
'''
WITH_METRIC = """
    def build(self, name, labels, width):
        from mtlspec.metrics.own.exact import METRIC

        task = super().build(name, labels, width)
        task.metric = METRIC()
        return task


EXAMPLE = {"layer": "pos"}
"""


def derived(family: str, ours: str, name: str, more: str = "") -> str:
    return DERIVED.format(module=f"{FOLDERS[family]}.{ours}", name=name, more=more)


@contextmanager
def project_of(root: Path, files: dict[str, str]) -> Iterator[Project]:
    """A project with these files in `kinds/`, whose families are extended by them."""
    for folder in ("registry", "specs"):
        (root / folder).mkdir(parents=True)
    for file, text in files.items():
        path = root / "kinds" / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    with ExitStack() as stack:
        for folder in sorted({path.parent for path in (root / "kinds").glob("*/*.py")}):
            stack.enter_context(kinds.extended(FOLDERS[folder.name], folder))
        yield Project(root.resolve())


SAMPLE = '\n\nEXAMPLE = {"column": {"tag": 1}}\nSAMPLE = "Hi UH\\n"\n'
LIGHT = {
    "task_sets/alone.py": derived("task_sets", "each", "alone"),
    "readers/spaced.py": derived("readers", "columns", "spaced", SAMPLE),
    "generators/small.py": derived("generators", "english_mini", "small"),
    "sources/near.py": derived("sources", "directory", "near", '\n\nEXAMPLE = {"path": "x"}\n'),
    "layers/pair.py": LAYER,
    "metrics/exact.py": METRIC,
}
TRAINED = {
    "tasks/counted.py": derived("tasks", "tagging", "counted", WITH_METRIC),
    "metrics/exact.py": METRIC,
    "taggers/plain.py": derived("taggers", "linear", "plain"),
    "balance/even.py": derived("balance", "none", "even"),
    "analyses/again.py": derived("analyses", "score_matrix", "again"),
    "encoders/bag_of_pieces.py": (KINDS / "encoders/bag_of_pieces.py").read_text(),
    "samplers/least_sure.py": (KINDS / "samplers/least_sure.py").read_text(),
    "sharing/scaled_norms.py": (KINDS / "sharing/scaled_norms.py").read_text(),
}


def test_a_kind_of_every_family_has_its_turn() -> None:
    assert {file.partition("/")[0] for file in (*LIGHT, *TRAINED)} == set(FOLDERS)


@pytest.mark.parametrize("files", [LIGHT, pytest.param(TRAINED, marks=pytest.mark.slow)], ids=["light", "trained"])
def test_kinds_of_all_families_are_tried_and_keep_their_promises(files: dict[str, str], tmp_path: Path) -> None:
    with project_of(tmp_path / "project", files) as project:
        tried = list(examine(project, tmp_path / "scratch"))
    assert [found for found in tried if not found.holds] == []
    assert {found.kind for found in tried} == {file.removesuffix(".py") for file in files}
    assert all(sum(found.kind == file.removesuffix(".py") for found in tried) >= 3 for file in files)


def _broken(root: Path, files: dict[str, str]) -> dict[str, Tried]:
    with project_of(root / "project", files) as project:
        return {found.kind: found for found in examine(project, root / "scratch") if not found.holds}


def test_what_breaks_a_promise_is_told_with_its_reason(tmp_path: Path) -> None:
    plain = derived("balance", "none", "{}")
    files = {
        "sharing/lying.py": (KINDS / "mutants/lying.py").read_text(),
        "balance/forgetful.py": (KINDS / "mutants/forgetful.py").read_text(),
        "balance/heavy.py": plain.format("heavy").replace("from typing", "import numpy\nfrom typing"),
        "balance/loose.py": plain.format("loose") + '    model_config = {"frozen": False}\n',
        "balance/silent.py": plain.format("silent") + "    speed: float = 1.0\n",
        "balance/asking.py": plain.format("asking")
        + '    speed: float = Field(description="Fast.")\n'.replace("Field", "__import__('pydantic').Field"),
        "balance/failing.py": plain.format("failing") + "    def build(self, tasks):\n        return tasks.nothing\n",
        "balance/broken.py": "import nothing_of_the_sort\n",
        "readers/mute.py": derived("readers", "conllu", "mute"),
        "generators/moody.py": derived("generators", "english_mini", "moody")
        + "    def generate(self, out):\n        import time\n\n        out.mkdir()\n"
        + '        (out / "a").write_text(str(time.perf_counter_ns()))\n',
    }
    broken = _broken(tmp_path, files)
    reasons = {kind.partition("/")[2]: found.detail for kind, found in broken.items()}
    assert set(reasons) == {Path(file).stem for file in files}
    assert "depends on the task" in reasons["lying"]
    assert "weighs otherwise" in reasons["forgetful"]
    assert "imports numpy" in reasons["heavy"]
    assert "`frozen=False`" in reasons["loose"]
    assert reasons["silent"] == "no `description` of speed"
    assert "say `EXAMPLE = {...}` in its file" in reasons["asking"] and "speed" in reasons["asking"]
    assert (
        "kinds/balance/failing.py:12: AttributeError: 'tuple' object has no attribute 'nothing'" in reasons["failing"]
    )
    assert "kinds/balance/broken.py:1: error E836" in reasons["broken"]
    assert "say `SAMPLE = ...`" in reasons["mute"]
    assert "same bytes twice" in reasons["moody"]


def test_the_command_says_what_it_tried(tmp_path: Path) -> None:
    def doctor() -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "mtlspec", "doctor", "--kinds"]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    for folder in ("registry", "specs", "kinds/task_sets"):
        (tmp_path / folder).mkdir(parents=True)
    nothing = doctor()
    assert nothing.returncode == 6 and "E661: the project has no kinds of its own" in nothing.stderr
    (tmp_path / "beside.py").write_text("")
    near = derived("task_sets", "each", "nearby").replace("from typing", "import beside\nfrom typing")
    (tmp_path / "kinds/task_sets/alone.py").write_text(derived("task_sets", "each", "alone"))
    (tmp_path / "kinds/task_sets/nearby.py").write_text(near)
    tried = doctor()
    assert tried.returncode == 1, tried.stderr
    lines = tried.stdout.splitlines()
    assert lines[0] == "task_sets/alone" and "  ok    makes as many sets as it counts" in lines
    assert lines[-1] == "1 of 2 kinds: a promise is broken"
    fault = "".join(line.strip() for line in lines[lines.index("task_sets/nearby") :])
    assert "FAIL" in fault and "beside.py" in fault

    (tmp_path / "kinds/task_sets/nearby.py").unlink()
    (tmp_path / "kinds/task_set").mkdir()
    (tmp_path / "kinds/task_sets/each.py").touch()
    (tmp_path / "kinds/lost.py").touch()
    tried = doctor()
    assert (tried.returncode, tried.stderr) == (1, "")
    first, second, third, *lines = tried.stdout.splitlines()
    assert first.startswith("FAIL  kinds/lost.py: error E840: it lies in no family's folder; put it into that of ")
    unknown = "error E841: no family of kinds is called 'task_set'; did you mean 'task_sets'?"
    assert second == f"FAIL  kinds/task_set: {unknown}"
    assert third.startswith("FAIL  kinds/task_sets/each.py: error E835: mtlspec has a task set 'each' already")
    assert lines[0] == "task_sets/alone" and sum(line.startswith("task_sets/") for line in lines) == 1
    assert lines[-1] == "1 kind: all promises are kept; 3 of what lies in kinds/ cannot be found as a kind"
