"""An exported model on the run it belongs to: MLflow predicts what we predict; freed, it says so and is made again."""

from __future__ import annotations

import json
import re
import sys

import pytest

from tests.e2e.study import Study

STORE = "sqlite:///registry/mlflow/mlflow.db"
SENTENCES = ["Anna sees the old house .", "The big dog sleeps in Paris .", "John gives Mary a small book ."]


def _addresses(text: str) -> list[str]:
    return re.findall(r"^  (models:/\S+|runs:/\S+)$", text, re.MULTILINE)


def _by_mlflow(study: Study, address: str) -> list[dict[str, object]]:
    given = {"dataframe_split": {"columns": ["text"], "data": [[sentence] for sentence in SENTENCES]}}
    (study.root / "in.json").write_text(json.dumps(given))
    script = (
        "import json, sys, mlflow\n"
        "model = mlflow.pyfunc.load_model(sys.argv[1])\n"
        "given = json.load(open('in.json'))['dataframe_split']\n"
        "import pandas\n"
        "print(json.dumps(model.predict(pandas.DataFrame(**given))))\n"
    )
    done = study._run([sys.executable, "-W", "ignore", "-c", script, address], True, {"MLFLOW_TRACKING_URI": STORE})
    return [dict(one, place="") for one in json.loads(done.stdout.splitlines()[-1])]


@pytest.mark.slow
def test_a_model_on_its_run_says_what_we_say_is_freed_and_made_again(study: Study) -> None:
    model = "small/mtl-all-s1"
    (study.root / "new.txt").write_text("".join(f"{sentence}\n" for sentence in SENTENCES))
    ours = study.mtlspec("predict", model, "new.txt").stdout.splitlines()
    expected = [dict(json.loads(line), place="") for line in ours]

    first = study.mtlspec("export", model, "--log")
    assert first.stdout.splitlines()[1] == "logged in MLflow at registry/mlflow/mlflow.db"
    addresses = _addresses(first.stdout)
    assert len(addresses) == 2 and addresses[1].endswith("/mtl-all-s1")
    for address in addresses:
        assert _by_mlflow(study, address) == expected
    again = study.mtlspec("export", model, "--log")
    assert "logged before in MLflow" in again.stdout and _addresses(again.stdout) == addresses

    listed = json.loads(study.mtlspec("gc", "--json").stdout)
    study.mtlspec("gc", "small/mtl-*", "--free", "--yes")
    left = json.loads(study.mtlspec("gc", "--json").stdout)
    weights = (study.root / "registry/mlflow/artifacts/small/models").rglob("*.safetensors")
    assert left[0]["mlflow"] < listed[0]["mlflow"] and not list(weights)
    told = study.tool(sys.executable, "-c", f"import mtlspec; mtlspec.load({str(_logged(study))!r})", check=False)
    assert "E592: the weights of this exported model were freed" in told.stderr
    assert f"`mtlspec export {model} --log` logs it anew" in told.stderr
    assert "E591" in study.mtlspec("export", model, "--log", check=False).stderr

    study.tool("dvc", "repro")
    filled = study.mtlspec("export", model, "--log")
    assert "\nlogged in MLflow" in filled.stdout and _addresses(filled.stdout) == addresses
    assert _by_mlflow(study, addresses[0]) == expected


def _logged(study: Study) -> str:
    (folder,) = (study.root / "registry/mlflow/artifacts/small/models").glob("*/artifacts")
    return str(folder)


def test_what_cannot_be_logged_says_so(study: Study) -> None:
    done = study.mtlspec("export", "small/stl-pos-s1", check=False)
    assert (done.returncode, done.stderr) == (
        2, "error E575: there is no place to export to; name a new folder, or log the model in MLflow with `--log`\n",
    )  # fmt: skip
    study.mtlspec("export", "small/stl-pos-s1", "tagger")
    done = study.mtlspec("export", "tagger", "--log", check=False)
    assert (done.returncode, done.stderr) == (
        2,
        "--log: error E576: 'tagger' belongs to no run, so MLflow has no run to log it on; "
        "name a model of a run as `spec/model`\n",
    )
    done = study.mtlspec(
        "export", "small/stl-pos-s1", "other", "--log", check=False, MLFLOW_TRACKING_URI="http://a:b@127.0.0.1:1"
    )
    assert done.returncode == 6 and "error E641: not logged: MLflow at http://127.0.0.1:1: " in done.stderr
    assert "a:b" not in done.stderr and done.stderr.count("error") == 1
    assert (study.root / "other/MLmodel").is_file()  # the folder is whole, whatever became of MLflow
