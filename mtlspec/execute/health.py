"""The environment's self-test: each check says what it looked at and whether it holds."""

from __future__ import annotations

import importlib.metadata
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from mtlspec.io.project import Project
from mtlspec.io.words import counted
from mtlspec.plan.code import PACKAGES

_NEEDED_GB = 2.0


@dataclass(frozen=True)
class Check:
    name: str
    holds: bool
    detail: str


def checks(project: Project) -> Iterator[Check]:
    """Cheap ones first; a check that raises has failed."""
    tests: tuple[tuple[str, Callable[[Project], tuple[bool, str]]], ...] = (
        ("python", _python),
        ("pinned versions", _versions),
        ("git", _git),
        ("dvc repository", _dvc),
        ("disk", _disk),
        ("write access", _writable),
        ("torch", _torch),
        ("compiled algorithms", _compiled),
        ("warm workers", _workers),
    )
    for name, test in tests:
        try:
            holds, detail = test(project)
        except Exception as error:  # a doctor reports every failure instead of stopping at one
            holds, detail = False, f"{type(error).__name__}: {error}"
        yield Check(name, holds, detail)


def _python(project: Project) -> tuple[bool, str]:
    del project
    return sys.version_info >= (3, 11), sys.version.split()[0]


def _versions(project: Project) -> tuple[bool, str]:
    """Packages whose numbers matter are at the versions of the lock file."""
    if not project.lock_file.is_file():
        return True, "the project has no lock file"
    pins = dict(
        re.findall(r"^([A-Za-z0-9_.-]+)==([^\s+]+)", project.lock_file.read_text(encoding="utf-8"), re.MULTILINE)
    )
    wrong = []
    for package in sorted({package for packages in PACKAGES.values() for package in packages}):
        installed = importlib.metadata.version(package).partition("+")[0]
        pinned = pins.get(package, pins.get(package.capitalize(), installed))
        if installed != pinned:
            wrong.append(f"{package} is {installed}, pinned {pinned}")
    return not wrong, "; ".join(wrong) or "as in requirements.lock"


def _git(project: Project) -> tuple[bool, str]:
    git = shutil.which("git")
    if git is None:
        return False, "git is not installed"
    done = subprocess.run([git, "status", "--short"], cwd=project.root, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return False, "the project is not a git repository"
    changed = len(done.stdout.splitlines())
    return True, "clean" if not changed else f"not committed: {counted(changed, 'file')}"


def _dvc(project: Project) -> tuple[bool, str]:
    return (project.root / ".dvc").is_dir(), "dvc " + importlib.metadata.version("dvc")


def _disk(project: Project) -> tuple[bool, str]:
    free = shutil.disk_usage(project.root).free / 1e9
    return free > _NEEDED_GB, f"{free:.1f} GB free"


def _writable(project: Project) -> tuple[bool, str]:
    from mtlspec.io.write import write_text

    probe = project.state / "doctor"
    write_text(probe, "ok")
    probe.unlink()
    return True, project.relative(Path(project.state))


def _torch(project: Project) -> tuple[bool, str]:
    """One thread and the same seed give the same bits, in a forward and a backward pass."""
    import torch

    del project
    torch.set_num_threads(1)

    def bits() -> bytes:
        torch.manual_seed(1)
        x = torch.randn(64, 64, requires_grad=True)
        (gradient,) = torch.autograd.grad(torch.nn.functional.gelu(x @ x).square().mean(), x)
        return gradient.numpy().tobytes()

    devices = "cpu" + (", cuda" if torch.cuda.is_available() else "")
    return bits() == bits(), f"torch {torch.__version__}, {devices}, repeats its bits"


def _compiled(project: Project) -> tuple[bool, str]:
    """The compiled linear-chain algorithm agrees with enumeration on a chain of three."""
    import torch

    from mtlspec.structs.linear_chain import log_partition

    del project
    scores = torch.arange(6, dtype=torch.float32).reshape(1, 3, 2) / 3
    zero = torch.zeros(2)
    found = log_partition(scores, torch.zeros(2, 2), zero, zero, torch.ones(1, 3, dtype=torch.bool))
    expected = scores.logsumexp(-1).sum()
    return bool((found - expected).abs().max() < 1e-4), "linear chain agrees with a closed form"


def _workers(project: Project) -> tuple[bool, str]:
    """A stage that does not exist must come back from a warm worker as one clear line."""
    from mtlspec.execute.zygote import Zygote

    zygote = Zygote.start(project.root)
    try:
        base = project.root / "registry" / "runs" / "doctor"
        reply = zygote.call("doctor", "train", [str(base), "nothing", "", ""], project.state / "doctor.log")
    finally:
        zygote.stop()
        (project.state / "doctor.log").unlink(missing_ok=True)
    return reply["status"] == 4 and "E401" in reply["tail"], "a forked worker answers"
