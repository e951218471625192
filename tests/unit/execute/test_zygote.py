"""Warm workers answer, fail in one line, and die with their driver."""

import json
import os
import select
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from mtlspec.execute.zygote import Zygote


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "registry" / "runs" / "x" / "stages").mkdir(parents=True)
    (tmp_path / "specs").mkdir()
    return tmp_path


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def _wait_until_dead(pids: list[int]) -> None:
    deadline = time.monotonic() + 20
    while any(_alive(pid) for pid in pids):
        assert time.monotonic() < deadline, "workers outlived their driver"
        time.sleep(0.05)


def test_a_worker_fails_in_one_line_and_the_server_goes_on(project: Path) -> None:
    zygote = Zygote.start(project)
    try:
        base = project / "registry" / "runs" / "x"
        full = Path("/dev/full")  # takes no byte, as a log on a full disk
        assert zygote.call("mute", "train", [str(base), "nothing", "", ""], full)["status"] == 4
        for attempt in ("first", "second"):
            reply = zygote.call(attempt, "train", [str(base), "nothing", "", ""], project / "log")
            assert (reply["job"], reply["status"]) == (attempt, 4)
            assert reply["tail"].count("\n") == 1 and "error E401" in reply["tail"]
        (base / "stages" / "bad.json").write_text("{}")
        assert "error E402" in zygote.call("bad", "train", [str(base), "bad", "", ""], project / "log")["tail"]
    finally:
        zygote.stop()
    assert zygote.process.poll() is not None


def test_kill_9_of_the_driver_takes_the_server_and_its_workers_along(project: Path) -> None:
    """A worker that hangs (its stage file is a pipe that nobody writes) must not survive the driver."""
    base = project / "registry" / "runs" / "x"
    os.mkfifo(base / "stages" / "hang.json")
    driver = subprocess.Popen(
        [
            sys.executable,
            "-c",
            textwrap.dedent(f"""
            import json, sys, time
            from pathlib import Path
            from mtlspec.execute.zygote import Zygote
            zygote = Zygote.start(Path({str(project)!r}))
            zygote.submit("hang", "data", [{str(base)!r}, "hang", "", ""], Path({str(project / "log")!r}))
            children = Path(f"/proc/{{zygote.process.pid}}/task/{{zygote.process.pid}}/children")
            while not children.read_text().split():
                time.sleep(0.05)
            print(json.dumps([zygote.process.pid, *map(int, children.read_text().split())]), flush=True)
            time.sleep(600)
            """),
        ],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert driver.stdout is not None
    pids = json.loads(driver.stdout.readline())
    assert len(pids) >= 2 and all(_alive(pid) for pid in pids)
    driver.send_signal(signal.SIGKILL)
    driver.wait()
    driver.stdout.close()
    _wait_until_dead(pids)


def test_a_driver_that_hangs_up_with_a_reply_unread_sees_no_traceback(
    project: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    zygote = Zygote.start(project)
    base = project / "registry" / "runs" / "x"
    zygote.submit("first", "data", [str(base), "nothing", "", ""], project / "log")
    assert select.select([zygote.channel], [], [], 60)[0]
    zygote.channel.close()
    _wait_until_dead([zygote.process.pid])
    assert zygote.process.wait() == -signal.SIGKILL
    assert capfd.readouterr().err == ""
