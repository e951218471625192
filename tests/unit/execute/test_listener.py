"""The socket for progress, and those that killed runs leave."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from mtlspec.execute.listener import Listener


def _socket(path: Path) -> socket.socket:
    channel = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    channel.bind(str(path))
    return channel


def test_sockets_of_dead_runs_are_removed_and_those_of_others_stay(tmp_path: Path) -> None:
    dead, alive, other = (tmp_path / name for name in ("1.sock", "2.sock", "3.sock"))
    _socket(dead).close()  # as after a kill: the name stays
    other.write_text("no socket")
    with _socket(alive) as listening:
        listener = Listener.open(tmp_path)
        assert sorted(tmp_path.iterdir()) == sorted([alive, other, listener.path])
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as worker:
            worker.sendto(b'{"stage": "x"}', listener.address)
            worker.sendto(b"still there", str(alive))
        assert listener.messages() == [{"stage": "x"}]
        assert listening.recv(100) == b"still there"
        listener.close()
    assert not listener.path.exists()


def test_a_folder_with_a_long_name_has_its_sockets_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    short = tmp_path / "t"
    short.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(short))
    _socket(short / "mtlspec-1.sock").close()
    listener = Listener.open(tmp_path / ("x" * 100))
    assert [listener.path] == list(short.iterdir())
    listener.close()
