"""A run that was killed and started again ends with the weights of a run that was not."""

from __future__ import annotations

import contextlib
import os
import random
import signal
from collections.abc import Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest
import torch

from mtlspec.io.digest import digest_file
from mtlspec.train import determinism
from mtlspec.train.checkpoint import ResumePoints, Saved
from mtlspec.train.state import TrainState
from tests import toy

# Few sentences a batch, so that a short run has many updates to be killed at.
LIMITS = {"batch": {"sentences": 6, "tokens": 200}, "checkpoint_every": 4, "patience": 1.0}
RUNS: dict[str, dict[str, Any]] = {
    "sampled": {"epochs": 2, **LIMITS},
    "balanced": {
        "tasks": ("pos", "names"),
        "epochs": 2,
        "accumulate": 2,
        "sampler": {"type": "balanced"},
        "balance": {"type": "uncertainty"},
        "plateau": {"factor": 0.5, "patience": 1},
        **LIMITS,
    },
    "joint": {"tasks": ("pos", "names"), "epochs": 2, "batching": "joint", **LIMITS},
    "frozen": {"tasks": ("pos", "names"), "epochs": 2, "freeze": 0.5, "dropout": 0.0, **LIMITS},  # states are kept
    "annealed": {
        "tasks": ("pos", "names"),
        "epochs": 2,
        "sampler": {"type": "annealed"},
        "schedule": "constant",
        "weight_decay": 0.01,
        **LIMITS,
    },
}
KILLS = dict.fromkeys(RUNS, 8) | {"frozen": 3}


def _child(root: Path, encoder: Path, prepared: Path, params: dict[str, Any], updates: Connection) -> None:
    """Train and tell every update to the parent, which may be about to kill this process."""
    toy.run_train(root, encoder, prepared, params, lambda done, _total, _what: updates.send(done))
    updates.close()


def _run_until(server: Any, target: int, *arguments: Any) -> int:
    """Run the stage in a process of its own and kill -9 it when it has done `target` updates; returns the last seen."""
    receiver, sender = server.Pipe(duplex=False)
    process = server.Process(target=_child, args=(*arguments, sender))
    process.start()
    sender.close()
    seen = 0
    with contextlib.suppress(EOFError):
        while seen < target:
            seen = receiver.recv()
        os.kill(process.pid, signal.SIGKILL)
    process.join()
    receiver.close()
    assert process.exitcode == (-signal.SIGKILL if seen >= target else 0)
    return seen


@pytest.mark.parametrize("name", RUNS)
def test_killed_runs_end_with_the_same_bits(
    name: str, server: Any, tmp_path: Path, toy_encoder: Path, toy_prepared: Path
) -> None:
    params = toy.train_params(**RUNS[name])
    whole = toy.run_train(tmp_path / "whole", toy_encoder, toy_prepared, params)
    rng = random.Random(name)
    targets = sorted(rng.sample(range(1, whole.facts["updates"]), KILLS[name]))
    killed = 0
    for target in [*targets, whole.facts["updates"] + 1]:  # the last one is let through
        seen = _run_until(server, target, tmp_path / "killed", toy_encoder, toy_prepared, params)
        killed += seen >= target
    assert killed == KILLS[name]
    for file in ("model.safetensors", "history.parquet", "epochs.json", "model.json"):
        assert digest_file(tmp_path / "killed/out" / file) == digest_file(tmp_path / "whole/out" / file), file


class InterruptedRunError(Exception):
    pass


def _interrupted(root: Path, encoder: Path, prepared: Path, params: dict[str, Any], at: int) -> None:
    def stop(done: int, _total: int, _what: str) -> None:
        if done == at:
            raise InterruptedRunError

    with pytest.raises(InterruptedRunError):
        toy.run_train(root, encoder, prepared, params, stop)


def _leave_out(section: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Resume points come back without one of their sections."""
    latest = ResumePoints.latest

    def without(points: ResumePoints) -> Saved | None:
        saved = latest(points)
        assert saved is not None
        return {name: part for name, part in saved.items() if name != section}

    monkeypatch.setattr(ResumePoints, "latest", without)


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory, toy_encoder: Path, toy_prepared: Path) -> str:
    root = tmp_path_factory.mktemp("uninterrupted")
    toy.run_train(root, toy_encoder, toy_prepared, toy.train_params(**RUNS["sampled"]))
    return digest_file(root / "out/model.safetensors")


@pytest.mark.parametrize("section", ["model", "optimiser", "schedule", "rng", "sampler", "cursors", "balance", None])
def test_every_section_of_a_resume_point_is_needed(
    section: str | None,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    toy_encoder: Path,
    toy_prepared: Path,
    uninterrupted: str,
) -> None:
    """Without one of them the final bits differ; with all of them (None) they do not."""
    params = toy.train_params(**RUNS["sampled"])
    _interrupted(tmp_path, toy_encoder, toy_prepared, params, at=29)
    _leave_out(section, monkeypatch)
    toy.run_train(tmp_path, toy_encoder, toy_prepared, params)
    same = digest_file(tmp_path / "out/model.safetensors") == uninterrupted
    assert same == (section is None)


@pytest.mark.parametrize("section", ["model", "optimiser", "rng", "cursors", None])
def test_every_section_is_needed_where_states_of_frozen_layers_are_kept(
    section: str | None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, toy_encoder: Path, toy_prepared: Path
) -> None:
    """Kept states are no part of a resume point: they are computed again, to the bit."""
    active: list[bool] = []
    fresh = TrainState.fresh

    def noted(*given: Any, **named: Any) -> TrainState:
        state = fresh(*given, **named)
        active.append(state.kept.active)
        return state

    monkeypatch.setattr(TrainState, "fresh", noted)
    params = toy.train_params(**{**RUNS["frozen"], "epochs": 1})
    toy.run_train(tmp_path / "whole", toy_encoder, toy_prepared, params)
    _interrupted(tmp_path / "again", toy_encoder, toy_prepared, params, at=19)
    _leave_out(section, monkeypatch)
    toy.run_train(tmp_path / "again", toy_encoder, toy_prepared, params)
    assert active == [True] * 3
    ends = {digest_file(tmp_path / name / "out/model.safetensors") for name in ("whole", "again")}
    assert (len(ends) == 1) == (section is None)


@pytest.mark.parametrize("precision", ["bf16", "fp16"])
def test_mixed_precision_resumes_to_the_bit(
    precision: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, toy_encoder: Path, toy_prepared: Path
) -> None:
    """Refused on a CPU because it is slow there; the code is the same as elsewhere, gradient scaler included."""
    monkeypatch.setattr(determinism, "_device", lambda _run: torch.device("cpu"))
    params = toy.train_params(("pos", "names"), **RUNS["sampled"])
    params["run"]["precision"] = precision
    toy.run_train(tmp_path / "whole", toy_encoder, toy_prepared, params)
    _interrupted(tmp_path / "again", toy_encoder, toy_prepared, params, at=29)
    saved = ResumePoints(tmp_path / "again/work", "identity").latest()
    assert saved is not None
    assert bool(saved["scaler"].values) == (precision == "fp16")
    toy.run_train(tmp_path / "again", toy_encoder, toy_prepared, params)
    ends = [digest_file(tmp_path / name / "out/model.safetensors") for name in ("whole", "again")]
    assert ends[0] == ends[1]


def _points(root: Path) -> Iterator[Path]:
    return iter(sorted((root / "work").glob("update-*"), reverse=True))


@pytest.mark.parametrize("damage", ["flipped bit", "cut file", "no manifest"])
def test_a_damaged_point_gives_way_to_the_one_before(
    damage: str, tmp_path: Path, toy_encoder: Path, toy_prepared: Path, uninterrupted: str
) -> None:
    params = toy.train_params(**RUNS["sampled"])
    _interrupted(tmp_path, toy_encoder, toy_prepared, params, at=29)
    newest, before = _points(tmp_path)
    tensors = newest / "tensors.safetensors"
    content = bytearray(tensors.read_bytes())
    if damage == "flipped bit":
        content[-100] ^= 1
        tensors.write_bytes(content)
    elif damage == "cut file":
        tensors.write_bytes(content[: len(content) // 2])
    else:
        (newest / "manifest.json").unlink()
    saved = ResumePoints(tmp_path / "work", "identity").latest()
    assert saved is not None
    assert saved["schedule"].values["update"] == int(before.name.removeprefix("update-"))
    assert not newest.exists()
    toy.run_train(tmp_path, toy_encoder, toy_prepared, params)
    assert digest_file(tmp_path / "out/model.safetensors") == uninterrupted


def test_points_of_another_run_are_not_taken_up(tmp_path: Path, toy_encoder: Path, toy_prepared: Path) -> None:
    _interrupted(tmp_path, toy_encoder, toy_prepared, toy.train_params(**RUNS["sampled"]), at=9)
    assert ResumePoints(tmp_path / "work", "another identity").latest() is None


def test_leftovers_of_a_kill_while_writing_are_removed(
    tmp_path: Path, toy_encoder: Path, toy_prepared: Path, uninterrupted: str
) -> None:
    params = toy.train_params(**RUNS["sampled"])
    _interrupted(tmp_path, toy_encoder, toy_prepared, params, at=9)
    torn = tmp_path / "work/.update-000000012.abc.tmp"
    torn.mkdir()
    (torn / "tensors.safetensors").write_bytes(b"half")
    toy.run_train(tmp_path, toy_encoder, toy_prepared, params)
    assert not torn.exists()
    assert digest_file(tmp_path / "out/model.safetensors") == uninterrupted
