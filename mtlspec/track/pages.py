"""MLflow's pages as its classic ones: without the menu for language models and without its assistant beside them.

MLflow keeps both choices in the browser, so that no option of its server reaches them. `--app-name` lets a plugin give
the web application: this one is MLflow's own with a page that makes these choices in a browser that has not made them.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from mtlspec.io.write import write_text

if TYPE_CHECKING:
    from fastapi import FastAPI
    from flask import Flask

NAME = "mtlspec"
_CHOICES = {  # keys and values of the browser's storage, as MLflow writes them
    "mlflow.workflowType_v1": "machine_learning",
    "mlflow.assistant.fab.autoOpenedOnFirstLoad_v1": True,
}


def announce(folder: Path) -> None:
    """Make the application known, under its name, to a Python that has the folder on its path."""
    plugin = folder / f"{NAME}_pages-1.dist-info"
    plugin.mkdir()
    write_text(plugin / "METADATA", f"Metadata-Version: 2.1\nName: {NAME}-pages\nVersion: 1\n")
    write_text(plugin / "entry_points.txt", f"[mlflow.app]\n{NAME} = {__name__}:application\n")


def application() -> FastAPI:
    """MLflow's application; the server calls this."""
    from mlflow.server import app
    from mlflow.server.fastapi_app import create_fastapi_app

    make_classic(app)
    served: FastAPI = create_fastapi_app(app)
    return served


def make_classic(app: Flask) -> None:
    """Let the one page that all of MLflow's views are drawn in choose before any of its own scripts run."""
    from flask import Response, request

    index = Path(app.static_folder or "") / "index.html"

    @app.before_request
    def page() -> Response | None:
        if request.path != "/" or not index.is_file():
            return None
        html = index.read_text(encoding="utf-8").replace("<head>", f"<head><script>{_script()}</script>", 1)
        return Response(html, mimetype="text/html", headers={"Cache-Control": "no-store"})


def _script() -> str:
    choices = json.dumps({key: json.dumps(value) for key, value in _CHOICES.items()})
    return (
        f"try{{for(const [key,value] of Object.entries({choices}))"
        "if(localStorage.getItem(key)===null)localStorage.setItem(key,value)}catch{}"
    )
