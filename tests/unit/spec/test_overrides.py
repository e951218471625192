"""What the run of a spec with overrides is called."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mtlspec.io.project import Project
from mtlspec.spec.load import load_spec
from mtlspec.spec.overrides import name_of_run, same
from mtlspec.spec.slugs import MAX_NAME

NAMES = {
    (): "study",
    ("seeds=[1]",): "study-seeds_1",
    ("seeds=[1, 2]",): "study-seeds_1_2",
    ("train.epochs=1", "seeds=[ 1 ]"): "study-seeds_1-epochs_1",
    ("seeds=[1]", "train.epochs=1"): "study-seeds_1-epochs_1",
    ("train.epochs=5", "train.epochs=1"): "study-epochs_1",
    ("train.lr.encoder=5e-5",): "study-lr_encoder_5e-05",
    ("data.root=/data/My Corpus",): "study-root_data_my_corpus",
    ("seeds=[1]", "name=quick"): "quick",
}


@pytest.mark.parametrize("overrides", NAMES, ids=" ".join)
def test_a_variant_is_called_after_what_was_set(overrides: tuple[str, ...]) -> None:
    assert name_of_run("study", overrides) == NAMES[overrides]


@given(st.dictionaries(st.sampled_from(["a", "b.c", "d.e.f", "g"]), st.integers() | st.text("ab /;$'\"é", max_size=99)))
def test_names_are_short_and_safe_wherever_they_are_written(said: dict[str, int | str]) -> None:
    overrides = [f"{key}={json.dumps(value, ensure_ascii=False)}" for key, value in said.items()]
    name = name_of_run("study", overrides)
    assert len(name) <= MAX_NAME and re.fullmatch(r"[a-z][a-z0-9_-]*", name)
    assert name_of_run("study", overrides[::-1]) == name and same(overrides, overrides[::-1])
    assert (name == "study") == (not overrides)


def test_the_order_counts_where_one_override_lies_in_another() -> None:
    assert not same(["train={epochs: 1}", "train.clip=2"], ["train.clip=2", "train={epochs: 1}"])
    assert not same(["seeds=[1]"], ["seeds=[2]"])


def test_a_spec_with_overrides_has_the_variants_name_and_knows_its_own(project: Project) -> None:
    loaded = load_spec(project.root / "specs/study.yaml", project, ["seeds=[7]"])
    assert (loaded.spec.name, loaded.base) == ("study-seeds_7", "study")
    plain = load_spec(project.root / "specs/study.yaml", project)
    assert (plain.spec.name, plain.base) == ("study", "study")


def test_a_variant_takes_the_name_of_no_spec(project: Project) -> None:
    (project.root / "specs/other.yaml").write_text("mtlspec: 1\n")
    path = project.root / "specs/study.yaml"
    for name, said in {
        "study": "E820: 'study' is what specs/study.yaml itself is called, and overrides do not replace its run; "
        "choose another name, or edit the file",
        "other": "E821: 'other' is the name of another spec, specs/other.yaml; choose another name",
    }.items():
        with pytest.raises(Exception, match=re.escape(f"--set name={name}: error {said}")):
            load_spec(path, project, ["seeds=[1]", f"name={name}"])
