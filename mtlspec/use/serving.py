"""An exported model as one of MLflow's: `mlflow models serve` and `predict` run it, and nothing is pickled."""

from __future__ import annotations

import json
from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mtlspec.errors import DataError
from mtlspec.io.write import write_text

if TYPE_CHECKING:
    from mtlspec.use.given import Given
    from mtlspec.use.predictor import Predictor

_MLMODEL = """\
flavors:
  python_function:
    env:
      virtualenv: python_env.yaml
    loader_module: mtlspec.use.serving
    python_version: {python}
mlflow_version: {mlflow}
signature:
  inputs: null
  outputs: null
  params: '{params}'
"""
_PARAMS: tuple[dict[str, Any], ...] = (  # MLflow passes on what is listed here and nothing else
    {"name": "tasks", "default": [], "shape": [-1], "type": "string"},
    {"name": "probabilities", "default": False, "shape": None, "type": "boolean"},
    {"name": "tokens", "default": "rules", "shape": None, "type": "string"},
    {"name": "sentences", "default": "", "shape": None, "type": "string"},  # "": an input is one sentence
)
_ENVIRONMENT = "python: {python}\ndependencies:\n- -r requirements.txt\n"


class Served:
    """What MLflow calls: a table with a column `text` (and `text2` of pairs) or `words`, or a list of texts."""

    def __init__(self, predictor: Predictor) -> None:
        self._predictor = predictor

    def predict(self, given: Any, params: dict[str, Any] | None = None) -> list[dict[str, Any]]:
        """What `mtlspec predict` prints; `params` may have `tasks`, `probabilities`, `tokens`, `sentences`."""
        asked = {"sentences": None, **(params or {})}
        asked["sentences"] = asked["sentences"] or None
        asked["tasks"] = [str(task) for task in asked.get("tasks", ())]
        return self._predictor.predict(_inputs(given), **asked)


def _load_pyfunc(path: str) -> Served:
    """MLflow's entry; `path` is the exported folder."""
    from mtlspec.use.loaded import load_as_evaluated

    return Served(load_as_evaluated(path).predictor)


def write_mlflow(folder: Path) -> None:
    """The files that make a folder a model of MLflow; they name no time, run or machine."""
    from platform import python_version

    python = python_version()
    needed = ("mtlspec", "mlflow", "torch", "transformers", "tokenizers", "safetensors")
    write_text(folder / "MLmodel", _MLMODEL.format(python=python, mlflow=version("mlflow"), params=json.dumps(_PARAMS)))
    write_text(folder / "python_env.yaml", _ENVIRONMENT.format(python=python))
    write_text(folder / "requirements.txt", "".join(f"{name}=={version(name)}\n" for name in needed))


def _inputs(given: Any) -> Iterable[Given]:
    if not hasattr(given, "columns"):
        return list(given)
    columns = [str(name) for name in given.columns]
    if "words" in columns:
        return [[*words] for words in given["words"]]
    if "text2" in columns and "text" in columns:
        return list(zip(given["text"], given["text2"], strict=True))
    if "text" in columns:
        return list(given["text"])
    hint = "name them `text`, `text` and `text2`, or `words`"
    raise DataError("E534", f"no column of the input is known: {', '.join(columns)}", None, hint)
