"""Model groups become single trainings: task sets x sweep values x seeds."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mtlspec.io.project import Project
from mtlspec.spec.expand import count, expand
from mtlspec.spec.load import LoadedSpec, load_spec
from mtlspec.spec.models import ExperimentSpec, ModelGroup
from mtlspec.spec.slugs import MAX_NAME
from tests.unit.spec.small_project import SPEC, make_project

Load = Callable[..., LoadedSpec]


def test_names_and_order(load: Load) -> None:
    text = SPEC.replace(
        "  mtl: {", "  pair: {tasks: pairs, sharing: hard}\n  but: {tasks: all_but_one, sharing: hard}\n  mtl: {"
    )
    variants = expand(load(text).spec)
    assert [variant.name for variant in variants] == [
        "stl-pos-s1",
        "stl-pos-s2",
        "stl-lem-s1",
        "stl-lem-s2",
        "pair-pos-lem-s1",
        "pair-pos-lem-s2",
        "but-but-pos-s1",
        "but-but-pos-s2",
        "but-but-lem-s1",
        "but-but-lem-s2",
        "mtl-all-s1",
        "mtl-all-s2",
    ]
    assert variants[6].tasks == ("lem",)
    assert variants[10].tasks == ("pos", "lem")
    assert variants[10].train.epochs == 8


def test_an_explicit_list_keeps_its_order(load: Load) -> None:
    variant = expand(load(SPEC.replace("tasks: all", "tasks: [lem, pos]")).spec)[-1]
    assert (variant.name, variant.tasks) == ("mtl-lem-pos-s2", ("lem", "pos"))


def test_sets_of_some_tasks_leave_the_others_out(load: Load) -> None:
    task = "  lem: {type: tagging, layer: lemma, decoder: crf}\n"
    text = SPEC.replace(task, task + task.replace("lem:", "third:")).replace("seeds: [1, 2]", "seeds: [1]")
    names = "names: [third, pos]"
    some = f"  some: {{tasks: {{type: each_of, {names}}}, sharing: hard}}\n"
    two = f"  two: {{tasks: {{type: pairs_of, {names}}}, sharing: hard}}\n"
    spec = load(text.replace("  mtl: {", f"{some}{two}  mtl: {{")).spec
    found = [(one.name, one.tasks) for one in expand(spec) if one.group in ("some", "two")]
    assert found == [
        ("some-third-s1", ("third",)),
        ("some-pos-s1", ("pos",)),
        ("two-third-pos-s1", ("third", "pos")),
    ]
    assert count(spec) == len(expand(spec)) == 3 + 2 + 1 + 1


def test_sweeps_multiply_and_a_group_replaces_the_specs_values(load: Load) -> None:
    spec = load(
        SPEC,
        "seeds=[1]",
        "sweep={train.lr.encoder: [1e-5, 5.5e-4], train.sampler: [power, {type: balanced}]}",
        "models.mtl.sweep={train.lr.encoder: [1e-3]}",
    ).spec
    variants = [variant for variant in expand(spec) if variant.group == "mtl"]
    assert [(v.train.lr.encoder, v.train.sampler.type) for v in variants] == [(1e-3, "power"), (1e-3, "balanced")]
    assert variants[0].sweep == (("train.lr.encoder", 1e-3), ("train.sampler", "power"))
    assert variants[0].name == "mtl-all-lr_encoder_0_001-sampler_power-s1"
    single = [variant for variant in expand(spec) if variant.group == "stl"]
    assert [(v.tasks, v.train.lr.encoder, v.train.sampler.type) for v in single[:4]] == [
        (("pos",), 1e-5, "power"),
        (("pos",), 1e-5, "balanced"),
        (("pos",), 5.5e-4, "power"),
        (("pos",), 5.5e-4, "balanced"),
    ]
    assert single[0].name == "stl-pos-lr_encoder_1e-05-sampler_power-s1"
    assert single[0].train.epochs == 5


def test_a_group_may_have_seeds_of_its_own(load: Load) -> None:
    start = "models.mtl.start={group: stl, take: encoder, tasks: [pos], seed: 2}"
    spec = load(SPEC, "models.mtl.seeds=5", start, "models.mtl.sweep={train.examples: [4, 16]}").spec
    few = [variant for variant in expand(spec) if variant.group == "mtl"]
    assert [(v.train.examples, v.seed) for v in few] == [(n, seed) for n in (4, 16) for seed in (1, 2, 3, 4, 5)]
    assert {v.start for v in few} == {"stl-pos-s2"}
    assert [v.seed for v in expand(spec) if v.group == "stl"] == [1, 2, 1, 2]
    assert count(spec) == 14
    assert [v.seed for v in expand(load(SPEC, "models.mtl.seeds=[7, 3]").spec) if v.group == "mtl"] == [7, 3]


def test_what_a_group_leaves_unsaid_is_not_in_its_record(load: Load) -> None:
    """Records of studies that know nothing of them stay as they are."""
    dumped = load(SPEC).spec.models["mtl"].model_dump(mode="json")
    assert "seeds" not in dumped
    assert not {"draw", "dev"} & set(dumped["train"])


def test_a_sweep_reaches_into_what_is_off_by_default(load: Load) -> None:
    spec = load(SPEC, "sweep={train.plateau.factor: [0.3]}").spec
    plateau = expand(spec)[0].train.plateau
    assert plateau is not None
    assert (plateau.factor, plateau.patience) == (0.3, 2)


def test_values_that_read_alike_get_different_names(load: Load) -> None:
    values = [{"type": "power", "alpha": 0.5}, {"type": "power", "alpha": 5}]
    spec = load(SPEC, f"sweep={{train.sampler: {values}}}", "seeds=[1]").spec
    names = [variant.name for variant in expand(spec)]
    assert len(set(names)) == len(names)


def test_long_names_are_cut_and_stay_unique(load: Load) -> None:
    text = (
        SPEC.replace("  stl:", f"  {'g' * 40}:")
        .replace("[stl, mtl]", f"[], baseline: {'g' * 40}")
        .replace("  mtl:", f"  {'h' * 40}:")
    )
    sweep = (
        "sweep={train.weight_decay: [0.1, 0.2], train.checkpoint_every: [100, 200], train.warmup: [0.11111, 0.22222]}"
    )
    spec = load(text, sweep).spec
    names = [variant.name for variant in expand(spec)]
    assert len(set(names)) == len(names) == count(spec) == 48
    assert all(len(name) == MAX_NAME for name in names)


@given(st.lists(st.sampled_from("abcdef"), unique=True, min_size=1))
def test_task_sets_are_those_of_combinatorics(tasks: list[str]) -> None:
    assert _sets("each", tasks) == list(combinations(tasks, 1))
    assert _sets("pairs", tasks) == list(combinations(tasks, 2))
    assert _sets("all", tasks) == list(combinations(tasks, len(tasks)))
    assert set(_sets("all_but_one", tasks)) == set(combinations(tasks, len(tasks) - 1))


def _sets(kind: str, tasks: list[str]) -> list[tuple[str, ...]]:
    options = ModelGroup.model_validate({"tasks": kind, "sharing": "hard"}).task_set
    found = [names for _, names in options.sets(tasks)]
    assert options.count(tasks) == len(found)
    return found


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> ExperimentSpec:
    project: Project = make_project(tmp_path_factory.mktemp("expand"))
    return load_spec(project.root / "specs" / "study.yaml", project).spec


SWEEPS = st.dictionaries(
    st.sampled_from(["train.epochs", "train.accumulate", "train.checkpoint_every"]),
    st.lists(st.integers(1, 9), unique=True, min_size=1, max_size=3).map(tuple),
    max_size=3,
)


@settings(max_examples=60)
@given(SWEEPS, SWEEPS, st.lists(st.integers(0, 99), unique=True, min_size=1, max_size=3))
def test_every_combination_once_with_a_safe_name(
    sound: ExperimentSpec,
    spec_sweep: dict[str, tuple[int, ...]],
    group_sweep: dict[str, tuple[int, ...]],
    seeds: list[int],
) -> None:
    groups = {name: group.model_copy(update={"sweep": group_sweep}) for name, group in sound.models.items()}
    spec = sound.model_copy(update={"sweep": spec_sweep, "seeds": tuple(seeds), "models": groups})
    variants = expand(spec)
    assert len(variants) == count(spec) == len({variant.name for variant in variants})
    assert len({(v.group, v.tasks, v.sweep, v.seed) for v in variants}) == len(variants)
    assert all(re.fullmatch(r"[a-z][a-z0-9_-]{0,79}", variant.name) for variant in variants)
    for variant in variants:
        for key, value in variant.sweep:
            assert getattr(variant.train, Path(key).suffix[1:]) == value
    assert expand(spec) == variants
