"""MLflow's pages as `mtlspec ui` serves them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from flask import Flask

from mtlspec.track import pages

INDEX = '<!doctype html><html lang="en"><head><title>MLflow</title></head><body><div id="root"></div></body></html>'


@pytest.fixture
def app(tmp_path: Path) -> Flask:
    """As MLflow's own: it sends the file, and says when it was written."""
    (tmp_path / "index.html").write_text(INDEX)
    app = Flask("toy", static_folder=tmp_path, static_url_path="/static-files")

    @app.route("/")
    def serve() -> object:
        return app.send_static_file("index.html")

    @app.route("/other")
    def other() -> str:
        return INDEX

    return app


def test_the_page_chooses_the_classic_menu_and_no_assistant_before_it_is_drawn(app: Flask) -> None:
    pages.make_classic(app)
    client = app.test_client()
    answer = client.get("/", headers={"If-None-Match": "*"})  # a browser that has MLflow's own page
    assert (answer.status_code, answer.headers["Cache-Control"]) == (200, "no-store")
    before, script, after = answer.text.replace("</script>", "<script>").split("<script>")
    assert before + after == INDEX
    assert before.endswith("<head>")
    assert '"mlflow.workflowType_v1": "\\"machine_learning\\""' in script
    assert '"mlflow.assistant.fab.autoOpenedOnFirstLoad_v1": "true"' in script
    assert "getItem(key)===null" in script  # who chose something else keeps it
    assert client.get("/other").text == INDEX


def test_a_server_without_pages_says_what_it_said(app: Flask, tmp_path: Path) -> None:
    (tmp_path / "index.html").unlink()
    pages.make_classic(app)
    assert app.test_client().get("/").status_code == 404


def test_mlflow_knows_the_keys_and_finds_the_application(tmp_path: Path) -> None:
    """Both are MLflow's own affair: a version that renames a key shows its other menu again, and this fails."""
    import mlflow

    (main,) = (Path(mlflow.__file__).parent / "server" / "js" / "build" / "static" / "js").glob("main.*.js")
    text = main.read_text(encoding="utf-8")
    assert 'key:"mlflow.workflowType",version:1' in text
    assert 'key:"mlflow.assistant.fab.autoOpenedOnFirstLoad",version:1' in text
    pages.announce(tmp_path)
    code = "from importlib.metadata import entry_points; print(*entry_points(group='mlflow.app', name='mtlspec'))"
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    found = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=True
    )
    assert "value='mtlspec.track.pages:application'" in found.stdout
