"""Environment facts are light, deterministic and say nothing about who or where."""

from __future__ import annotations

import getpass
import platform
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from mtlspec.execute.runner import environment_of
from mtlspec.io.digest import canonical_json
from mtlspec.track.environment import driver_version, environment, gpu_facts


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


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """A machine with two GPUs of different sorts; the list has the devices that somebody asked about."""
    seen: list[str] = []

    def properties(device: str) -> SimpleNamespace:
        seen.append(device)
        name, major, minor = {"cuda:0": ("Tesla T4", 7, 5), "cuda:1": ("NVIDIA A100-SXM4-80GB", 8, 0)}[device]
        return SimpleNamespace(name=name, major=major, minor=minor, total_memory=2**34, uuid="GPU-of-somebody")

    monkeypatch.setattr(torch.cuda, "get_device_properties", properties)
    gpu_facts.cache_clear()
    yield seen
    gpu_facts.cache_clear()


def test_a_stage_that_computes_on_a_gpu_records_which_one(asked: list[str]) -> None:
    found = environment_of("train", {"device": "cuda:1", "threads": 2})
    assert found["gpu"]["name"] == "NVIDIA A100-SXM4-80GB"
    assert (found["gpu"]["capability"], found["gpu"]["memory"]) == ("8.0", 2**34)
    assert {"driver", "cuda", "cudnn"} <= found["gpu"].keys()
    assert environment_of("evaluate", {"device": "cuda:0"})["gpu"]["name"] == "Tesla T4", "each device has its own"
    assert "somebody" not in canonical_json(found), "the number of one's own card is nobody's business"


def test_who_does_not_compute_on_a_gpu_asks_none(asked: list[str]) -> None:
    assert "gpu" not in environment_of("train", {"device": "cpu"})
    assert "gpu" not in environment_of("train", {})
    assert {"gpu", "torch"}.isdisjoint(environment_of("report", {"device": "cuda:0"}))
    assert asked == []
