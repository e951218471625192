"""Mirror to MLflow from a process of its own: whatever happens there, the run is done and its record is safe."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

from mtlspec.io.project import Project

_PATIENCE = 900.0  # seconds, for a server that goes on taking; one that is broken or silent is given up after a few


def publish_apart(project: Project, spec: str, note: Callable[[str], None]) -> None:
    """Never raises for what MLflow does: what was not delivered stays pending."""
    command = [sys.executable, "-m", "mtlspec", "publish", spec, "--quick"]
    try:
        done = subprocess.run(command, cwd=project.root, capture_output=True, text=True, timeout=_PATIENCE, check=False)
    except subprocess.TimeoutExpired:
        note(f"not published: MLflow was not done after {_PATIENCE:.0f} s; `mtlspec publish {spec}` sends the rest")
        return
    text = done.stdout.strip() if done.returncode == 0 else done.stderr.strip()
    last = text.splitlines()[-1] if text else "nothing to publish"
    if done.returncode != 0:
        again = "" if "mtlspec publish" in last else f"; `mtlspec publish {spec}` tries again"
        last = f"not published: {last.removeprefix('warning: ')}{again}"
    note(last)
