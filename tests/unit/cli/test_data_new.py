"""`mtlspec data new`: writes a card that works, never over another, and says what comes next."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from mtlspec.cli.app import run
from mtlspec.io.project import Project
from mtlspec.spec.load import load_data_card, load_spec
from tests.unit.spec.small_project import make_project


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    found = make_project(tmp_path / "project")
    monkeypatch.chdir(found.root)
    return found


def corpus(folder: Path) -> Path:
    folder.mkdir(parents=True)
    rows = "".join(f"this is film number {n}\t{'good' if n % 2 else 'bad'}\t{n / 7:.2f}\n" for n in range(60))
    for split in ("train", "valid"):
        (folder / f"{split}.tsv").write_text("text\tlabel\tscore\n" + rows)
    return folder / "train.tsv"


def test_a_card_is_written_pinned_and_can_be_used(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    file = corpus(project.root / "corpora" / "films")
    assert run(["data", "new", str(file.relative_to(project.root))]) == 0
    said = capsys.readouterr().out
    card = load_data_card("films", project)
    assert set(card.sha256) == {"train.tsv", "valid.tsv"} and card.root == "corpora/films"
    assert card.layer_kinds == {"label": "label", "score": "value"} and card.files[0].paths["dev"] == "valid.tsv"
    assert "with a header (sure)" in said and "classes: bad, good" in said
    assert "test: no file, so a tenth of train is held out for it" in said
    assert "language, licence and source are not known" in said
    assert run(["data", "stats", "films"]) == 0 and run(["data", "sample", "films"]) == 0
    snippet = said[said.index("    mtlspec: 1") :]
    spec = project.root / "specs" / "films.yaml"
    spec.write_text("\n".join(line[4:] for line in snippet.splitlines()))
    loaded = load_spec(spec, project)
    assert {task: options.type for task, options in loaded.spec.tasks.items()} == {
        "score": "regression",
        "label": "classification",
    }


@pytest.mark.parametrize(
    ("source", "rates"),
    [("pretrain", (3e-3, 6e-3, 16)), (f"{{type: hub, id: some/bert, revision: {'a' * 40}}}", (5e-5, 1e-3, 32))],
)
def test_the_proposed_spec_has_the_rates_of_its_encoder(
    project: Project, capsys: pytest.CaptureFixture[str], source: str, rates: tuple[float, float, int]
) -> None:
    """Those of the starter for a small encoder that is made here; defaults, which are BERT's, for all others."""
    card = project.encoder_cards / "small.yaml"
    card.write_text(card.read_text().replace("source: pretrain", f"source: {source}"))
    assert run(["data", "new", str(corpus(project.root / "films"))]) == 0
    said = capsys.readouterr().out
    spec = project.root / "specs" / "films.yaml"
    spec.write_text("\n".join(line[4:] for line in said[said.index("    mtlspec: 1") :].splitlines()))
    train = load_spec(spec, project).spec.train
    assert (train.lr.encoder, train.lr.decoder, train.batch.sentences) == rates


def test_one_sentence_is_no_sentences(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    file = corpus(project.root / "films")
    (file.parent / "test.tsv").write_text("text\tlabel\tscore\na film of its own\tgood\t1.5\n")
    assert run(["data", "new", str(file)]) == 0
    assert "test.tsv: 1 sentence\n" in capsys.readouterr().out


def test_a_card_is_never_replaced_in_silence(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    file = str(corpus(project.root / "films"))
    card = project.data_cards / "films.yaml"
    card.write_text("mine")
    assert run(["data", "new", file]) == 2 and card.read_text() == "mine"
    assert "films.yaml: error E831: there is a card of this name already" in capsys.readouterr().err
    assert run(["data", "new", file, "--name", "other"]) == 0 and (project.data_cards / "other.yaml").is_file()
    assert run(["data", "new", file, "--overwrite"]) == 0 and card.read_text() != "mine"
    assert run(["data", "new", file, "--name", "Not a name"]) == 2
    assert "E830" in capsys.readouterr().err


def test_a_dry_run_shows_the_card_and_writes_nothing(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    before = sorted(project.data_cards.iterdir())
    assert run(["data", "new", str(corpus(project.root / "films")), "--dry-run"]) == 0
    assert "layers: {" in capsys.readouterr().out and sorted(project.data_cards.iterdir()) == before


def test_files_outside_are_named_by_a_variable_that_other_cards_use(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = corpus(tmp_path / "elsewhere" / "films")
    assert run(["data", "new", str(file), "--name", "one"]) == 0
    assert load_data_card("one", project).root == str(file.parent)
    assert "the files lie outside of the project" in capsys.readouterr().out
    monkeypatch.setenv("CORPORA", str(tmp_path / "elsewhere"))
    text = (project.data_cards / "one.yaml").read_text().replace("name: one", "name: two")
    (project.data_cards / "two.yaml").write_text(text.replace(f'"{file.parent}"', "$CORPORA/films"))
    assert run(["data", "new", str(file), "--name", "three"]) == 0
    assert load_data_card("three", project).root == "$CORPORA/films"


def test_what_cannot_be_guessed_leaves_nothing(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    before = sorted(project.data_cards.iterdir())
    (project.root / "prose.txt").write_text("Just prose.\nNothing else.\n")
    assert run(["data", "new", "prose.txt"]) == 3 and run(["data", "new", "none.txt"]) == 3
    said = [line.split(": ")[:2] for line in capsys.readouterr().err.splitlines()]
    assert said == [["prose.txt", "error E751"], ["none.txt", "error E750"]]
    assert sorted(project.data_cards.iterdir()) == before


@pytest.mark.parametrize(("encoding", "line", "told"), [("latin-1", 2, "ISO-8859-1"), ("utf-16", 1, "UTF-16")])
@pytest.mark.parametrize("packed", [False, True])
def test_files_from_before_utf_8_are_told_what_to_do(
    project: Project, capsys: pytest.CaptureFixture[str], encoding: str, line: int, told: str, packed: bool
) -> None:
    text = "Zapatero B-PER\nvisitó O\nMálaga B-LOC\n. O\n\n" * 3
    name = "esp.train" + ".gz" * packed
    content = text.encode(encoding)
    (project.root / name).write_bytes(gzip.compress(content) if packed else content)
    before = sorted(project.data_cards.iterdir())
    assert run(["data", "new", name]) == 3
    said = capsys.readouterr().err
    assert said.startswith(f"{name}:{line}: error E201: not UTF-8") and said.count("\n") == 1
    assert f"`iconv -f {told} -t UTF-8`" in said
    assert sorted(project.data_cards.iterdir()) == before


def test_tags_are_counted_in_all_files(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """What a column is for is told from its first lines; how many tags it has is not."""
    folder = project.root / "corpora" / "tags"
    folder.mkdir(parents=True)
    (folder / "train.txt").write_text("".join(f"word{n}\tNN\nruns\tVB\n\n" for n in range(400)))
    (folder / "dev.txt").write_text("word1\tNN\nruns\tVB\nnow\tRB\n\n")
    assert run(["data", "new", str(folder / "train.txt")]) == 0
    said = capsys.readouterr().out
    assert "column 1, 3 tags\n" in said
