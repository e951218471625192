"""Same bytes on the fast path, on the reference path, and from a fresh clone; every spoilt byte is caught and named."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from zc.lockfile import LockFile

from mtlspec.execute.alone import run_alone
from mtlspec.io.project import Project
from tests.e2e.study import SPEC, Study

ONE_MODEL = SPEC.replace("  stl: {tasks: each, sharing: hard}\n", "").replace("[stl, mtl]", "[mtl]")


def _flip(path: Path, position: int = 200) -> None:
    data = bytearray(path.read_bytes())
    data[position] ^= 1
    path.write_bytes(bytes(data))


def test_a_fresh_clone_with_an_empty_cache_and_plain_dvc_gives_the_same_registry(study: Study, tmp_path: Path) -> None:
    """The contract between `mtlspec run` and `dvc repro`: same bytes, same dvc.lock.

    With one model only, for plain DVC starts a Python of its own for every stage; all kinds of stages are still there.
    """
    shutil.rmtree(study.run)
    (study.root / "specs" / "small.yaml").write_text(ONE_MODEL)
    study.mtlspec("run", "small", "--no-publish")
    study.tool("git", "add", "-A")
    study.tool("git", "-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-qm", "run")
    study.tool("git", "clone", "-q", ".", str(tmp_path / "clone"))
    clone = Study(tmp_path / "clone")
    assert not (clone.run / "artifacts").exists() and not (clone.root / ".dvc" / "cache").exists()
    clone.tool("dvc", "repro")
    assert clone.digests() == study.digests()
    assert clone.tool("git", "diff", "--exit-code", check=False).stdout == ""
    for name in ("dvc.lock", "registry/runs/small/dvc.lock"):
        assert yaml.safe_load((clone.root / name).read_text()) == yaml.safe_load((study.root / name).read_text())
    assert "up to date" in clone.tool("dvc", "status").stdout


@pytest.mark.slow  # a fresh clone shows the same by default
def test_forcing_one_training_stage_gives_the_same_md5(study: Study) -> None:
    before = yaml.safe_load((study.run / "dvc.lock").read_text())["stages"]["train-stl-ner-s1"]
    study.tool("dvc", "repro", "--force", "--single-item", "registry/runs/small/dvc.yaml:train-stl-ner-s1")
    assert yaml.safe_load((study.run / "dvc.lock").read_text())["stages"]["train-stl-ner-s1"] == before


def test_verify_computes_stages_again_and_finds_the_same_bits(study: Study) -> None:
    done = study.mtlspec("verify", "small", "--rerun", "--sample", "4", "--seed", "3")
    verdicts = [line.split()[0] for line in done.stdout.splitlines()[:-1]]
    assert verdicts == ["identical"] * 4
    assert done.stdout.splitlines()[-1] == "small: re-executed, everything holds"
    assert not (study.root / ".mtlspec" / "verify" / "small").exists()


def test_a_flipped_byte_in_a_checkpoint_is_caught_by_verify_and_by_the_next_stage(study: Study) -> None:
    _flip(study.run / "artifacts" / "train-stl-pos-s1" / "model.safetensors")
    failed = study.mtlspec("verify", "small", check=False)
    assert failed.returncode == 5
    assert "error E505" in failed.stderr and "train-stl-pos-s1/model.safetensors" in failed.stderr
    stage = study.mtlspec("stage", "evaluate-stl-pos-s1", "--spec", "small", check=False)
    assert stage.returncode == 5
    assert "error E505" in stage.stderr and "train-stl-pos-s1/model.safetensors" in stage.stderr


def test_a_record_or_summary_that_was_edited_is_caught_by_verify(study: Study) -> None:
    path = study.run / "record.json"
    honest = path.read_text()
    record = json.loads(honest)
    record["models"][0]["scores"]["test/mean"]["mean"] += 10
    path.write_text(json.dumps(record))
    failed = study.mtlspec("verify", "small", check=False)
    assert failed.returncode == 5
    assert "error E512: 'models' is not what the plan and the stages' records say" in failed.stderr
    record = json.loads(honest)
    record["code"]["files"]["train/loop.py"] = record["spec"]["digest"]
    path.write_text(json.dumps(record))
    failed = study.mtlspec("verify", "small", check=False)
    assert failed.returncode == 5 and "'code.files.train/loop.py' is not what the plan" in failed.stderr
    path.write_text(honest)
    with (study.run / "summary.md").open("a") as summary:
        summary.write("- and everything is significant\n")
    failed = study.mtlspec("verify", "small", check=False)
    assert failed.returncode == 5
    assert "summary.md: error E513" in failed.stderr


def test_scores_that_were_edited_everywhere_are_caught_by_verify(study: Study) -> None:
    path = study.run / "records" / "evaluate-stl-pos-s1.json"
    scores = json.loads(path.read_bytes())["scores"]
    for file in (path, study.run / "record.json"):
        file.write_text(file.read_text().replace(f": {scores['test/pos/accuracy']!r}", ": 99.5"))
    failed = study.mtlspec("verify", "small", check=False)
    assert failed.returncode == 5
    assert "error E516: the recorded scores are not those in scores.json" in failed.stderr


def test_where_no_artifact_is_verify_says_so_once(study: Study) -> None:
    shutil.rmtree(study.run / "artifacts")
    failed = study.mtlspec("verify", "small", check=False)
    assert failed.returncode == 5
    (line,) = failed.stderr.splitlines()
    assert "error E514: none of the " in line and "`mtlspec run small` brings them back" in line


def test_a_corrupt_cache_object_is_not_restored_but_computed_again(study: Study) -> None:
    before = study.digests()
    weights = study.run / "artifacts" / "train-stl-pos-s1" / "model.safetensors"
    content = weights.read_bytes()
    (cached,) = [
        p for p in (study.root / ".dvc" / "cache" / "files").rglob("*") if p.is_file() and p.read_bytes() == content
    ]
    cached.chmod(0o644)
    _flip(cached)
    cached.chmod(0o444)  # DVC trusts a protected object without hashing it
    shutil.rmtree(weights.parent)
    outcomes = study.outcomes(study.mtlspec("run", "small", "--no-publish"))
    assert outcomes["train-stl-pos-s1"] == "done"
    assert study.digests() == before


def test_a_corrupt_listing_in_the_cache_is_replaced(study: Study) -> None:
    lock = yaml.safe_load((study.run / "dvc.lock").read_text())["stages"]["report"]
    (listing,) = [out["md5"] for out in lock["outs"] if out["path"] == "artifacts/report"]
    cached = study.root / ".dvc" / "cache" / "files" / "md5" / listing[:2] / listing[2:]
    cached.chmod(0o644)
    cached.write_bytes(cached.read_bytes()[:50])
    cached.chmod(0o444)
    shutil.rmtree(study.run / "artifacts" / "report")
    assert study.outcomes(study.mtlspec("run", "small", "--no-publish"))["report"] == "done"
    assert "up to date" in study.tool("dvc", "status").stdout
    shutil.rmtree(study.run / "artifacts" / "report")
    assert study.outcomes(study.mtlspec("run", "small", "--no-publish")) == {"report": "restored"}


def test_a_corrupt_record_in_the_cache_is_not_restored(study: Study) -> None:
    before = study.digests()
    record = study.run / "records" / "evaluate-stl-pos-s1.json"
    content = record.read_bytes()
    (cached,) = [
        p for p in (study.root / ".dvc" / "cache" / "files").rglob("*") if p.is_file() and p.read_bytes() == content
    ]
    cached.chmod(0o644)
    _flip(cached)
    cached.chmod(0o444)
    record.unlink()
    outcomes = study.outcomes(study.mtlspec("run", "small", "--no-publish"))
    assert outcomes["evaluate-stl-pos-s1"] == "done"
    assert study.digests() == before


def test_broken_dvc_metadata_is_repaired(study: Study) -> None:
    before = study.digests()
    lock = study.run / "dvc.lock"
    honest = lock.read_bytes()
    lock.write_bytes(honest[: len(honest) // 2])
    (study.root / ".dvc" / "tmp" / "rwlock").write_text("")
    done = study.mtlspec("run", "small", "--no-publish")
    assert "repaired: removed registry/runs/small/dvc.lock" in done.stderr
    assert "repaired: removed .dvc/tmp/rwlock" in done.stderr
    assert {name for name, word in study.outcomes(done).items() if word == "done"} <= {"plan"}
    assert study.digests() == before and lock.read_bytes() == honest


def test_a_run_waits_for_another_dvc_command_and_loses_nothing(study: Study) -> None:
    shutil.rmtree(study.run / "artifacts" / "report")
    held = LockFile(str(study.root / ".dvc" / "tmp" / "lock"))
    command = [sys.executable, "-m", "mtlspec", "run", "small", "--no-publish"]
    with subprocess.Popen(
        command, cwd=study.root, env=study.environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as run:
        assert run.stderr is not None
        assert run.stderr.readline() == "waiting for another DVC command to finish\n"
        held.close()
        assert run.stderr.read().split() == ["restored", "report"]
    assert run.returncode == 0


def test_nobody_touches_the_stages_of_a_run_that_is_going_on(study: Study) -> None:
    with run_alone(Project(study.root), "small"):
        for command in (["plan", "small", "--write"], ["stage", "report", "--spec", "small"], ["run", "small"]):
            refused = study.mtlspec(*command, check=False)
            assert refused.returncode == 6 and "error E603: another process is running small" in refused.stderr
