"""The specs and cards of this project: correct, and planned without any data at hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from mtlspec.data.pins import resolve_root
from mtlspec.errors import DataError
from mtlspec.io.project import Project
from mtlspec.plan.build import build_plan
from mtlspec.spec.load import load_data_card, load_encoder_card, load_spec

ROOT = Path(__file__).parents[3]
SPECS = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "specs").rglob("*.yaml"))
DATA_CARDS = sorted(path.stem for path in (ROOT / "registry/data").glob("*.yaml"))
ENCODER_CARDS = sorted(path.stem for path in (ROOT / "registry/encoders").glob("*.yaml"))
VARIABLES = ("MTLSPEC_DATA", "ONTONOTES")


@pytest.fixture(autouse=True)
def no_data(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize("spec", SPECS)
def test_a_spec_is_correct_and_planned_without_its_data(spec: str) -> None:
    project = Project(ROOT)
    plans = [build_plan(load_spec(ROOT / spec, project)) for _ in range(2)]
    assert plans[0].model_dump_json() == plans[1].model_dump_json()
    assert plans[0].stages[-1].kind == "report"
    beside = spec.startswith("specs/paper/") and (ROOT / "specs" / Path(spec).name).exists()  # a small one has the name
    assert load_spec(ROOT / spec, project).spec.name == Path(spec).stem + ("_paper" if beside else "")


@pytest.mark.parametrize("name", DATA_CARDS)
def test_a_data_card_is_correct(name: str) -> None:
    card = load_data_card(name, Project(ROOT))
    assert card.licence and card.source and card.title
    assert all(card.layer_kinds.get(layer) for group in card.files for layer in group.layers)


# Cards of corpora that everybody gets from elsewhere: who has the files pins them.
NOT_HERE = {
    *(
        "ontonotes5",
        "cola_glue",
        "mnli",
        "qnli",
        "qqp",
        "sst2_glue",
        "wnli",
        "agnews_full",
        "agnews_pair",
        "scitail",
        "snli",
        "imdb",
    ),
    *("boolq", "multirc", "record", "rte_superglue", "wic", "wic_places", "wnut17"),
    *(f"mrqa_{name}" for name in ("squad", "newsqa", "triviaqa", "searchqa", "hotpotqa", "natural_questions")),
}


@pytest.mark.parametrize("name", sorted(set(DATA_CARDS) - NOT_HERE))
def test_every_file_of_a_card_is_pinned(name: str) -> None:
    card = load_data_card(name, Project(ROOT))
    assert set(card.sha256) == set(card.paths)


def test_the_licensed_corpus_is_pinned_by_who_has_it() -> None:
    card = load_data_card("ontonotes5", Project(ROOT))
    assert not card.sha256 and all("**" in path for path in card.paths)


@pytest.mark.parametrize("name", ENCODER_CARDS)
def test_an_encoder_card_is_correct(name: str) -> None:
    assert load_encoder_card(name, Project(ROOT)).licence


def test_an_unset_variable_is_one_clear_line() -> None:
    project = Project(ROOT)
    with pytest.raises(DataError) as caught:
        resolve_root(load_data_card("ewt5", project), project)
    assert str(caught.value) == (
        "registry/data/ewt5.yaml:8:7: error E261: the root of 'ewt5' is $MTLSPEC_DATA/ewt5/small, "
        "but MTLSPEC_DATA is not set; set MTLSPEC_DATA to the folder of the data"
    )


def test_an_override_moves_the_data_and_keeps_their_pins(tmp_path: Path) -> None:
    project = Project(ROOT)
    loaded = load_spec(ROOT / "specs/ewt5_minilm.yaml", project, [f"data.root={tmp_path}"])
    assert resolve_root(loaded.data["ewt5"], project) == tmp_path
    assert loaded.data["ewt5"].sha256 == load_data_card("ewt5", project).sha256


def test_the_settings_of_the_default_study_are_tried_on_its_own_models() -> None:
    project = Project(ROOT)
    study = load_spec(ROOT / "specs/stem_cell.yaml", project).spec
    tried = load_spec(ROOT / "specs/stem_cell_settings.yaml", project).spec
    for key in ("data", "encoder", "tasks", "train"):
        assert getattr(tried, key) == getattr(study, key)
    assert tried.models["stl"] == study.models["stl"]
    assert tried.models["stl_long"].train.epochs == 10 * study.train.epochs
    gates, swept = study.models["stl_dp"].sharing.model_dump(), tried.models["stl_dp"]
    assert gates.pop("lambda") in swept.sweep["sharing.lambda"]
    assert gates == {name: value for name, value in swept.sharing.model_dump().items() if name != "lambda"}


def test_more_seeds_are_of_the_models_of_the_default_study() -> None:
    project = Project(ROOT)
    study = load_spec(ROOT / "specs/stem_cell.yaml", project).spec
    longer = load_spec(ROOT / "specs/stem_cell_seeds.yaml", project).spec
    for key in ("data", "encoder", "tasks", "train"):
        assert getattr(longer, key) == getattr(study, key)
    for group, model in longer.models.items():
        assert model == study.models[group]
    assert set(study.seeds) < set(longer.seeds)
