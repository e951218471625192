"""Mirror to MLflow from a process of its own: whatever happens there, the run is done and its record is safe."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

from mtlspec.io.project import Project

_PATIENCE = 900.0  # seconds, for a server that goes on taking; one that is broken or silent is given up after a few


def publish_apart(project: Project, spec: str, note: Callable[[str], None]) -> None:
    """Never raises for what MLflow does: what was not delivered stays pending. Ctrl-C costs nothing of the run."""
    command = [sys.executable, "-m", "mtlspec", "publish", spec, "--quick"]
    pipe = subprocess.PIPE
    child = subprocess.Popen(command, cwd=project.root, stdout=pipe, stderr=pipe, text=True)
    try:
        output, errors = child.communicate(timeout=_PATIENCE)
    except subprocess.TimeoutExpired:
        note(f"not published: MLflow was not done after {_PATIENCE:.0f} s; `mtlspec publish {spec}` sends the rest")
        return
    finally:
        _end(child)
    text = output.strip() if child.returncode == 0 else errors.strip()
    last = text.splitlines()[-1] if text else "nothing to publish"
    if child.returncode != 0:
        again = "" if "mtlspec publish" in last else f"; `mtlspec publish {spec}` tries again"
        last = f"not published: {last.removeprefix('warning: ')}{again}"
    note(last)


def _end(child: subprocess.Popen[str]) -> None:
    """However we stopped listening, nothing of it goes on behind our back."""
    child.kill()
    child.wait()
    for stream in (child.stdout, child.stderr):
        if stream is not None:
            stream.close()
