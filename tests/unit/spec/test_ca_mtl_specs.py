"""The specs of the CA-MTL paper load and plan as published; where its data lie is nobody's business here."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from mtlspec.io.project import Project
from mtlspec.plan.build import build_plan
from mtlspec.spec.expand import expand
from mtlspec.spec.load import load_spec
from tests.unit.spec.test_shipped_specs import ROOT

GLUE = ("cola", "mnli", "mrpc", "qnli", "qqp", "rte", "sst2", "stsb")


@pytest.mark.parametrize(("size", "joint", "new"), [("base", 8, ("scitail", "snli")), ("large", 6, ())])
def test_every_model_is_planned_with_the_settings_of_the_paper(size: str, joint: int, new: tuple[str, ...]) -> None:
    loaded = load_spec(ROOT / f"specs/paper/ca_mtl_{size}.yaml", Project(ROOT))
    spec = loaded.spec
    assert (tuple(spec.tasks), spec.compare_to) == ((*GLUE, *new), f"ca_mtl/bert_{size}")
    models = [one for one in expand(spec) if one.seed == 12]
    of_glue = [one for one in models if set(one.tasks) <= set(GLUE)]
    assert len(of_glue) == len(GLUE) + joint and all(len(one.tasks) in (1, len(GLUE)) for one in of_glue)
    assert len(models) - len(of_glue) == len(new) * (10 + 4 + 4)  # embeddings, sizes with CA-MTL and without
    for one in models:
        train = one.train
        assert (train.epochs, train.batch.sentences, train.clip, train.warmup) == (5, 32, 1.0, 0.1)
        assert (train.lr.encoder, train.lr.decoder) == (2e-5, 2e-5)
    kinds = [stage.kind for stage in build_plan(loaded).stages]
    assert kinds.count("train") == 3 * len(models)
    assert kinds.count("prepare") == len(GLUE) + len(new)


def test_modules_are_added_one_after_the_other() -> None:
    """Rows of Table 1: plain, conditional attention, adapter, alignment and norms, uncertainty sampling."""
    spec = load_spec(ROOT / "specs/paper/ca_mtl_base.yaml", Project(ROOT)).spec
    made = {one.group: one for one in expand(spec) if one.seed == 12 and len(one.tasks) > 1}
    switches = {
        name: [
            one.sharing.model_dump()[key] not in (False, "none")
            for key in ("attention", "bottleneck", "alignment", "norm")
        ]
        for name, one in made.items()
        if one.sharing.type == "ca_mtl"
    }
    assert switches == {
        "attention": [True, False, False, False],
        "bottleneck": [True, True, False, False],
        "modules": [True] * 4,
        "ca_mtl": [True] * 4,
    }
    assert {name for name, one in made.items() if one.train.sampler.type == "mt_uncertainty"} == {
        "ca_mtl",
        "mtl_unsure",
    }
    assert all(one.train.freeze == 0.5 for name, one in made.items() if name != "pals")


def test_new_tasks_begin_with_every_embedding_and_with_the_printed_shares_of_their_data() -> None:
    """Tables 8 and 3, beside an encoder that has learnt nothing of GLUE."""
    spec = load_spec(ROOT / "specs/paper/ca_mtl_base.yaml", Project(ROOT)).spec
    first = [one for one in expand(spec) if one.seed == 12]
    for task, whole, best in (("scitail", 23596, "stsb"), ("snli", 549367, "mrpc")):
        own = [one for one in first if one.tasks == (task,)]
        begun = [one for one in own if one.train.examples == 0]
        assert {one.sharing.model_dump()["embedding"] for one in begun} == {*GLUE, "random", "xavier"}
        shares = [round(whole * share) for share in (0.001, 0.01, 0.1, 1)]
        trained = next(one.name for one in first if one.group == "ca_mtl")
        for group, start in ((task, trained), (f"{task}_bert", None)):
            models = [one for one in own if one.group == group]
            assert [one.train.examples for one in models] == shares
            assert {one.start for one in models} == {start}
            assert {one.sharing.model_dump().get("embedding") for one in models} == {best if start else None}


def test_all_24_tasks_are_planned_with_length_256_and_8_epochs() -> None:
    """Nine tasks of GLUE, eight of SuperGLUE, six of MRQA, and WNUT 2017."""
    loaded = load_spec(ROOT / "specs/paper/ca_mtl_roberta_24.yaml", Project(ROOT))
    spec = loaded.spec
    kinds = Counter(task.type for task in spec.tasks.values())
    assert (len(spec.tasks), kinds["qa_span"], kinds["word_in_context"], kinds["multiple_choice"]) == (24, 6, 2, 3)
    assert sum(getattr(task, "glue", None) is not None for task in spec.tasks.values()) == 9
    assert (spec.compare_to, spec.encoder.max_pieces) == ("ca_mtl/roberta_large", 256)
    joint = {one.group: one for one in expand(spec) if one.seed == 12 and len(one.tasks) == 24}
    assert set(joint) == {"mtl", "ca_mtl"}
    for one in joint.values():
        assert (one.train.epochs, one.train.batch.sentences, one.train.freeze) == (8, 32, 0.5)
        assert (one.train.lr.encoder, one.train.warmup, one.train.clip) == (2e-5, 0.1, 1.0)
    assert joint["ca_mtl"].train.sampler.type == "mt_uncertainty" and joint["mtl"].train.sampler.type == "random"
    stages = Counter(stage.kind for stage in build_plan(loaded).stages)
    assert (stages["train"], stages["prepare"]) == (3 * (24 + 2), 24)


def test_models_of_six_tasks_that_are_compared_took_equally_many_updates() -> None:
    """Uncertainty sampling has epochs of its own, so the spec cannot say it: the record of the small study does."""
    records = sorted((ROOT / "registry/runs/ca_mtl/records").glob("train-*-pos-ner-topic-*.json"))
    updates = [json.loads(path.read_bytes())["facts"]["updates"] for path in records]
    assert len(updates) == 12 and len(set(updates)) == 1


def test_five_tasks_of_glue_read_the_same_texts_and_as_many_of_them() -> None:
    """Both specs on MiniLM have the same corpora; in the second, models of several tasks read as much as others."""
    specs = [load_spec(ROOT / f"specs/{name}.yaml", Project(ROOT)) for name in ("glue_minilm", "glue_minilm_ca_mtl")]
    plans = [{stage.name: stage for stage in build_plan(loaded).stages} for loaded in specs]
    prepared = [name for name in plans[1] if name.startswith("prepare-")]
    assert len(prepared) == 5 and all(plans[0][name] == plans[1][name] for name in prepared)
    models = expand(specs[1].spec)
    assert len({(one.train.epochs, one.train.examples, one.train.batch.sentences) for one in models}) == 1
    assert Counter(one.group for one in models if one.seed == 1) == Counter(
        stl=5, mtl=1, mtl_half=1, modules=1, ca_mtl=1, adapters=1, pals=1
    )
