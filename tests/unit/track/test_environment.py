"""Environment facts are light, deterministic and say nothing about who or where."""

from __future__ import annotations

import getpass
import platform
import subprocess
import sys
from pathlib import Path

from mtlspec.io.digest import canonical_json
from mtlspec.track.environment import driver_version, environment


def test_facts_are_the_same_twice_and_name_no_host() -> None:
    facts = environment(1)
    assert facts == environment(1)
    assert facts["threads"] == 1
    assert facts["packages"]["torch"].startswith("2.")
    text = canonical_json(facts)
    assert platform.node() not in text
    assert str(Path.home()) not in text
    assert getpass.getuser() == "root" or getpass.getuser() not in text


def test_asking_for_the_environment_does_not_import_torch() -> None:
    code = (
        "import sys; from mtlspec.track.environment import environment; environment(1);"
        "print([name for name in ('torch', 'numpy', 'mlflow') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_driver_is_named_where_the_system_tells(tmp_path: Path) -> None:
    file = tmp_path / "version"
    assert driver_version(file) == "unknown"
    file.write_text("NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat Aug 19 01:15:15 2023\nGCC 12\n")
    assert driver_version(file) == "535.104.05"
    file.write_text("NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  550.54.14  Release Build  (x)\n")
    assert driver_version(file) == "550.54.14"
