"""What every task type, tagger, sharing strategy, sampler and balancing promises, for all files in their folders."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mtlspec import kinds
from mtlspec.contract import training
from mtlspec.contract.decoders import check_task, check_uncertainty
from mtlspec.contract.drawing import THREE, check_balance, check_sampler, check_task_set
from mtlspec.contract.strategies import check_strategy
from mtlspec.data.prepared import Prepared
from mtlspec.spec.families import (
    BALANCE,
    SAMPLERS,
    SHARING,
    TAGGERS,
    TASK_SETS,
    TASKS,
    BalanceOptions,
    SamplerOptions,
    TaskSetOptions,
)
from mtlspec.spec.selected import SelectedTaskSet

TAGGING = {"type": "tagging", "layer": "ner"}
EXAMPLES: dict[str, dict[str, Any]] = {  # what a task type needs on the toy data
    "biaffine_dep": {"layer": "dep"},
    "biaffine_ner": {"layer": "ner"},
    "classification": {"layer": "topic", "metric": "f1"},
    "crf_con": {"layer": "con"},
    "multiple_choice": {"layer": "odd", "metric": "f1a_em"},
    "qa_span": {"layer": "reply", "no_answer": True},
    "regression": {"layer": "size"},
    "span_srl": {"layer": "srl"},
    "tagging": {"layer": "ner"},
    "tagging_f1": {"layer": "pos"},
    "word_in_context": {"layer": "alike"},
}
CASES = [{**TAGGING, "decoder": name} for name in kinds.names(TAGGERS)]
CASES += [{"type": name, **EXAMPLES[name]} for name in kinds.names(TASKS)]
MUTANTS = Path(__file__).parents[1] / "kinds/mutants"
NEEDED: dict[str, dict[str, Any]] = {
    "static": {"weights": dict.fromkeys(THREE, 2.0)},
    "listed": {"names": ["pos", "ner"]},
    "each_of": {"names": ["pos", "ner"]},
    "pairs_of": {"names": ["pos", "ner"]},
}


@pytest.fixture(scope="module")
def data(toy_prepared: Path) -> Prepared:
    return Prepared.load(toy_prepared)


@pytest.fixture(scope="module")
def questions(toy_questions: Path) -> Prepared:
    return Prepared.load(toy_questions)


@pytest.mark.parametrize("task", CASES, ids=str)
def test_a_task_learns_predicts_and_comes_back_from_disk(
    task: dict[str, Any], toy_encoder: Path, data: Prepared, questions: Prepared, tmp_path: Path
) -> None:
    check_task(task, toy_encoder, questions if task["layer"] in questions.layers else data, tmp_path)


@pytest.mark.parametrize("task", CASES, ids=str)
def test_a_task_says_how_unsure_it_is_or_that_it_does_not(
    task: dict[str, Any], toy_encoder: Path, data: Prepared, questions: Prepared
) -> None:
    check_uncertainty(task, toy_encoder, questions if task["layer"] in questions.layers else data)


@pytest.mark.parametrize("sharing", kinds.names(SHARING))
def test_a_strategy_gives_states_and_its_state_is_json(sharing: str, toy_encoder: Path, data: Prepared) -> None:
    check_strategy({"type": sharing}, toy_encoder, data)


@pytest.mark.parametrize("sharing", kinds.names(SHARING))
def test_a_strategy_trains_several_tasks_resumes_and_comes_back_from_disk(
    sharing: str, toy_encoder: Path, toy_prepared: Path, tmp_path: Path
) -> None:
    training.check(training.params(sharing={"type": sharing}), tmp_path, toy_encoder, toy_prepared)


@pytest.mark.parametrize(("mutant", "what"), [("lying", "depends on the task"), ("first_row", "tasks meet")])
def test_a_strategy_that_is_wrong_about_its_tasks_is_found(
    mutant: str, what: str, toy_encoder: Path, toy_prepared: Path, tmp_path: Path
) -> None:
    with kinds.extended(SHARING, MUTANTS), pytest.raises(AssertionError, match=what):
        training.check(training.params(sharing={"type": mutant}), tmp_path, toy_encoder, toy_prepared)


def test_a_balancing_that_forgets_is_found(toy_encoder: Path, toy_prepared: Path, tmp_path: Path) -> None:
    with kinds.extended(BALANCE, MUTANTS):
        with pytest.raises(AssertionError, match="weighs otherwise"):
            check_balance(kinds.parse(BALANCE, BalanceOptions, {"type": "forgetful"}))
        with pytest.raises(AssertionError, match="same bits"):
            training.check(training.params(balance={"type": "forgetful"}), tmp_path, toy_encoder, toy_prepared)


@pytest.mark.parametrize("name", kinds.names(SAMPLERS))
def test_a_sampler_draws_known_tasks_and_resumes_exactly(name: str) -> None:
    check_sampler(kinds.parse(SAMPLERS, SamplerOptions, {"type": name}))


@pytest.mark.parametrize("name", kinds.names(BALANCE))
def test_a_balancing_keeps_the_gradient_and_resumes_exactly(name: str) -> None:
    check_balance(kinds.parse(BALANCE, BalanceOptions, {"type": name, **NEEDED.get(name, {})}))


@pytest.mark.parametrize("name", kinds.names(TASK_SETS))
def test_a_task_set_makes_as_many_sets_as_it_counts(name: str) -> None:
    options = kinds.options_class(TASK_SETS, name)
    if issubclass(options, SelectedTaskSet):
        return  # evaluations make its sets
    check_task_set(kinds.parse(TASK_SETS, TaskSetOptions, {"type": name, **NEEDED.get(name, {})}))
