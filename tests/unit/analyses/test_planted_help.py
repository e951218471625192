"""A task that helps by construction is found, one that cannot help is not chosen: by pairs, oracle and affinity."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helped import HELPER, STRANGER, TARGET, Language

SEEDS = 5  # of each model: with three, luck alone passes the rule in some per cent of all cases
LANGUAGES = 20


def check(root: Path, seed: int) -> tuple[bool, bool, dict[str, bool]]:
    """Is the helper chosen, is the stranger, and does each measure of affinity rank the helper first?"""
    language = Language.make(root, seed)
    selection = language.choice(root / "runs", SEEDS)
    affinity = language.affinity(root / "affinity", SEEDS)
    first = {measure: found[HELPER] > found[STRANGER] for measure, found in affinity.items()}
    return HELPER in selection.tasks, STRANGER in selection.tasks, first


def test_pairs_tell_the_helper_from_the_stranger(tmp_path: Path) -> None:
    language = Language.make(tmp_path, 1)
    selection = language.choice(tmp_path / "runs", 3)
    assert selection.tasks == (TARGET, HELPER)
    helper, stranger = (found.numbers for found in selection.candidates)
    assert helper["paired"] > helper["alone"] + 10
    assert abs(stranger["paired"] - stranger["alone"]) < 5


@pytest.mark.slow  # 320 models and 100 short trainings
def test_the_helper_is_found_and_the_stranger_is_not_chosen_in_20_of_20_languages(tmp_path: Path) -> None:
    found = [check(tmp_path / str(seed), seed) for seed in range(1, LANGUAGES + 1)]
    chosen, wrong, first = zip(*found, strict=True)
    rates = {measure: sum(own[measure] for own in first) for measure in first[0]}
    assert (sum(chosen), sum(wrong), rates) == (LANGUAGES, 0, {"cosine": LANGUAGES, "look_ahead": LANGUAGES})
