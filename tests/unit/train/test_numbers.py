"""Numbers that stay on a device until they are needed: the CPU plays the device."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import torch
from torch import Tensor

from mtlspec.errors import StageError
from mtlspec.io.digest import digest_file
from mtlspec.train import loop, numbers, optimiser
from mtlspec.train.balance import running_mean, uncertainty
from mtlspec.train.history import FIXED, History
from tests import toy

READERS = (loop, optimiser, running_mean, uncertainty)  # the modules that ask for numbers


def stay_away(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a GPU: nobody gets a float unless he waits for it."""
    for module in READERS:
        monkeypatch.setattr(module, "number", lambda value: value.detach().double())


@pytest.mark.parametrize(
    "train",
    [
        {"balance": {"type": "running_mean"}},
        {"balance": {"type": "uncertainty"}, "accumulate": 2, "clip": 0.5},
        {"batching": "joint", "clip": None, "checkpoint_every": 5},
    ],
    ids=["running_mean", "uncertainty", "joint"],
)
def test_weights_and_history_do_not_depend_on_when_numbers_are_read(
    train: dict[str, Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, toy_encoder: Path, toy_prepared: Path
) -> None:
    params = toy.train_params(("pos", "names"), epochs=1, batch={"sentences": 6, "tokens": 200}, **train)
    toy.run_train(tmp_path / "now", toy_encoder, toy_prepared, params)
    stay_away(monkeypatch)
    monkeypatch.setattr(loop, "WAITING", 7)
    toy.run_train(tmp_path / "later", toy_encoder, toy_prepared, params)
    for file in ("model.safetensors", "history.parquet", "epochs.json"):
        assert digest_file(tmp_path / "later/out" / file) == digest_file(tmp_path / "now/out" / file), file


def test_numbers_are_read_together_and_rarely(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, toy_encoder: Path, toy_prepared: Path
) -> None:
    """Neither a loss nor a norm is asked for between two readings of the history."""
    asked: list[str] = []
    for name in ("item", "__float__", "__bool__", "tolist"):
        real = getattr(Tensor, name)

        def counted(self: Tensor, *arguments: Any, name: str = name, real: Any = real) -> Any:
            if self.requires_grad or (self.ndim == 0 and self.dtype == torch.float64):  # losses, norms, weights
                asked.append(name)
            return real(self, *arguments)

        monkeypatch.setattr(Tensor, name, counted)
    stay_away(monkeypatch)
    reads: list[int] = []
    settle = History.settle
    monkeypatch.setattr(History, "settle", lambda self: (reads.append(self.waiting), settle(self))[1])
    params = toy.train_params(("pos", "names"), epochs=1, batch={"sentences": 6, "tokens": 200})
    result = toy.run_train(tmp_path, toy_encoder, toy_prepared, params)
    assert len(reads) == 1 and reads == [result.facts["updates"]]
    assert asked == []


@pytest.mark.parametrize("where", ["loss", "gradient"])
def test_a_number_that_is_not_finite_is_named_when_it_is_read(
    where: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, toy_encoder: Path, toy_prepared: Path
) -> None:
    """The update is that of the mishap, and no resume point has what came of it."""
    stay_away(monkeypatch)
    take = loop.take_update

    def spoil(state: Any, *arguments: Any) -> None:
        if state.update == 12 and where == "loss":
            with torch.no_grad():
                next(state.model.tasks[0].module.parameters()).fill_(float("nan"))
        elif state.update == 12:
            next(state.model.encoder.parameters()).register_hook(lambda gradient: gradient * float("inf"))
        take(state, *arguments)

    monkeypatch.setattr(loop, "take_update", spoil)
    limits = {"batch": {"sentences": 6, "tokens": 200}, "checkpoint_every": 10}
    params = toy.train_params(("pos",), epochs=1, **limits)
    with pytest.raises(StageError, match=r"'pos' is (nan|inf) at update 13") as caught:
        toy.run_train(tmp_path, toy_encoder, toy_prepared, params)
    assert caught.value.code == {"loss": "E430", "gradient": "E431"}[where]
    assert [path.name for path in (tmp_path / "work").iterdir()] == ["update-000000010"]


def test_a_history_settles_rows_in_order(tmp_path: Path) -> None:
    history = History(["gates"])
    fixed = dict.fromkeys(FIXED, 0.0)
    history.add({**fixed, "update": 1, "gates": 0.1})
    history.add({**fixed, "update": 2, "gates": torch.tensor(0.25)})
    history.add({**fixed, "update": 3, "gates": 0.5})
    assert (len(history), history.waiting) == (1, 2)
    assert [row["gates"] for row in history.settle()] == [0.25, 0.5]
    assert history.settle() == [] and history.waiting == 0
    history.write(tmp_path / "h.parquet", ["pos"])
    assert pq.read_table(tmp_path / "h.parquet").select(["update", "gates"]).to_pydict() == {
        "update": [1, 2, 3],
        "gates": [0.1, 0.25, 0.5],
    }


def test_ratios_of_nothing_are_one() -> None:
    assert numbers.ratio(3.0, 0.0) == 1.0 == float(numbers.ratio(torch.tensor(3.0), torch.tensor(0.0)))
    assert numbers.ratio(3.0, 2.0) == 1.5 == float(numbers.ratio(torch.tensor(3.0), torch.tensor(2.0)))
    assert numbers.times(torch.tensor(2.0), torch.tensor(0.1, dtype=torch.float64)).dtype == torch.float32


def test_a_cpu_run_opens_no_gpu(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, toy_encoder: Path, toy_prepared: Path
) -> None:
    """Even where there is one: a context on it takes half a gigabyte of its memory, for each worker."""

    def opened(*_: Any) -> None:
        raise AssertionError("a GPU was opened")

    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "_lazy_init", opened)
    params = toy.train_params(epochs=1, batch={"sentences": 6, "tokens": 200}, checkpoint_every=5)
    toy.run_train(tmp_path, toy_encoder, toy_prepared, params)
    assert list((tmp_path / "work").iterdir())
