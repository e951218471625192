"""The report: complete, self-contained, safe and the same every time."""

from __future__ import annotations

import re
import shutil
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from mtlspec.io.digest import digest_tree
from mtlspec.io.write import write_json
from mtlspec.plan.rows import restored_rows
from mtlspec.report.content import Content
from mtlspec.report.corpora import Corpus
from mtlspec.report.curves import draw_curves, lines_of
from mtlspec.report.page import HERE, settings, template, tiles
from mtlspec.report.signatures import Signatures
from mtlspec.report.statistics import statistics_tables
from mtlspec.results.tables import Cell, Table
from mtlspec.results.variants import Variant, variants
from mtlspec.stages.report import run as run_report
from tests.finished_run import FinishedRun, make_run, read
from tests.model_rows import model_row

HOSTILE = '<script>alert(1)</script> & "quotes" {{ 7 * 7 }} | pipe'


class _Page(HTMLParser):
    """Collects what matters: ids, links, resources, cells with their sources."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def values(self, attribute: str) -> list[str]:
        return [attributes[attribute] or "" for _, attributes in self.tags if attribute in attributes]


@pytest.fixture(scope="module")
def page(finished: FinishedRun) -> str:
    return (finished.places.artifact("report") / "report.html").read_text()


def test_the_page_needs_no_network(page: str) -> None:
    found = _Page(page)
    assert "http://" not in page
    assert "https://" not in page
    assert found.values("src") == []
    assert all(value.startswith("#") for value in found.values("href"))
    assert not re.search(r"@import|url\((?!#)", page)
    assert "default-src 'none'" in page


def test_every_link_has_its_target_and_every_id_is_unique(page: str) -> None:
    found = _Page(page)
    ids = found.values("id")
    assert len(ids) == len(set(ids))
    assert {value.removeprefix("#") for value in found.values("href")} <= set(ids)
    assert set(re.findall(r"url\(#([^)]+)\)", page)) <= set(ids)


def test_numbers_name_their_stages_and_seeds(page: str) -> None:
    titles = _Page(page).values("title")
    assert "evaluate-mtl-all-s1 · evaluate-mtl-all-s2 | seeds 1, 2" in titles


def test_the_page_says_what_ran(page: str) -> None:
    for text in ("A made-up study.", "pair: pos + ner", "mtl-all-s2", "Toy corpus", "a" * 64, "mtlspec verify study"):
        assert text in page, text
    assert page.count("<svg") == 1 + 4  # differences, and two curves for each of two tasks


def test_tables_and_figures_lie_beside_the_page(finished: FinishedRun) -> None:
    folder = finished.places.artifact("report")
    for name in (
        "tables/scores/scores",
        "tables/training",
        "tables/configurations",
        "tables/stages",
        "tables/data_size",
    ):
        assert all((folder / f"{name}.{suffix}").is_file() for suffix in ("csv", "tex", "json"))
    for name in ("figures/scores/deltas", "figures/curve_pos_dev", "figures/curve_ner_loss"):
        assert all((folder / f"{name}.{suffix}").is_file() for suffix in ("svg", "png"))


def test_markdown_links_existing_figures(finished: FinishedRun) -> None:
    folder = finished.places.artifact("report")
    text = (folder / "report.md").read_text()
    links = re.findall(r"!\[[^\]]*\]\(([^)]+)\)", text)
    assert len(links) == 5
    assert all((folder / link).is_file() for link in links)
    assert "| mtl: pos + ner |" in text


def test_the_summary_has_the_findings_and_the_scores_and_nothing_that_it_would_have_to_link(
    finished: FinishedRun,
) -> None:
    folder = finished.places.artifact("report")
    text, whole = (folder / "summary.md").read_text(), (folder / "report.md").read_text()
    assert [line for line in text.splitlines() if line not in whole.splitlines()] == []
    assert (
        text.index("## In short")
        < text.index("## The models")
        < text.index("## Findings")
        < text.index("| mtl: pos + ner |")
        < text.index("mtlspec run specs/")
    )
    assert "](" not in text


def test_the_same_bytes_every_time(finished: FinishedRun, tmp_path: Path) -> None:
    stage = finished.plan.stage("report")
    run_report(finished.context(stage, tmp_path / "again"))
    recorded = digest_tree(finished.places.artifact("report"))
    recorded.pop("manifest.json")
    assert digest_tree(tmp_path / "again") == recorded


def test_hostile_text_is_shown_and_not_run(tmp_path: Path) -> None:
    run = make_run(tmp_path, description=HOSTILE, seeds=(1,))
    folder = run.places.artifact("report")
    page = (folder / "report.html").read_text()
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "{{ 7 * 7 }}" in page
    assert "<script>" not in (folder / "report.md").read_text()


def test_a_spec_without_analyses_still_has_its_scores(finished: FinishedRun, tmp_path: Path) -> None:
    stage = finished.plan.stage("report")
    without = stage.model_copy(update={"params": {**stage.params, "analyses": []}})
    run_report(finished.context(without, tmp_path / "out"))
    page = (tmp_path / "out" / "report.html").read_text()
    assert "mtl: pos + ner" in page
    assert "differs from the single-task model" not in page
    shutil.rmtree(tmp_path / "out")


def test_statistics_have_train_first_and_frequent_labels_on_top(finished: FinishedRun) -> None:
    statistics = read(finished.places.artifact("prepare-toy-tiny") / "statistics.json")
    tables = {table.name: table for table in statistics_tables(statistics)}
    size = tables["data_size"]
    assert size.columns == ("", "train", "dev", "test")
    assert [cell.value for cell in size.rows[0]] == ["sentences", 300, 60, 60]
    assert [cell.text for cell in size.rows[1]] == ["tokens", "900", "180", "180"]
    labels = [row[0].text for row in tables["data_labels_of_pos"].rows]
    assert labels[:2] == ["A", "B"]
    assert len(labels) == 2 + 15


def test_every_stage_behind_a_number_has_its_digest_on_the_page(finished: FinishedRun, page: str) -> None:
    found = _Page(page)
    named = {word for title in found.values("title") for word in re.split(r"[\s·|]+", title) if word.startswith("eval")}
    assert named
    assert {f"stage-{word}" for word in named} <= set(found.values("id"))
    record = read(finished.places.stage_record("report"))
    assert record["inputs"]["evaluate-stl-pos-s1"][:16] in page


def test_curves_of_a_large_study_have_a_line_a_group(page: str) -> None:
    def variant(group: str, *tasks: str) -> Variant:
        return Variant(group, tasks, (), (model_row(group, tasks),))

    partners = ["ner", "dep", "con", "srl", "chunk", "sense", "topic", "mood"]
    few = [variant("stl", "pos"), *(variant("pair", "pos", other) for other in partners[:4])]
    names, grouped = lines_of("pos", few)
    assert [name for name, _ in names][:2] == ["stl: pos", "pair: pos + ner"]
    assert not grouped
    many = [*few, *(variant("pair", "pos", other) for other in partners[4:])]
    names, grouped = lines_of("pos", many)
    assert [(name, len(runs)) for name, runs in names] == [("stl", 1), ("pair (8 models)", 8)]
    assert grouped
    assert "<details><summary>Every trained model (8)</summary>" in page


def test_a_single_epoch_is_no_curve(finished: FinishedRun, tmp_path: Path) -> None:
    for row in finished.plan.stage("report").params["models"]:
        shutil.copytree(finished.places.artifact(row["train"]), tmp_path / row["train"])
        write_json(tmp_path / row["train"] / "epochs.json", read(tmp_path / row["train"] / "epochs.json")[:1])
    models = variants(restored_rows(finished.plan.stage("report").params["models"]))
    inputs = {run.train: tmp_path / run.train for variant in models for run in variant.runs}
    drawn = draw_curves(models, {"pos": "accuracy", "ner": "f1"}, inputs, tmp_path / "figures")
    assert drawn.dev == ()
    assert [figure.name for figure in drawn.loss] == ["curve_pos_loss", "curve_ner_loss"]
    assert not list((tmp_path / "figures").glob("*_dev.*"))


def test_captions_close_every_bracket_once(page: str) -> None:
    assert "Holm&#39;s correction over 4 comparisons: pair, mtl with stl)." in page
    assert "))" not in re.sub(r"<(script|style|svg).*?</\1>", "", page, flags=re.DOTALL)


def test_what_ran_names_sweeps_and_no_value_that_they_replace() -> None:
    gated = {"type": "l0", "lambda": 0.1, "relative": True}
    models = {
        "dp": {"tasks": "each", "sharing": gated, "sweep": {"sharing.lambda": [0, 0.5, 1000]}},
        "any": {"tasks": "all", "sharing": gated, "sweep": {"sharing": ["hard", {"type": "l0"}]}},
    }
    spec = {
        "tasks": {}, "models": models, "sweep": {"train.lr.encoder": [1e-5, 5e-5]}, "seeds": [1], "run": {},
        "train": {"epochs": 3, "lr": {"encoder": 2e-3, "decoder": 3e-3}},
    }  # fmt: skip
    facts = dict(settings(_content(spec)))
    dp, swept = facts["Model groups"].split("; ")
    assert dp == "dp: tasks each, sharing {type: l0, relative: True}, sweep {sharing.lambda: [0, 0.5, 1000]}"
    assert swept == "any: tasks all, sweep {sharing: [hard, l0]}"
    assert facts["Sweep of every group"] == "{train.lr.encoder: [1e-05, 5e-05]}"
    assert facts["Training"] == "{epochs: 3, lr: {decoder: 0.003}}"


def test_model_groups_show_everything_in_which_their_training_is_their_own() -> None:
    usual: dict[str, Any] = {
        "epochs": 3,
        "lr": {"encoder": 1e-5, "decoder": 1e-3},
        "batching": "single",
        "freeze": None,
    }
    usual["sampler"] = {"type": "proportional", "power": 1.0}
    hard = {"tasks": "all", "sharing": {"type": "hard"}, "sweep": {}, "start": None, "train": usual}
    own = {**usual, "batching": "joint", "lr": {"encoder": 1e-4, "decoder": 1e-3}, "freeze": {"layers": 2}}
    own["sampler"] = {"type": "proportional", "power": 0.5}
    start = {"group": "plain", "take": "encoder", "seed": 1}
    models = {"plain": hard, "mine": {**hard, "start": start, "train": own}}
    swept = {**hard, "train": own, "sweep": {"train.lr.encoder": [1e-5, 1e-4]}}
    single = {"pos": {"train": {"epochs": 9}, "sharing": {}}}
    uniform = {**hard, "train": {**usual, "sampler": {"type": "uniform"}}, "by_tasks": single}
    spec = {
        "tasks": {}, "models": {**models, "swept": swept, "uniform": uniform}, "sweep": {}, "seeds": [1], "run": {},
        "train": usual,
    }  # fmt: skip
    plain, mine, over, other = dict(settings(_content(spec)))["Model groups"].split("; ")
    assert plain == "plain: tasks all, sharing hard"
    assert mine == (
        "mine: tasks all, sharing hard, start {group: plain, take: encoder, seed: 1}, train {lr: {encoder: 0.0001}, "
        "batching: joint, freeze: {layers: 2}, sampler: {type: proportional, power: 0.5}}"
    )
    assert "lr: {encoder" not in over and "sweep {train.lr.encoder: [1e-05, 0.0001]}" in over
    assert other == "uniform: tasks all, sharing hard, train {sampler: uniform}, by_tasks {pos: {train: {epochs: 9}}}"


def test_one_of_a_kind_is_not_told_in_the_plural() -> None:
    model = Variant("stl", ("pos",), (), (model_row("stl", ("pos",)),))
    labels = [label for _, label in tiles(_content({}, model))[:4]]
    assert labels == ["model trained", "configuration", "task: pos", "seed"]


def test_a_summary_row_is_marked_for_the_page_and_stays_above_sorted_rows() -> None:
    rows = ((Cell("mean of labels", "mean of labels", data={"summary": True}),), (Cell("a", "a"),))
    table = Table("labels", "", "", ("label",), (("", rows),))
    found = _Page(template("measured.html").render(tables=[table])).tags
    assert [attributes.get("class") for tag, attributes in found if tag == "tr"] == [None, "summary", None]
    script = (HERE / "page.js").read_text()
    assert re.search(r"function pinned\(row\) .*\"section\".*\"summary\"", script)
    assert "!pinned(row)" in script


def test_tables_too_wide_for_paper_are_printed_small() -> None:
    """Nobody can scroll paper: the last columns of a table of eleven models were cut off."""
    tables = [
        Table(str(width), "", "", tuple(map(str, range(width))), (("", (tuple(Cell("1.00") for _ in range(width)),)),))
        for width in (9, 13)
    ]
    found = _Page(template("measured.html").render(tables=tables)).tags
    classes = [attributes["class"] for tag, attributes in found if tag == "table"]
    assert classes == ["sortable", "sortable wide"]
    printed = (HERE / "style.css").read_text().split("@media print")[1]
    assert re.search(r"\.wide td \{[^}]*white-space: normal", printed)


def _content(spec: dict[str, Any], *models: Variant) -> Content:
    nothing = Table("", "", "", (), ())
    return Content(
        spec=spec, corpora=(Corpus("toy", {}, (), {}),), encoder={"name": "tiny", "source": {}}, environment={},
        models=models,
        metrics={"pos": "accuracy"}, sections=(), overview=nothing, lengths=nothing, training=nothing,
        provenance=nothing, labelled=nothing, hyperparameters=(), groups=(), answers=(), digest="",
        signatures=Signatures({}, {}), reproduce={"run": "", "dvc": ""},
    )  # fmt: skip
