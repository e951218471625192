"""`extends`, `--set`, cards and per-model overrides: who wins, and whose place is told."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from mtlspec.errors import MtlspecError
from mtlspec.io.project import Project
from mtlspec.spec.load import LoadedSpec, load_data_card, load_encoder_card, load_spec
from tests.unit.spec.small_project import SPEC

Load = Callable[..., LoadedSpec]
Complaints = Callable[..., list[str]]


def test_a_sound_spec_comes_with_its_cards_and_files(load: Load, project: Project) -> None:
    loaded = load(SPEC)
    assert (loaded.spec.name, list(loaded.data), loaded.encoder.name) == ("study", ["corpus"], "small")
    assert [project.relative(path) for path in loaded.files] == [
        "specs/study.yaml",
        "registry/data/corpus.yaml",
        "registry/encoders/small.yaml",
    ]
    assert loaded.spec.train.lr.encoder == 5e-5


def test_a_model_has_the_experiments_train_below_its_own(load: Load) -> None:
    models = load(SPEC).spec.models
    assert (models["stl"].train.epochs, models["mtl"].train.epochs) == (5, 8)
    assert models["mtl"].train.lr == models["stl"].train.lr
    assert models["mtl"].train.lr.encoder == 5e-5


def test_a_kind_of_another_type_takes_no_options_over(load: Load) -> None:
    text = SPEC.replace("train: {epochs: 8}", "train: {sampler: {type: balanced}}")
    sampler = load(text).spec.models["mtl"].train.sampler
    assert sampler.model_dump() == {"type": "balanced"} | sampler.model_dump()
    assert "alpha" not in sampler.model_dump()


def test_a_mapping_refines_a_bare_name(load: Load) -> None:
    text = SPEC.replace("sampler: {type: power, alpha: 0.8}", "sampler: power")
    spec = load(text, "models.mtl.train.sampler.alpha=0.25").spec
    assert spec.models["mtl"].train.sampler.model_dump()["alpha"] == 0.25
    assert spec.models["mtl"].train.sampler.type == "power"


def test_overrides_are_yaml_and_come_last(load: Load) -> None:
    overrides = ("train.epochs=3", "seeds=[7]", "tasks.pos.decoder={type: crf}", "train.clip=null", "train.epochs=4")
    spec = load(SPEC, *overrides).spec
    assert (spec.train.epochs, spec.seeds, spec.train.clip) == (4, (7,), None)
    assert spec.models["stl"].train.epochs == 4
    assert spec.models["mtl"].train.epochs == 8
    assert spec.tasks["pos"].model_dump()["decoder"]["type"] == "crf"


def test_an_override_makes_a_card_inline(load: Load) -> None:
    loaded = load(SPEC, "data.root=$CORPORA/other", "encoder.card.title=Small")
    assert loaded.data["corpus"].root == "$CORPORA/other"
    assert loaded.data["corpus"].layer_kinds["xpos"] == "tags"
    assert loaded.spec.data == loaded.data["corpus"]
    assert loaded.encoder.title == "Small"


def test_an_inline_card_may_extend_one_by_name(load: Load) -> None:
    text = SPEC.replace("data: corpus", "data: {extends: corpus, on_invalid: drop}")
    assert load(text).data["corpus"].on_invalid == "drop"


OVERRIDES = {
    "train.epochs": "error E138: an override is written `key.key=value`",
    "=3": "error E138: an override is written `key.key=value`",
    "a..b=3": "error E138: an override is written `key.key=value`",
    "train.epochs=": "error E139: the value is missing; write `null` to unset a key",
    "train.epochs=[": "error E121: not valid YAML: what begins here is not closed",
    "train.epochs=&a 1": "error E110: anchors (`&a`) are not allowed; use `extends`, or say it twice",
    "seeds.0=3": "error E138: an override is written `key.key=value`",
    "seeds.first=3": "error E140: 'seeds' is a list and has no keys; set it as a whole",
    "train.epochs.x=3": "error E140: 'train.epochs' is 5 and has no keys; set it as a whole",
    "train.epochs=x": "error E135: 'epochs' must be a whole number of at least 1, not the text 'x'",
    "train.epoch=3": "error E130: unknown key 'epoch'; did you mean 'epochs'?",
    "tasks.pos.layer=x": "error E150: the data card 'corpus' has no layer 'x'; known: dep, lemma, upos, xpos",
    "name=A\udcff": "error E104: not UTF-8; use a UTF-8 locale",
    "extends=first.yaml": "error E175: `extends` cannot be set; write it in the spec's file",
}


@pytest.mark.parametrize("override", OVERRIDES)
def test_a_wrong_override_is_its_own_place(override: str, complaints: Complaints) -> None:
    shown = override.replace("\udcff", "?")
    assert complaints(SPEC, override) == [f"--set {shown}: {OVERRIDES[override]}"]


def test_extends_lays_a_spec_on_another(load: Load, project: Project) -> None:
    (project.root / "specs/base").mkdir()
    (project.root / "specs/base/study.yaml").write_text(SPEC)
    loaded = load("extends: base/study.yaml\nname: other\ntrain: {lr: {encoder: 1e-4}}\nseeds: [9]\n")
    assert (loaded.spec.name, loaded.spec.seeds, loaded.spec.train.epochs) == ("other", (9,), 5)
    assert (loaded.spec.train.lr.encoder, loaded.spec.train.lr.decoder) == (1e-4, 1e-3)
    assert [project.relative(path) for path in loaded.files][:2] == ["specs/study.yaml", "specs/base/study.yaml"]


def test_an_error_is_told_where_it_was_said(complaints: Complaints, project: Project) -> None:
    (project.root / "specs/base.yaml").write_text(SPEC.replace("epochs: 5", "epochs: 0"))
    lines = complaints("extends: base.yaml\ntrain: {clip: -1}\n")
    assert lines == [
        "specs/base.yaml:9:11: error E135: 'epochs' must be a whole number of at least 1, not 0",
        "specs/study.yaml:2:15: error E135: 'clip' must be a number above 0, not -1",
    ]


EXTENDS = {
    "extends: bse.yaml": "specs/study.yaml:1:10: error E136: there is no file 'bse.yaml'; did you mean 'base.yaml'?",
    "extends: study.yaml": (
        "specs/study.yaml:1:10: error E128: specs extend each other in a circle: specs/study.yaml -> specs/study.yaml"
    ),
    "extends: loop.yaml": (
        "specs/loop.yaml:1:10: error E128: specs extend each other in a circle: "
        "specs/study.yaml -> specs/loop.yaml -> specs/study.yaml"
    ),
    "extends: ../../x.yaml": "specs/study.yaml:1:10: error E127: `extends` leaves the project",
    "extends: /etc/passwd": "specs/study.yaml:1:10: error E127: `extends` leaves the project",
    "extends: [base.yaml]": "specs/study.yaml:1:10: error E126: `extends` must be the path of a spec, not a list",
    "extends: ''": "specs/study.yaml:1:10: error E126: `extends` must be the path of a spec, not an empty text",
    "extends: .": "specs/study.yaml:1:10: error E136: there is no file '.'",
}


@pytest.mark.parametrize("text", EXTENDS)
def test_a_wrong_extends_is_one_line(text: str, complaints: Complaints, project: Project) -> None:
    (project.root / "specs/base.yaml").write_text(SPEC)
    (project.root / "specs/loop.yaml").write_text("extends: study.yaml\n")
    assert complaints(text) == [EXTENDS[text]]


def test_a_long_name_in_extends_is_an_error_of_ours(complaints: Complaints) -> None:
    (line,) = complaints(f"extends: {'x' * 5000}\n")
    assert line.startswith("specs/study.yaml:1:10: error E1")


def test_a_long_chain_of_extends_ends(complaints: Complaints, project: Project) -> None:
    for number in range(20):
        (project.root / f"specs/s{number}.yaml").write_text(f"extends: s{number + 1}.yaml\n")
    (line,) = complaints("extends: s0.yaml\n")
    assert line == "specs/s15.yaml:1:10: error E129: more than 16 specs extend each other"


@pytest.mark.parametrize(("text", "found"), [("- 1", "a list"), ("x", "the text 'x'")])
def test_a_spec_is_a_mapping(text: str, found: str, complaints: Complaints) -> None:
    assert complaints(text) == [f"specs/study.yaml:1:1: error E125: a spec is a mapping, not {found}"]


@pytest.mark.parametrize("text", ["", "\n# nothing yet\n", "---\n"])
def test_an_empty_spec_is_called_empty(text: str, complaints: Complaints) -> None:
    (line,) = complaints(text)
    assert line.startswith("specs/study.yaml:")
    assert line.endswith(": error E149: the file is empty; a spec begins with `mtlspec: 1`")


def test_a_folder_is_not_proposed_for_itself(complaints: Complaints, project: Project) -> None:
    (project.root / "specs/base.yaml").mkdir()
    assert complaints("extends: base.yaml") == [
        "specs/study.yaml:1:10: error E136: there is no file 'base.yaml'; did you mean 'study.yaml'?"
    ]


def test_a_link_out_of_the_project_is_no_way_out(complaints: Complaints, project: Project, tmp_path: Path) -> None:
    outside = tmp_path.parent / f"{tmp_path.name}-outside.yaml"
    outside.write_text(SPEC)
    (project.root / "specs/link.yaml").symlink_to(outside)
    assert complaints("extends: link.yaml") == ["specs/study.yaml:1:10: error E127: `extends` leaves the project"]


def test_cards_load_by_name(project: Project) -> None:
    assert load_data_card("corpus", project).layer_kinds["dep"] == "dep"
    assert load_encoder_card("small", project).licence == "Apache-2.0"
    with pytest.raises(MtlspecError, match="there is no card 'corpse' in registry/data; did you mean 'corpus'"):
        load_data_card("corpse", project)
    with pytest.raises(MtlspecError, match="E124"):
        load_encoder_card("../data/corpus", project)


def test_a_missing_spec_is_named(project: Project) -> None:
    with pytest.raises(MtlspecError, match=r"specs/none\.yaml: error E101: the file does not exist"):
        load_spec(project.root / "specs/none.yaml", project)
