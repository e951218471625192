"""How many stages run side by side by default."""

from __future__ import annotations

from mtlspec.execute.run import room
from mtlspec.spec.models import RunOptions


def test_cores_are_shared_out_and_a_gpu_is_not() -> None:
    assert room(RunOptions(threads=2), cores=8) == 4
    assert room(RunOptions(threads=4), cores=2) == 1
    assert room(RunOptions(device="cuda"), cores=8) == 1
    assert room(RunOptions(device="cuda:1", threads=2), cores=64) == 1
