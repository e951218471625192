"""Paper packs hold what the paper prints, and a spec that names one is checked."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from mtlspec.errors import Problems, SpecError
from mtlspec.plan.build import build_plan
from mtlspec.spec.load import load_spec
from mtlspec.spec.packs import Pack, load_pack, pack_names
from tests.unit.spec.small_project import SPEC, make_project

TASKS = ["pos", "ner", "dep", "con", "srl"]


@pytest.fixture(params=[name for name in pack_names() if name.startswith("stem_cell/")])
def pack(request: pytest.FixtureRequest) -> Pack:
    return load_pack(request.param)


def test_the_stem_cell_study_has_its_four_encoders() -> None:
    assert {name for name in pack_names() if name.startswith("stem_cell/")} == {
        f"stem_cell/{name}" for name in ("bert", "roberta", "electra", "deberta")
    }


def test_every_pair_and_task_is_there(pack: Pack) -> None:
    assert list(pack.metrics) == TASKS
    assert all(list(figures) == TASKS for figures in (*pack.scores.values(), *pack.heads_kept.values()))
    assert len(pack.pairs) == 10
    assert all(list(figures) == name.split("+") for name, figures in pack.pairs.items())


def test_shares_of_heads_are_means_of_three_whole_numbers(pack: Pack) -> None:
    for figures in pack.heads_kept.values():
        for share, _ in figures.values():
            heads = share / 100 * 3 * pack.heads
            assert abs(share - 100 * round(heads) / (3 * pack.heads)) < 0.011


def test_golden_cells_of_the_printed_tables() -> None:
    bert, electra = load_pack("stem_cell/bert"), load_pack("stem_cell/electra")
    assert bert.scores["stl"]["dep"] == (94.24, 0.03)
    assert bert.scores["mtl"]["srl"] == (82.30, 0.13)
    assert bert.pairs["con+srl"] == {"con": (94.25, 0.05), "srl": (83.17, 0.02)}
    assert bert.heads_kept["stl_sp"]["srl"] == (82.41, 5.99)
    assert bert.samples_per_second["stl_dp"]["pos"] == 1245
    assert electra.pairs["dep+con"] == {"dep": (94.65, 0.03), "con": (95.10, 0.06)}
    assert electra.heads_kept["mtl_dp"]["ner"] == (44.67, 2.44)


def test_table_3_is_symmetric() -> None:
    table = load_pack("stem_cell/bert").utilisation
    assert all(table[a][b] == table[b][a] and 0 < table[a][b] < 100 for a in table for b in table)
    assert math.isclose(table["dep"]["srl"], 91.20)


def test_an_unknown_pack_is_named_with_the_nearest(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    (tmp_path / "specs/study.yaml").write_text(SPEC + "compare_to: stem_cell/brt\n")
    with pytest.raises(Problems, match=r"18:13: error E170: there is no paper pack 'stem_cell/brt'; did you mean"):
        load_spec(tmp_path / "specs/study.yaml", project)
    with pytest.raises(SpecError, match="E171"):
        load_pack("nobody/knows")


def test_the_report_gets_the_figures_themselves_so_that_a_change_of_them_makes_it_stale(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    plain = build_plan(load_spec(tmp_path / "specs/study.yaml", project)).stage("report")
    (tmp_path / "specs/study.yaml").write_text(SPEC + "compare_to: stem_cell/bert\n")
    compared = build_plan(load_spec(tmp_path / "specs/study.yaml", project)).stage("report")
    assert "published" not in plain.params
    assert dict(compared.params["published"]["scores"])["stl"]["pos"] == [98.32, 0.02]
    assert compared.id != plain.id


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("", r"E172: the analysis of type 'attention_probe' names no layer to read; set one of: dep, srl"),
        (", dep: deb", r"E173: the data card 'corpus' has no layer 'deb'; did you mean 'dep'\?"),
        (", dep: xpos", r"E174: 'dep' reads a layer of kind 'dep'; 'xpos' is of kind 'tags'; layers that fit: dep"),
    ],
)
def test_layers_to_probe_are_checked(tmp_path: Path, options: str, message: str) -> None:
    project = make_project(tmp_path)
    (tmp_path / "specs/study.yaml").write_text(SPEC + f"  arcs: {{type: attention_probe{options}}}\n")
    with pytest.raises(Problems, match=message):
        load_spec(tmp_path / "specs/study.yaml", project)
