"""`mtlspec registry export`: the package of a run, read back by the validators of RO-Crate and Croissant."""

from __future__ import annotations

import csv
import io
import json
import logging
import shutil
import subprocess
import zipfile
from pathlib import Path
from typing import Any

import pytest
import yaml

from mtlspec.cli.app import run as mtlspec
from mtlspec.io.digest import digest_bytes
from mtlspec.io.project import Project
from mtlspec.io.write import write_json
from mtlspec.plan.build import resolved
from mtlspec.spec.load import load_spec
from mtlspec.use.package.checklists import answers
from mtlspec.use.package.export import export_package
from mtlspec.use.package.known import Known
from mtlspec.use.package.redaction import HIDDEN
from tests.finished_run import FinishedRun, read

ROOT = Path(__file__).parents[3]
DAY = "2026-01-02"


def unpacked(file: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(file) as archive:
        return {name: archive.read(name) for name in archive.namelist() if not name.endswith("/")}


@pytest.fixture(scope="module")
def committed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package of the study whose record is in git."""
    out = tmp_path_factory.mktemp("package") / "stem_cell.zip"
    export_package(Project(ROOT), "stem_cell", out, DAY, with_report=False)
    return out


@pytest.fixture
def own(study: FinishedRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FinishedRun:
    run = study.copy_to(tmp_path / "project")
    monkeypatch.chdir(run.project.root)
    return run


@pytest.mark.filterwarnings("ignore:ConjunctiveGraph is deprecated:DeprecationWarning")  # rdflib's, of its own parser
def test_both_validators_take_the_package(committed: Path, tmp_path: Path) -> None:
    import mlcroissant
    from rocrate.rocrate import ROCrate

    logging.getLogger("absl").setLevel(logging.ERROR)  # what Croissant recommends and no card knows
    crate = ROCrate(committed)
    files = unpacked(committed)
    described = {entity.id: entity for entity in crate.data_entities}
    assert described.keys() == {*files, "report/"} - {"ro-crate-metadata.json"}
    for name, data in files.items():
        if name in described:
            assert (described[name]["sha256"], described[name]["contentSize"]) == (digest_bytes(data), str(len(data)))
    assert crate.root_dataset["datePublished"] == crate.datePublished.date().isoformat() == DAY
    assert {part.id for part in crate.get("#run")["result"]} == {"record.json", "scores.csv", "report/"}
    (tmp_path / "mini.json").write_bytes(files["croissant/english_mini.json"])
    dataset = mlcroissant.Dataset(jsonld=str(tmp_path / "mini.json"))
    card = json.loads(files["record.json"])["data"]["cards"]["english_mini"]
    assert {file.name: file.sha256 for file in dataset.metadata.file_objects} == card["sha256"]
    splits = {str(row["splits/name"]): row["splits/examples"] for row in dataset.records("splits")}
    assert splits == {"train": 3000, "dev": 500, "test": 500}
    layers = {str(row["layers/name"]): str(row["layers/kind"]) for row in dataset.records("layers")}
    assert (layers["dep"], layers["con"], layers["srl"], layers["xpos"]) == ("dep", "con", "srl", "tags")


def test_the_same_run_gives_the_same_bytes_and_nothing_of_the_machine(committed: Path, tmp_path: Path) -> None:
    made = export_package(Project(ROOT), "stem_cell", tmp_path / "again.zip", DAY, with_report=False)
    assert (tmp_path / "again.zip").read_bytes() == committed.read_bytes() and not made.hidden
    for name, data in unpacked(committed).items():
        assert str(ROOT).encode() not in data and str(Path.home()).encode() + b"/" not in data, name


def test_spec_and_cards_of_a_package_are_the_experiment_of_its_record(committed: Path, tmp_path: Path) -> None:
    files = unpacked(committed)
    for name, data in files.items():
        folder, _, rest = name.partition("/")
        place = {"specs": tmp_path / "specs", "cards": tmp_path / "registry"}.get(folder)
        if place is not None:
            (place / rest).parent.mkdir(parents=True, exist_ok=True)
            (place / rest).write_bytes(data)
    record = json.loads(files["record.json"])
    said = resolved(load_spec(tmp_path / "specs/stem_cell.yaml", Project(tmp_path)))
    assert said["data"] == record["data"]["cards"] and said["encoder"] == record["encoder"]["card"]
    ran = record["spec"]["resolved"]
    assert all(said["spec"][part].keys() == ran[part].keys() for part in ("models", "tasks", "analyses"))
    assert all(said["spec"]["train"][key] == value for key, value in ran["train"].items())
    assert yaml.safe_load(files["resolved_spec.yaml"]) == ran


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("epochs: 4", "epochs: 5"),
        ("seeds: [1, 2, 3]", "seeds: [1, 2]"),
        ("  stem_cells:", "  more: {type: score_matrix}\n  stem_cells:"),
    ],
)
def test_a_spec_that_says_something_else_by_now_is_left_out(tmp_path: Path, before: str, after: str) -> None:
    shutil.copytree(ROOT / "specs", tmp_path / "specs")
    for part in ("data", "encoders"):
        shutil.copytree(ROOT / "registry" / part, tmp_path / "registry" / part)
    for part in ("record.json", "stages/plan.json"):
        (tmp_path / "registry/runs/stem_cell" / part).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / "registry/runs/stem_cell" / part, tmp_path / "registry/runs/stem_cell" / part)
    file = tmp_path / "specs/stem_cell.yaml"
    text = file.read_text()
    for number, written in enumerate((f"{text}# read again\n", text.replace(before, after, 1))):
        assert written != text
        file.write_text(written)
        export_package(Project(tmp_path), "stem_cell", tmp_path / f"{number}.zip", DAY, with_report=False)
    assert unpacked(tmp_path / "0.zip")["specs/stem_cell.yaml"].endswith(b"# read again\n")
    files = unpacked(tmp_path / "1.zip")
    assert "specs/stem_cell.yaml" not in files and "says something else by now" in files["README.md"].decode()


def test_checklists_say_what_the_record_knows_and_no_more() -> None:
    record = read(ROOT / "registry/runs/stem_cell/record.json")
    found = {(one.checklist.partition(":")[0].split()[0], one.item): one for one in answers(Known(record))}
    compute = found["ACL", "C1"].answer
    totals = [stage["facts"]["parameters"]["total"] for stage in record["stages"].values() if stage["kind"] == "train"]
    assert f"from {min(totals):,} to {max(totals):,} a model" in compute and "Hours and energy are unknown" in compute
    updates = sum(stage["facts"]["updates"] for stage in record["stages"].values() if stage["kind"] == "train")
    assert f"99 trainings, {updates:,} updates in all" in compute and found["ACL", "C1"].known == "in part"
    assert "33 configurations with 3 seeds each (1, 2, 3)" in found["NeurIPS", "7"].answer
    assert found["ACL", "B6"].answer == "Examples: english_mini: dev 500, test 500, train 3,000."
    assert "corpus english_mini: CC0-1.0" in found["NeurIPS", "12"].answer
    unknown = {key for key, one in found.items() if one.known == "unknown"}
    assert {("ACL", "A1"), ("ACL", "B4"), ("ACL", "D"), ("NeurIPS", "1"), ("NeurIPS", "15")} <= unknown
    assert all(not found[key].answer for key in unknown)


def test_checklists_of_several_corpora_tell_what_was_held_out() -> None:
    known = Known(read(ROOT / "registry/runs/glue_minilm/record.json"))
    assert known.splits()[0] == "cola: dev 911 (0.1 of the training files, seed 1), test 1,043, train 7,640"


def test_a_package_has_the_report_that_was_recorded(own: FinishedRun, capsys: pytest.CaptureFixture[str]) -> None:
    assert mtlspec(["registry", "export", "study", "out.zip", "--date", DAY]) == 0
    files = unpacked(Path("out.zip"))
    assert capsys.readouterr().out == f"out.zip: {len(files)} files, {Path('out.zip').stat().st_size / 1e6:.1f} MB\n"
    recorded = read(own.places.record)["stages"]["report"]["files"]
    assert {name: digest_bytes(files[f"report/{name}"]) for name in recorded} == recorded
    graph = {one["@id"]: one for one in json.loads(files["ro-crate-metadata.json"])["@graph"]}
    assert {"report/", "report/tables/", "report/figures/", "report/report.html"} <= graph.keys()
    rows = list(csv.DictReader(io.StringIO(files["scores.csv"].decode())))
    stages = read(own.places.record)["stages"].values()
    assert len(rows) == sum(len(stage["scores"]) for stage in stages if stage["kind"] == "evaluate")
    assert all(row["signature"] for row in rows)
    assert "accuracy|metric:tag_accuracy|layer:pos" in files["README.md"].decode()
    assert files["requirements.lock"] == (own.project.root / "requirements.lock").read_bytes()


def test_paths_of_the_machine_are_hidden(own: FinishedRun, capsys: pytest.CaptureFixture[str]) -> None:
    record: dict[str, Any] = read(own.places.record)
    record["data"]["cards"]["toy"]["root"] = "/mnt/ann/corpora"
    record["spec"]["resolved"]["description"] = f"It ran in {own.project.root}/x; 1/2 and /mnt/ann/corpora2 stay."
    write_json(own.places.record, record)
    assert mtlspec(["registry", "export", "study", "out.zip", "--date", DAY, "--without-report"]) == 0
    assert "paths of this machine were hidden in" in capsys.readouterr().err
    files = unpacked(Path("out.zip"))
    for name, data in files.items():
        assert str(own.project.root).encode() not in data and b'"/mnt/ann/corpora"' not in data, name
    assert yaml.safe_load(files["cards/data/toy.yaml"])["root"] == HIDDEN
    told = yaml.safe_load(files["resolved_spec.yaml"])["description"]
    assert told == f"It ran in {HIDDEN}/x; 1/2 and /mnt/ann/corpora2 stay."
    assert "`cards/data/toy.yaml`" in files["README.md"].decode()


def test_the_day_is_that_of_the_commit(own: FinishedRun, capsys: pytest.CaptureFixture[str]) -> None:
    export = ["registry", "export", "study", "out.zip", "--without-report"]
    assert mtlspec(export) == 6
    assert "E647: a package has a day of publication, and git has no commit with this record" in capsys.readouterr().err
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]
    for command in (["init", "-q"], ["add", "registry"], ["commit", "-q", "-m", "x", "--date", "2025-03-04T12:00:00"]):
        subprocess.run([*git, *command], check=True)
    assert mtlspec(export) == 0
    assert json.loads(unpacked(Path("out.zip"))["ro-crate-metadata.json"])["@graph"][0]["datePublished"] == "2025-03-04"
    own.places.record.write_bytes(own.places.record.read_bytes() + b"\n")
    assert mtlspec([*export[:3], "other.zip", "--without-report"]) == 6


def test_what_cannot_be_packed_is_one_line_and_writes_nothing(
    own: FinishedRun, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def told(*arguments: str) -> str:
        assert mtlspec(["registry", "export", *arguments]) != 0
        assert not Path("out.zip").exists()
        (line,) = capsys.readouterr().err.splitlines()
        return line

    assert "did you mean 'study'" in told("studi", "out.zip", "--date", DAY)
    assert "E574: '4 May' is no day; write it as 2026-11-18" in told("study", "out.zip", "--date", "4 May")
    assert "E573: there is something of this name already" in told("study", "requirements.lock", "--date", DAY)
    page = own.places.artifact("report") / "report.md"
    text = page.read_bytes()
    page.write_bytes(text + b"!")
    assert "E505: the file changed" in told("study", "out.zip", "--date", DAY)
    page.write_bytes(text)
    record = read(own.places.record)
    record["stages"]["report"]["artifact"] = "0" * 64
    write_json(own.places.record, record)
    assert "E572: the report on this machine is not the one of the record" in told("study", "out.zip", "--date", DAY)
    record["missing"] = ["train-mtl-all-s1"]
    write_json(own.places.record, record)
    assert "E570: the run 'study' is not complete: 1 stage still to run" in told("study", "out.zip", "--date", DAY)
    shutil.rmtree(own.places.artifact("report"))
    record["missing"] = []
    write_json(own.places.record, record)
    assert "E543: the report of 'study' is not on this machine" in told("study", "out.zip", "--date", DAY)
    monkeypatch.setattr("mtlspec.use.package.export.find_spec", lambda name: None)
    line = told("study", "out.zip", "--date", DAY)
    assert line.endswith("E645: a package for reviewers is written with rocrate and mlcroissant, not installed here; "
                         "pip install 'mtlspec[crate]'")  # fmt: skip
