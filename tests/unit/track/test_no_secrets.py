"""Secrets planted wherever MLflow finds them: none is written or printed, whatever goes wrong."""

from __future__ import annotations

import base64
import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

from mtlspec.cli.app import run as mtlspec
from mtlspec.execute.publishing import publish_apart
from mtlspec.track.outbox import Outbox
from tests.finished_run import FinishedRun, make_run
from tests.odd_servers import Answer, odd_server, redirect, refuse

SECRET, USER = "Sesame4711", "annabelle"
LOCATION = f"foo://{USER}:{SECRET}@other/x?access_token={SECRET}"
HEADERS = f"X-Api-Key: {SECRET}; Cookie: a={SECRET}; 'authorization': b'Bearer {SECRET}'"
ECHO = None  # a server that quotes the whole request
CASES: dict[str, tuple[str, Mapping[str, str], Answer | None, bool]] = {
    # name: (MLFLOW_TRACKING_URI, other variables, the server, whether the secret goes over the line)
    "a token as the user": ("http://{secret}@{place}", {}, ECHO, False),
    "an @ in the password": ("http://{user}:x@{secret}@{place}", {}, ECHO, True),
    "a slash in the password": ("http://{user}:x/{secret}@{place}", {}, ECHO, False),
    "an @ and a slash in the password": ("http://{user}:x@{secret}/y@{place}", {}, ECHO, False),
    "a slash in a token": ("http://{secret}/{secret}@{place}", {}, ECHO, False),
    "a question mark in a token": ("http://{secret}?{secret}@{place}", {}, ECHO, False),
    "an address without http": ("{user}:{secret}@{place}", {}, ECHO, False),
    "a quoted password": ("http://{user}:%53{rest}@{place}", {}, ECHO, True),
    "a query": ("http://{place}/?token={secret}", {}, ECHO, True),
    "a password in the environment": (
        "http://{place}", {"MLFLOW_TRACKING_USERNAME": USER, "MLFLOW_TRACKING_PASSWORD": SECRET}, ECHO, True),
    "a token in the environment": ("http://{place}", {"MLFLOW_TRACKING_TOKEN": SECRET}, ECHO, True),
    "an error that quotes a header": (
        "http://{place}", {}, refuse(403, HEADERS), False),
    "a redirect": ("http://{place}", {}, redirect(LOCATION), False),
    "a redirect with a token": ("http://{secret}:@{place}", {}, redirect("/next?sig=" + SECRET), True),
}  # fmt: skip
PLANTED = (SECRET, USER, SECRET[1:], *(
    base64.b64encode(pair.encode()).decode().rstrip("=")
    for pair in (f"{USER}:{SECRET}", f"{SECRET}:", f"{USER}:x@{SECRET}")
))  # fmt: skip


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> FinishedRun:
    return make_run(tmp_path_factory.mktemp("small"), tasks=("pos",), seeds=(1,))


@pytest.fixture
def own(small: FinishedRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FinishedRun:
    run = small.copy_to(tmp_path / "project")
    monkeypatch.chdir(run.project.root)
    return run


def _told(text: str) -> list[str]:
    return [secret for secret in PLANTED if secret in text]


def _written(root: Path) -> dict[str, list[str]]:
    """Files, and names of files, that hold a secret."""
    found = {str(path): _told(path.read_bytes().decode("latin-1")) for path in root.rglob("*") if path.is_file()}
    return {path: secrets for path, secrets in found.items() if secrets or _told(path)}


@pytest.mark.parametrize("case", CASES)
def test_no_secret_is_written_or_printed(
    case: str, own: FinishedRun, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    form, variables, answer, travels = CASES[case]
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with odd_server(answer) as server:
        uri = form.format(secret=SECRET, rest=SECRET[1:], user=USER, place=server.place)
        monkeypatch.setenv("MLFLOW_TRACKING_URI", uri)
        printed = ""
        for options in ([], ["--json"], ["--debug"]):
            assert mtlspec(["publish", "study", *options]) == 1
            captured = capfd.readouterr()
            printed += captured.out + captured.err
        assert bool(_told("".join(server.asked))) == travels  # what is hidden was there to be told
    assert "warning" in printed
    assert (server.place in printed) or not travels
    assert _told(printed) == []
    assert _written(own.project.root) == {}
    outbox = Outbox(own.project, "study")
    assert len(outbox.pending()) == 5
    assert outbox.pending_file.stat().st_mode & 0o777 == 0o600


def test_no_secret_is_in_a_store_that_was_filled(
    own: FinishedRun, empty_store: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    own.project.tracking.mkdir()
    shutil.copy(empty_store, own.project.tracking / "mlflow.db")
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    for part, value in (("USERNAME", USER), ("PASSWORD", SECRET), ("TOKEN", SECRET)):
        monkeypatch.setenv(f"MLFLOW_TRACKING_{part}", value)
    assert mtlspec(["publish", "study"]) == 0
    assert _told("".join(capfd.readouterr())) == []
    assert _written(own.project.root) == {}
    assert Outbox(own.project, "study").delivered_file.stat().st_mode & 0o777 == 0o600


def test_no_secret_reaches_the_last_line_of_a_run(own: FinishedRun, monkeypatch: pytest.MonkeyPatch) -> None:
    notes: list[str] = []
    with odd_server() as server:
        monkeypatch.setenv("MLFLOW_TRACKING_URI", f"http://{USER}:x@{SECRET}@{server.place}")
        publish_apart(own.project, "study", notes.append)
    (note,) = notes
    assert note.startswith(f"not published: MLflow at http://{server.place}: ")
    assert _told(note) == []
    assert _written(own.project.root) == {}
