"""A run computes what is stale, exactly that, and says why."""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path

import pytest

from tests.e2e.study import DATA_CARD, SPEC, Study

REPORTING = {"analyse-scores", "report"}
EXPLODING = SPEC.replace(
    "mtl: {tasks: all, sharing: hard}",
    "mtl: {tasks: all, sharing: hard, train: {lr: {encoder: 1e38, decoder: 1e38}, clip: null, warmup: 0.0}}",
)


def test_a_finished_run_has_scores_a_record_and_a_report(finished: Study) -> None:
    record = json.loads((finished.run / "record.json").read_bytes())
    assert record["missing"] == []
    assert {model["name"] for model in record["models"]} == {"stl-pos", "stl-ner", "mtl-all"}
    assert all(0 <= model["scores"]["test/mean"]["mean"] <= 100 for model in record["models"])
    page = (finished.run / "artifacts" / "report" / "report.html").read_text()
    assert "stl" in page and "http://" not in page.replace("http://www.w3.org", "")


def test_a_model_of_a_run_predicts_what_its_evaluation_predicted_and_can_be_taken_elsewhere(study: Study) -> None:
    study.mtlspec("predict", "small/mtl-all-s1", "--card", "mini", "--files", "predicted")
    for task in ("pos", "ner"):
        evaluated = study.run / "artifacts/evaluate-mtl-all-s1/predictions" / f"{task}.tsv"
        assert (study.root / "predicted" / f"{task}.tsv").read_bytes() == evaluated.read_bytes()
    done = study.mtlspec("export", "small/mtl-all-s1", "tagger", "--task", "pos")
    assert done.stdout.startswith("tagger: task 'pos' as a token-classification model of transformers, proven equal ")
    study.mtlspec("predict", "tagger", "--card", "mini", "--files", "again")
    assert (study.root / "again/pos.tsv").read_bytes() == (study.root / "predicted/pos.tsv").read_bytes()


@pytest.mark.parametrize("command", ["check", "plan"])
def test_checking_and_planning_never_import_what_is_slow(finished: Study, command: str) -> None:
    done = finished.tool(sys.executable, "-X", "importtime", "-m", "mtlspec", command, "small")
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "pydantic" in imported and not {"torch", "mlflow", "transformers", "datasets", "dvc", "numpy"} & imported


def test_a_second_run_does_nothing_and_dvc_agrees(study: Study) -> None:
    before = study.digests()
    done = study.mtlspec("run", "small", "--no-publish")
    assert study.outcomes(done) == {}
    assert "± " in done.stdout or "pos accuracy" in done.stdout
    assert "up to date" in study.tool("dvc", "status").stdout
    repro = study.tool("dvc", "repro")
    assert "Running stage" not in repro.stdout
    assert study.digests() == before


def test_deleted_outputs_come_back_without_training(study: Study) -> None:
    before = study.digests()
    shutil.rmtree(study.run / "artifacts")
    shutil.rmtree(study.run / "records")
    foretold, few_seeds = study.mtlspec("plan", "small").stdout.splitlines()
    assert foretold == "small: 11 stages, 11 cached (11 from DVC's cache), 0 to run"
    assert few_seeds.startswith("seeds: scores compares ways of training, and one seed shows no scatter")
    outcomes = study.outcomes(study.mtlspec("run", "small", "--no-publish"))
    assert set(outcomes.values()) == {"restored"}
    assert study.digests() == before


def test_one_option_of_one_model_reruns_that_model_only(study: Study) -> None:
    spec = study.root / "specs" / "small.yaml"
    spec.write_text(
        SPEC.replace("mtl: {tasks: all, sharing: hard}", "mtl: {tasks: all, sharing: hard, train: {epochs: 2}}")
    )
    plan = study.plan()
    stale = {name for name, stage in plan.items() if stage["state"] != "cached"}
    assert stale == {"train-mtl-all-s1", "evaluate-mtl-all-s1", *REPORTING}
    assert plan["train-mtl-all-s1"]["reasons"] == ["option train.epochs: 1 → 2"]
    assert plan["evaluate-mtl-all-s1"]["reasons"] == ["after train-mtl-all-s1"]
    outcomes = study.outcomes(study.mtlspec("run", "small", "--no-publish"))
    assert outcomes.pop("plan") == "done"
    assert outcomes.pop("results@small") == "done"
    assert set(outcomes) == stale


def test_one_line_of_the_crf_reruns_the_models_with_a_crf_only(study: Study) -> None:
    source = study.root / "mtlspec" / "model" / "taggers" / "crf.py"
    source.write_text(source.read_text() + "\n# a change\n")
    plan = study.plan()
    touched = {name for name, stage in plan.items() if "code: model/taggers/crf.py changed" in stage["reasons"]}
    assert touched == {"train-stl-ner-s1", "evaluate-stl-ner-s1", "train-mtl-all-s1", "evaluate-mtl-all-s1"}
    ran = {
        name for name, word in study.outcomes(study.mtlspec("run", "small", "--no-publish")).items() if word == "done"
    }
    assert ran >= touched
    assert not ran & {"train-stl-pos-s1", "evaluate-stl-pos-s1", "pretrain-micro", "prepare-mini-micro", "data-mini"}


def test_plain_dvc_sees_an_edit_of_the_code_too(study: Study) -> None:
    source = study.root / "mtlspec" / "analyses" / "score_matrix.py"
    source.write_text(source.read_text() + "\n# a change\n")
    repro = study.tool("dvc", "repro").stdout
    ran = {line.split("'")[1].rpartition(":")[2] for line in repro.splitlines() if line.startswith("Running stage")}
    assert {"plan", "analyse-scores"} <= ran
    assert not any(name.startswith(("train-", "evaluate-", "prepare-", "pretrain-")) for name in ran)


def test_plain_dvc_refuses_stages_that_no_longer_fit_the_spec(study: Study) -> None:
    spec = study.root / "specs" / "small.yaml"
    spec.write_text(SPEC.replace("epochs: 1", "epochs: 3"))
    kept = {path: path.read_bytes() for path in (study.run / "plan.json", *(study.run / "code").glob("*.json"))}
    failed = study.tool("dvc", "repro", check=False)
    assert failed.returncode != 0
    assert "error E408" in failed.stderr and "mtlspec plan --write" in failed.stderr
    spec.unlink()
    failed = study.tool("dvc", "repro", check=False)
    assert failed.returncode != 0 and "specs/small.yaml" in failed.stderr
    assert {path: path.read_bytes() for path in kept} == kept
    study.mtlspec("registry", "remove", "small", "--yes")
    assert not study.run.exists() and "results" not in (study.root / "dvc.lock").read_text()
    study.tool("dvc", "repro")


def test_another_version_of_a_package_that_computes_is_seen_by_a_run(study: Study) -> None:
    """The package may be upgraded by hand: no file that DVC knows has changed then."""
    other = study.root / "numba-99.0.dist-info"
    other.mkdir()
    (other / "METADATA").write_text("Metadata-Version: 2.1\nName: numba\nVersion: 99.0\n")
    assert re.fullmatch(r"package numba: [0-9.]+ → 99\.0", study.plan()["pretrain-micro"]["reasons"][0])
    outcomes = study.outcomes(study.mtlspec("run", "small", "--no-publish"))
    assert outcomes["plan"] == outcomes["pretrain-micro"] == "done"
    shutil.rmtree(other)
    plan = study.plan()
    assert {stage["state"] for stage in plan.values()} == {"cached"}
    assert plan["pretrain-micro"]["reasons"][0] == "comes back from the cache"
    outcomes = study.outcomes(study.mtlspec("run", "small", "--no-publish"))
    assert {name for name, word in outcomes.items() if word == "done"} == {"plan"}


def test_two_specs_share_what_is_the_same(study: Study) -> None:
    other = study.root / "specs" / "other.yaml"
    other.write_text(
        "extends: small.yaml\nname: other\nmodels:\n  more: {tasks: [pos], sharing: hard, train: {epochs: 2}}\n"
    )
    *lines, _ = study.mtlspec("plan", "other").stdout.splitlines()  # the last tells of few seeds
    assert lines[-1].startswith("other: 13 stages, 10 cached (10 from DVC's cache), 3 to run; less than a minute on ")
    assert lines[-1].endswith(" MB (times of 3 like others that ran here)")
    assert [(line.split()[:2], line.split()[2][0]) for line in lines[2:5]] == [
        (["train-more-pos-s1", "new"], "~"),
        (["evaluate-more-pos-s1", "new"], "~"),
        (["report", "new"], "~"),
    ]
    outcomes = study.outcomes(study.mtlspec("run", "other", "--no-publish"))
    ran = {name for name, word in outcomes.items() if word == "done"}
    assert ran == {"plan", "train-more-pos-s1", "evaluate-more-pos-s1", "report", "results@other"}
    assert outcomes["train-stl-pos-s1"] == "restored"
    assert "results@other" in study.tool("dvc", "stage", "list", "--name-only").stdout
    assert "up to date" in study.tool("dvc", "status").stdout


def test_plain_dvc_repro_does_not_stop_for_want_of_outside_data(study: Study, tmp_path: Path) -> None:
    corpora = str(tmp_path)
    shutil.copytree(study.run / "artifacts" / "data-mini", tmp_path / "mini")
    card = re.sub("generator: .*", "root: $CORPORA/mini", DATA_CARD).replace("name: mini", "name: afar")
    (study.root / "registry" / "data" / "afar.yaml").write_text(card)
    spec = (
        SPEC.replace("name: small", "name: far")
        .replace("data: mini", "data: afar")
        .replace("tasks: each", "tasks: [pos]")
    )
    (study.root / "specs" / "far.yaml").write_text(re.sub("  mtl: .*\n", "", spec).replace(", mtl]", "]"))
    study.mtlspec("data", "lock", "afar", CORPORA=corpora)
    study.mtlspec("run", "far", "--no-publish", CORPORA=corpora)
    study.tool("dvc", "repro", "--force", "--single-item", "registry/runs/dvc.yaml:results@far", CORPORA=corpora)
    assert "up to date" in study.tool("dvc", "status").stdout

    without = study.mtlspec("run", "far", "--no-publish")
    assert "CORPORA is not set: using the copy that was made when it was here" in without.stderr
    assert "using the copy that was made when it was here" in study.mtlspec("check", "far").stderr
    for name in ("train.conllu", "dev.conllu"):
        with (tmp_path / "mini" / name).open("a") as file:
            file.write("\n")
    drifted = study.mtlspec("stage", "data-afar", "--spec", "far", check=False, CORPORA=corpora)
    assert drifted.returncode == 3 and drifted.stderr.count("error E265") == 2

    shutil.rmtree(study.root / "registry" / "runs" / "far" / "artifacts")
    at_the_root = study.tool("dvc", "repro").stdout
    assert "results@small" in at_the_root and "far" not in at_the_root
    assert "deleted:" in study.tool("dvc", "status").stdout
    (study.root / "registry" / "runs" / ".dvcignore").unlink()  # as in a fresh clone
    assert "up to date" in study.tool("dvc", "status").stdout
    hidden = study.tool("dvc", "repro", "registry/runs/dvc.yaml:results@far", check=False)
    assert hidden.returncode != 0 and "is dvc-ignored" in hidden.stderr
    assert (study.root / "registry" / "runs" / "far" / "record.json").is_file()
    study.mtlspec("plan", "--write", "far")
    failed = study.tool("dvc", "repro", "--force", "--single-item", "registry/runs/far/dvc.yaml:data-afar", check=False)
    assert failed.returncode != 0 and "CORPORA is not set; set CORPORA to the folder of the data" in failed.stderr


def test_a_failing_stage_is_one_line_and_costs_what_depends_on_it_only(study: Study) -> None:
    """A learning rate that explodes: the loss is not finite, the other models are not lost."""
    (study.root / "specs" / "small.yaml").write_text(EXPLODING.replace("seeds: [1]", "seeds: [2]"))
    failed = study.mtlspec("run", "small", "--no-publish", "-j", "1", check=False)
    assert failed.returncode == 4
    assert failed.stderr.strip().splitlines()[-1].startswith("error E410: stage 'train-mtl-all-s2' failed")
    assert "Traceback" not in failed.stderr
    assert not (study.run / "artifacts" / "train-mtl-all-s2").exists()
    assert not list(study.run.rglob("*.tmp"))
    assert study.outcomes(failed)["train-stl-pos-s2"] == "skipped"  # the longest is first, and nothing starts after it
    failed = study.mtlspec("run", "small", "--no-publish", "-j", "1", "--keep-going", check=False)
    outcomes = study.outcomes(failed)
    assert failed.returncode == 4
    assert outcomes["train-mtl-all-s2"] == "FAILED" and outcomes["report"] == "skipped"
    assert outcomes["evaluate-stl-pos-s2"] == outcomes["evaluate-stl-ner-s2"] == "done"


def test_a_data_file_that_drifts_is_named_with_both_digests(study: Study, tmp_path: Path) -> None:
    """A corpus on disk instead of a generated one: pinned, drifted, accepted."""
    corpus = study.root / "corpus"
    shutil.copytree(study.run / "artifacts" / "data-mini", corpus, ignore=shutil.ignore_patterns("manifest.json"))
    card = study.root / "registry" / "data" / "mini.yaml"
    text = "\n".join(
        "root: corpus" if line.startswith("generator:") else line for line in card.read_text().splitlines()
    )
    card.write_text(text + "\n")
    study.mtlspec("data", "lock", "mini")
    study.mtlspec("run", "small", "--no-publish")
    path = corpus / "train.conllu"
    path.write_text(path.read_text().replace("text = ", "text =  ", 1))
    failed = study.mtlspec("run", "small", "--no-publish", check=False)
    assert failed.returncode == 3
    (line,) = failed.stderr.strip().splitlines()
    assert "corpus/train.conllu" in line and "mtlspec data lock mini" in line
    assert len([word for word in line.replace(",", " ").replace(";", " ").split() if len(word) == 64]) == 2
    study.mtlspec("data", "lock", "mini")
    plan = study.plan()
    assert plan["data-mini"]["reasons"] == ["data card mini: files changed (sha256)"]


def test_a_variant_runs_beside_its_spec_and_every_command_knows_it(study: Study) -> None:
    before = study.digests()
    done = study.mtlspec("run", "small", "--set", "seeds=[1]", "--no-publish")
    assert "small-seeds_1: a variant of small, with a record of its own" in done.stderr
    outcomes = study.outcomes(done)
    ran = {name for name, word in outcomes.items() if word == "done"}
    assert ran == {"plan", "report", "results@small-seeds_1"}  # all else is what its spec has computed already
    assert study.digests() == before
    run = study.root / "registry" / "runs" / "small-seeds_1"
    record = json.loads((run / "record.json").read_bytes())
    assert record["spec"]["name"] == "small-seeds_1"
    assert record["spec"]["variant"] == {"of": "small", "file": "specs/small.yaml", "overrides": ["seeds=[1]"]}
    assert "variant" not in json.loads((study.run / "record.json").read_bytes())["spec"]
    rows = json.loads(study.mtlspec("registry", "list", "--json").stdout)
    assert [(row["spec"], row["state"]) for row in rows] == [("small", "current"), ("small-seeds_1", "current")]
    shown = study.mtlspec("registry", "show", "small-seeds_1").stdout
    assert "variant of   small (specs/small.yaml) with seeds=[1]" in shown and "up to date" in shown
    assert (
        "1 artifact with other bytes: report"
        in study.mtlspec("registry", "diff", "small", "small-seeds_1", check=False).stdout
    )
    assert study.mtlspec("report", "small-seeds_1").stdout.strip() == "registry/runs/small-seeds_1/work/report.html"
    assert "everything holds" in study.mtlspec("verify", "small-seeds_1").stdout
    assert study.outcomes(study.mtlspec("run", "small-seeds_1", "--no-publish")) == {}
    assert "Running stage" not in study.tool("dvc", "repro", "results@small-seeds_1").stdout
    spec = study.root / "specs" / "small.yaml"
    spec.write_text(SPEC.replace("seeds: [1]", "seeds: [1, 2]"))
    rows = json.loads(study.mtlspec("status", "--json").stdout)
    assert [(row["spec"], row["state"]) for row in rows] == [("small", "stale"), ("small-seeds_1", "current")]
    shutil.rmtree(run / "artifacts")
    rows = json.loads(study.mtlspec("registry", "list", "--json").stdout)
    assert [(row["state"], row["here"]) for row in rows] == [("stale", [9, 17]), ("elsewhere", [0, 11])]
