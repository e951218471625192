"""DVC draws nothing in a terminal, and its errors are told as one line each."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.terminal import in_terminal, lines

SAY = """
import logging, sys
from mtlspec.execute.dvc_voice import speak_for_dvc
if "silent" in sys.argv:
    speak_for_dvc(print)
from dvc.progress import Tqdm
from dvc_data.callbacks import TqdmCallback
from dvc_data.hashfile import transfer
with Tqdm(desc="Waiting to acquire lock"), TqdmCallback(desc="Collecting files", size=3) as callback:
    callback.relative_update(1)
logging.getLogger("dvc_data.hashfile").warning("slow")
try:
    raise OSError("disk\\n is full")
except OSError:
    logging.getLogger("dvc.stage").exception("failed to save 'x'")
"""


def test_dvc_is_silent_in_a_terminal_but_for_errors(tmp_path: Path) -> None:
    command = [sys.executable, "-c", SAY]
    _, flooded = in_terminal(command, tmp_path, os.environ)
    assert "Collecting files" in flooded and "Waiting to acquire lock" in flooded, "DVC draws where we let it"
    status, drawn = in_terminal([*command, "silent"], tmp_path, os.environ)
    assert (status, lines(drawn)) == (0, ["DVC: failed to save 'x': disk is full"])
    piped = subprocess.run([*command, "silent"], capture_output=True, text=True, check=True)
    assert (piped.stdout, piped.stderr) == ("DVC: failed to save 'x': disk is full\n", "")
