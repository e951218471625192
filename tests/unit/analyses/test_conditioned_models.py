"""Analyses of conditional models, on models and histories made by hand: parameters, batches, covariances, maps."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import load_file

from mtlspec.analyses import covsim, parameter_table, sampling_composition, task_embedding_map
from mtlspec.analyses._composition_views import agreements, draw, sentence
from mtlspec.analyses._covariance import factor, similarity
from mtlspec.analyses._covariance_tables import relative_change
from mtlspec.analyses._difficulty import Difficulty, of_layer
from mtlspec.contract.analyses import ToyRun, check_analysis
from mtlspec.data.corpora import Corpora
from mtlspec.data.prepared import Prepared
from mtlspec.errors import StageError
from mtlspec.kinds import parse
from mtlspec.model.encoder.encoder import Encoder
from mtlspec.model.multitask import build_model
from mtlspec.plan.rows import ModelRow
from mtlspec.results.findings import Findings
from mtlspec.results.jobs import AnalysisJob
from mtlspec.results.variants import Variant
from mtlspec.spec.families import SHARING, TASKS, SharingOptions, TaskOptions
from tests import toy
from tests.model_rows import model_row
from tests.trainings import write_training
from tests.unit.analyses.averaged import evaluation


def model(
    row: ModelRow,
    folder: Path,
    encoder: Path,
    data: Prepared,
    sharing: str | dict[str, str],
    moved: Sequence[str] = (),
) -> Path:
    """A model as it is before training, but for the encoder's parameters whose names have one of these parts."""
    torch.manual_seed(row.seed)
    chosen = {name: parse(TASKS, TaskOptions, toy.TASKS[name]) for name in row.tasks}
    strategy = parse(SHARING, SharingOptions, {"type": sharing} if isinstance(sharing, str) else sharing)
    built = build_model(Encoder.load(encoder), strategy, chosen, Corpora.single(data).labels(chosen))
    with torch.no_grad():
        for name, parameter in built.encoder.named_parameters():
            if any(part in name for part in moved):
                parameter.add_(0.25)
    folder.mkdir(parents=True)
    built.save(folder, tokenizer=encoder)
    return write_training(folder, row.tasks)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory, toy_encoder: Path, toy_prepared: Path) -> ToyRun:
    """Two tasks alone, together, and together with conditional modules; the top layer (of two) was trained."""
    root, data = tmp_path_factory.mktemp("run"), Prepared.load(toy_prepared)
    rows, inputs = [], {"encoder": toy_encoder, "prepare-toy": toy_prepared}
    made = [("stl", ["pos"], "hard"), ("stl", ["names"], "hard"), ("ca", ["pos", "names"], "ca_mtl")]
    for group, tasks, sharing in made:
        for seed in (1, 2):
            row = replace(model_row(group, tasks, seed), measure=None)
            inputs[row.train] = model(row, root / row.train, toy_encoder, data, sharing, ["layer.1."])
            scores = dict.fromkeys(tasks, 80 + 5 * (group == "ca") + seed)
            inputs[row.evaluate] = evaluation(root / row.evaluate, scores)
            rows.append(row)
    return ToyRun(tuple(rows), inputs)


@pytest.mark.parametrize(
    "options",
    [
        parameter_table.Options(type="parameter_table"),
        covsim.Options(type="covsim", examples=20),
        task_embedding_map.Options(type="task_embedding_map"),
    ],
    ids=lambda options: options.type,
)
def test_findings_are_complete_and_the_same_every_time(options: Any, run: ToyRun, tmp_path: Path) -> None:
    check_analysis(options, run, tmp_path)


def _found(options: Any, run: ToyRun, folder: Path) -> Findings:
    check_analysis(options, run, folder)
    return Findings.read(folder / "findings/a")


def test_parameters_of_single_models_add_up_and_frozen_ones_are_not_trained(
    run: ToyRun, tmp_path: Path, toy_encoder: Path
) -> None:
    single, joint = _found(parameter_table.Options(type="parameter_table"), run, tmp_path).tables[0].rows
    sizes = {name: p.numel() for name, p in Encoder.load(toy_encoder).named_parameters()}
    encoder, top = sum(sizes.values()), sum(size for name, size in sizes.items() if "layer.1." in name)
    pos, names = 33 * 6, 33 * 5  # linear decoders of width 32, six tags and five
    assert (single[0].text, single[1].value) == ("stl: 2 of one task", 2)
    assert single[2].value == 2 * encoder + pos + names
    assert single[4].value == 2 * top + pos + names
    assert single[3].value == pytest.approx((2 * encoder + pos + names) / encoder)
    assert single[5].value == pytest.approx(100 * (top + (pos + names) / 2) / encoder)
    assert joint[2].value - joint[4].value == encoder - top  # what was frozen
    assert joint[2].value > encoder + pos + names


def test_similarities_of_the_same_embeddings_are_high_and_changes_are_of_the_single_score(
    run: ToyRun, tmp_path: Path
) -> None:
    points = _found(covsim.Options(type="covsim", examples=20), run, tmp_path).numbers["points"]
    assert [(point["model"], point["task"]) for point in points] == [
        ("ca: pos + names", task) for task in ("pos", "names")
    ]
    for point in points:
        # Both tasks read the same sentences through the same embeddings, in all models.
        assert [one[1] for one in (*point["similar"], *point["alone"])] == pytest.approx([1.0] * 4)
        assert all(0 < one[0] < 1 for one in point["similar"])
        assert point["change"] == pytest.approx(100 * 5 / 81.5)


def test_a_fall_below_zero_is_a_fall() -> None:
    assert relative_change(-0.3, -0.2) == pytest.approx(-50.0)
    assert relative_change(88.0, 80.0) == pytest.approx(10.0)
    assert relative_change(1.0, 0.0) is None


DATA = st.integers(0, 2**32 - 1).map(np.random.default_rng)


@given(DATA, st.integers(1, 6), st.integers(1, 12), st.sampled_from([0.5, 0.9, 0.99, 1.0]))
def test_covsim_is_what_a_direct_implementation_gives(
    rng: np.random.Generator, width: int, rows: int, kept: float
) -> None:
    one, two = (rng.normal(size=(rows, width)) * rng.uniform(0.1, 3, width) for _ in range(2))
    sides = []
    for given_ in (one, two):
        vectors, values, _ = np.linalg.svd(given_.T @ given_)
        rank = next(r for r in range(1, width + 1) if values[:r].sum() >= kept * values.sum() * (1 - 1e-9))
        sides.append((vectors[:, :rank], np.diag(values[:rank])))
    (u, d), (v, e) = sides
    above = np.linalg.norm((u @ np.sqrt(d)).T @ v @ np.sqrt(e))
    below = np.linalg.norm(u @ np.sqrt(d)) * np.linalg.norm(v @ np.sqrt(e))
    factors = [factor(given_.T @ given_, kept) for given_ in (one, two)]
    found = similarity(*factors)
    assert found.printed == pytest.approx(above / below, abs=1e-6)
    assert 0 <= found.printed <= found.relative + 1e-9 <= 1 + 2e-9
    same = similarity(factors[0], factors[0])
    assert same.relative == pytest.approx(1.0)
    rotation = np.linalg.qr(rng.normal(size=(width, width)))[0]
    turned = [factor((given_ @ rotation).T @ (given_ @ rotation), kept) for given_ in (one, two)]
    assert similarity(*turned) == pytest.approx(found, abs=1e-6)


def test_the_same_input_has_a_printed_similarity_of_one_only_if_it_has_one_direction() -> None:
    line, round_ = np.diag([4.0, 0.0]), np.eye(2)
    assert similarity(factor(line, 0.99), factor(line, 0.99)).printed == pytest.approx(1.0)
    assert similarity(factor(round_, 0.99), factor(round_, 0.99)).printed == pytest.approx(2**-0.5)
    assert similarity(factor(np.zeros((2, 2)), 0.99), factor(round_, 0.99)) == (0.0, 0.0)


def test_maps_have_two_axes_and_cosines_without_the_mean() -> None:
    places, shares = task_embedding_map.principal(np.array([[3.0, 1.0, 0.0], [-3.0, 1.0, 0.0], [0.0, 1.0, 1.0]]))
    assert shares.sum() == pytest.approx(1.0)
    assert np.abs(places[:2, 0]) == pytest.approx([3.0, 3.0])
    assert places[np.abs(places).argmax(0), [0, 1]].min() > 0
    found = task_embedding_map.cosines(np.array([[1.0, 5.0], [-1.0, 5.0]]))
    assert found == pytest.approx(np.array([[1.0, -1.0], [-1.0, 1.0]]))


@pytest.mark.parametrize("at", ["decoder", "encoder"])
def test_vectors_of_task_embeddings_are_a_map_too(
    at: str, toy_encoder: Path, toy_prepared: Path, tmp_path: Path
) -> None:
    row, data = replace(model_row("dec", ["pos", "names"]), measure=None), Prepared.load(toy_prepared)
    built = model(row, tmp_path / "model", toy_encoder, data, {"type": "task_embedding", "at": at})
    (tmp_path / "out").mkdir()
    options = task_embedding_map.Options(type="task_embedding_map")
    assert options.run(AnalysisJob((row,), {row.train: built}, tmp_path / "out")) == {"models": 1}
    findings = Findings.read(tmp_path / "out")
    assert findings.summary == ("dec: pos + names: of two tasks, cosines without the mean tell nothing.",)
    numbers = findings.numbers["dec-pos-names"]
    own = load_file(built / "model.safetensors")["sharing.vectors.weight"].double().numpy()
    assert numbers["tasks"] == ["pos", "names"]
    assert np.array(numbers["cosines"][0]) == pytest.approx(task_embedding_map.cosines(own))


def test_models_without_embeddings_are_refused(run: ToyRun, tmp_path: Path) -> None:
    singles = tuple(row for row in run.models if row.group == "stl")
    with pytest.raises(StageError) as caught:
        task_embedding_map.Options(type="task_embedding_map").run(AnalysisJob(singles, run.inputs, tmp_path))
    assert caught.value.code == "E568"


def _history(folder: Path, parts: Sequence[tuple[int, str, int]]) -> Path:
    folder.mkdir(parents=True)
    update, task, examples = zip(*parts, strict=True)
    pq.write_table(pa.table({"update": update, "task": task, "examples": examples}), folder / "history.parquet")
    layers = {"pos": "pos", "ner": "size"}  # tags, and numbers, which are no classes
    tasks = [{"name": name, "options": {"layer": layer}} for name, layer in layers.items()]
    (folder / "model.json").write_text(json.dumps({"tasks": tasks}))
    return folder


def test_shares_of_tasks_over_training(tmp_path: Path, toy_prepared: Path) -> None:
    """Over six updates ner gives way to pos; the second seed has only pos in the end."""
    rows, inputs = [], {"prepare-toy": toy_prepared}
    for seed, last in ((1, 2), (2, 0)):
        row = model_row("mtl", ["pos", "ner"], seed)
        own = [(at, "ner", 6) for at in (1, 2)] + [(at, "pos", 2) for at in (1, 2)]
        own += [(at, task, 4) for at in (3, 4) for task in ("pos", "ner")]
        own += [(at, "pos", 8 - last) for at in (5, 6)] + [(at, "ner", last) for at in (5, 6) if last]
        inputs[row.train] = _history(tmp_path / row.train, own)
        rows.append(row)
    alone = model_row("stl", ["pos"])
    options = sampling_composition.Options(type="sampling_composition", parts=3)
    (tmp_path / "out").mkdir()
    facts = options.run(AnalysisJob((*rows, alone), inputs, tmp_path / "out"))
    assert facts == {"models": 1, "estimates": 1}
    findings = Findings.read(tmp_path / "out")
    hard = of_layer(Prepared.load(toy_prepared), "pos")
    assert hard is not None
    assert findings.numbers == {
        "models": {
            "mtl-pos-ner": {
                "tasks": ["pos", "ner"],
                "ends": [2.0, 4.0, 6.0],
                "shares": [[0.25, 0.75], [0.5, 0.5], [0.875, 0.125]],
                "first_peaks": [6.0, 2.0],
            }
        },
        "difficulty": {"pos": hard.estimate},
    }
    pos, ner = findings.tables[0].rows
    wanted = [100 * 13 / 24, 25.0, 87.5, 87.5, 6.0, 6.0, hard.estimate]
    assert [cell.value for cell in pos[1:]] == pytest.approx(wanted)
    assert [cell.text for cell in ner[1:]] == ["45.8", "75.0", "12.5", "75.0", "2", "2", "–"]
    assert [row[0].text for row in findings.tables[1].rows] == ["pos"]
    assert sum(cell.value for cell in findings.tables[1].rows[0][1:-1]) == pytest.approx(hard.estimate)
    assert findings.summary == (
        "mtl: pos + ner: most examples are of pos (54 %); first peaks come in the order ner, pos; the share of pos "
        "grows most, from 25 to 88 %.",
    )
    assert json.loads((tmp_path / "out/analysis.json").read_bytes())["figures"][0]["name"] == "composition_mtl-pos-ner"
    with pytest.raises(StageError) as caught:
        options.run(AnalysisJob((alone,), inputs, tmp_path / "none"))
    assert caught.value.code == "E567"


def _composed(shares: Sequence[Sequence[float]]) -> sampling_composition.Composition:
    tasks = tuple("abcd"[: len(shares[0])])
    variant = Variant("mtl", tasks, (), (model_row("mtl", tasks),))
    array = np.array(shares)
    return sampling_composition.Composition(variant, tasks, array, np.arange(1.0, len(shares) + 1), array.mean(0))


def test_a_first_peak_is_above_its_neighbours_and_not_below_the_mean() -> None:
    made = _composed([[0.2, 0.5], [0.3, 0.5], [0.25, 0.5], [0.9, 0.5], [0.1, 0.5]])
    assert made.first_peak(0) == 3  # 0.3 is above its neighbours, but below the mean of 0.35
    assert made.first_peak(1) == 0  # a share that never changes
    assert _composed([[0.9], [0.1], [0.95]]).first_peak(0) == 0


def test_a_task_that_no_batch_had_has_no_peak() -> None:
    made = _composed([[0.9, 0.0, 0.1], [0.4, 0.0, 0.6]])
    assert [made.first_peak(task) for task in range(3)] == [0, None, 1]
    hard = {task: Difficulty(0.0, 0.0, 0.0, 0.0, 1.0) for task in "abc"}
    assert "; none are of b; first peaks come in the order a, c; " in sentence(made, agreements([made], hard, 0.05))


def test_figures_leave_out_the_peak_of_a_task_that_no_batch_had(tmp_path: Path) -> None:
    made = _composed([[0.9, 0.0, 0.1], [0.4, 0.0, 0.6]])
    hard = {task: Difficulty(0.0, 0.0, 0.0, 0.0, 1.0) for task in "abc"}
    assert len(draw([made], hard, tmp_path)) == 2
    for figure in tmp_path.glob("*.png"):
        assert figure.stat().st_size > 5000, figure.name
    assert len(list(tmp_path.glob("*.svg"))) == 2


def test_models_that_were_not_trained_have_no_batches(tmp_path: Path, toy_prepared: Path) -> None:
    """`train.examples: 0` is CA-MTL's start without data."""
    trained, untrained = model_row("mtl", ["pos", "ner"]), model_row("none", ["pos", "ner"])
    inputs = {"prepare-toy": toy_prepared, trained.train: _history(tmp_path / "a", [(1, "pos", 2), (1, "ner", 2)])}
    empty = {"update": pa.array([], "int64"), "task": pa.array([], "string"), "examples": pa.array([], "int64")}
    inputs[untrained.train] = tmp_path / "b"
    inputs[untrained.train].mkdir()
    pq.write_table(pa.table(empty), tmp_path / "b/history.parquet")
    options = sampling_composition.Options(type="sampling_composition", parts=3)
    (tmp_path / "out").mkdir()
    assert options.run(AnalysisJob((trained, untrained), inputs, tmp_path / "out"))["models"] == 1
    with pytest.raises(StageError, match=r"E567.*no model was trained on several tasks"):
        options.run(AnalysisJob((untrained,), inputs, tmp_path / "none"))


def test_peaks_in_the_order_of_difficulty_agree_and_few_tasks_are_not_compared() -> None:
    falling = np.eye(4) * 0.4 + 0.15
    hard = {
        task: Difficulty(0.0, 0.0, 0.0, 0.0, value) for task, value in zip("abcd", (4.0, 3.0, 2.0, 1.0), strict=True)
    }
    made = _composed(falling.tolist())
    agreed = agreements([made], hard, 0.1)
    assert agreed.of == {made.variant.slug: (pytest.approx(1.0), pytest.approx(2 / 24))}
    assert sentence(made, agreed).endswith("peak earlier with tau +1.00 (more than luck).")
    turned = _composed(falling[::-1].tolist())
    assert agreements([turned], hard, 0.05).of[turned.variant.slug][0] == pytest.approx(-1.0)
    assert agreements([made], {task: hard[task] for task in "abc"}, 0.05).of == {}
