"""A run that stops between pairs and oracle, and a pair whose result is another when it goes on."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

from tests.e2e.study import SPEC, Study

STRONG = "{epochs: 3, lr: {encoder: 1e-3, decoder: 1e-2}}"
WEAK = "{epochs: 1, lr: {encoder: 1e-9, decoder: 1e-9}}"
TASKS = "  twin: {type: tagging, layer: xpos}\ntrain:"
MODELS = f"""\
models:
  stl: {{tasks: each, sharing: hard, train: {{epochs: 2, lr: {{encoder: 1e-4, decoder: 3e-3}}}}}}
  pair: {{tasks: pairs, sharing: hard, train: {WEAK}}}
  oracle: {{tasks: {{type: oracle, target: pos, k: 0}}, sharing: hard, train: {STRONG.replace("3,", "12,")}}}
"""
BEFORE = SPEC[: SPEC.index("models:")].replace("seeds: [1]", "seeds: [1, 2]").replace("train:", TASKS) + MODELS
AFTER = BEFORE.replace(f"hard, train: {WEAK}", f"hard, train: {WEAK}, by_tasks: {{pos-twin: {{train: {STRONG}}}}}")
BOTH = ("train", "evaluate")
PAIRS = {f"evaluate-pair-{pair}-s{seed}" for pair in ("pos-ner", "pos-twin", "ner-twin") for seed in (1, 2)}
CHANGED = {f"{kind}-pair-pos-twin-s{seed}" for kind in BOTH for seed in (1, 2)}
ORACLE = {f"{kind}-oracle-pos-s{seed}" for kind in BOTH for seed in (1, 2)}
SELECT = {"select-oracle-pos"}
ENDS = {"report", "results@small"}


def _stop_after_the_pairs(study: Study) -> set[str]:
    """The stages that are done and kept."""
    run = subprocess.Popen(
        study.command("run", "small", "--no-publish"),
        cwd=study.root,
        env=study.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 900
    while not (study.run / "artifacts" / "select-oracle-pos" / "manifest.json").is_file():
        assert run.poll() is None and time.monotonic() < deadline, "nothing was ever chosen"
        time.sleep(0.02)
    run.send_signal(signal.SIGINT)
    run.communicate(timeout=300)
    assert run.returncode == 130
    return {name for name, stage in study.plan().items() if stage["state"] == "cached"}


def _grounds(study: Study) -> dict[str, Any]:
    facts: dict[str, Any] = json.loads((study.run / "records" / "select-oracle-pos.json").read_bytes())["facts"]
    return {name: found["chosen"] for name, found in facts["candidates"].items()}


def _done(study: Study) -> dict[str, set[str]]:
    outcomes = study.outcomes(study.mtlspec("run", "small", "--no-publish"))
    return {word: {name for name, own in outcomes.items() if own == word} for word in ("done", "restored")}


def test_a_pair_that_changes_before_the_choice_changes_the_choice_alone(tmp_path: Path) -> None:
    study = Study.create(tmp_path / "study", BEFORE)
    kept = _stop_after_the_pairs(study)
    assert kept >= {name for name in PAIRS if "-pos-" in name} and not kept & ORACLE, "it did not stop in between"
    (study.root / "specs" / "small.yaml").write_text(AFTER)
    plan = study.plan()
    assert {name for name, stage in plan.items() if stage["state"] == "cached"} == kept - CHANGED - SELECT
    for seed in (1, 2):
        assert any(
            "by_tasks" in reason or "option" in reason for reason in plan[f"train-pair-pos-twin-s{seed}"]["reasons"]
        )

    first = _done(study)
    # A stage that was interrupted between the cache and the lock file is kept too: it comes back.
    again = first["done"] | first["restored"] - kept
    assert again | {"plan"} == (plan.keys() - kept) | CHANGED | SELECT | {"plan", "results@small"}
    assert first["done"] >= CHANGED | SELECT | ORACLE
    assert _grounds(study) == {"ner": False, "twin": True}
    page = (study.run / "artifacts" / "report" / "report.md").read_text()
    assert "oracle: pos + twin (selected)" in page

    (study.root / "specs" / "small.yaml").write_text(BEFORE)  # the pair's old result is still in the cache
    second = _done(study)
    assert second["restored"] >= CHANGED and not second["done"] & (CHANGED | PAIRS)
    assert second["done"] - {"plan", *SELECT} <= ORACLE | ENDS
    assert _grounds(study) == {"ner": False, "twin": False}
    weights = json.loads((study.run / "artifacts" / "train-oracle-pos-s1" / "model.json").read_bytes())
    assert [task["name"] for task in weights["tasks"]] == ["pos"]
    assert study.outcomes(study.mtlspec("run", "small", "--no-publish")) == {}
