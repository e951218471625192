"""`mtlspec check` and `mtlspec plan` of a hundred models on ten corpora, against the bare import of the spec language.

What a command costs beside the import is what planning itself costs; the ratio does not depend on the machine. All are
processes of their own, as users start them, in turns; CPU time counts.
"""

from __future__ import annotations

import os
import statistics
import tempfile
from pathlib import Path

from tests.e2e.study import DATA_CARD, Study

_CORPORA = 10
_ROUNDS = 5


def _spec() -> str:
    names = [f"corpus{number}" for number in range(_CORPORA)]
    tasks = [f"  task{i}: {{type: tagging, layer: xpos, data: {name}}}" for i, name in enumerate(names)]
    return "\n".join(
        [
            "mtlspec: 1",
            "name: small",
            "data:",
            *(f"  {name}: {name}" for name in names),
            f"encoder: {{card: micro, data: {names[0]}}}",
            "tasks:",
            *tasks,
            "seeds: [1]",
            "models:",
            "  stl: {tasks: each, sharing: hard}",
            "  pair: {tasks: pairs, sharing: hard}",
            "  mtl: {tasks: all, sharing: hard, sweep: {train.lr.encoder: [1e-5, 2e-5, 5e-5, 1e-4, 2e-4]}}",
            "  but: {tasks: all_but_one, sharing: hard}",
            "  oracle: {tasks: {type: oracle, ddof: 0}, sharing: hard}",
            "  gated: {tasks: each, sharing: l0}",
            "  again: {tasks: each, sharing: hard, start: stl}",
            "analyses:",
            "  scores: {type: score_matrix}",
            "  heads: {type: head_utilisation, models: [gated]}",
            "",
        ]
    )


def _cpu(study: Study, *arguments: str) -> float:
    before = os.times()
    study.tool("python", *arguments)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def main() -> None:
    commands = {
        "import": ("-c", "import mtlspec.spec.load"),
        "check": ("-m", "mtlspec", "check", "small"),
        "plan": ("-m", "mtlspec", "plan", "small"),
    }
    with tempfile.TemporaryDirectory() as folder:
        study = Study.create(Path(folder) / "study", _spec())
        for number in range(_CORPORA):
            card = DATA_CARD.replace("name: mini", f"name: corpus{number}").replace("seed: 7", f"seed: {number}")
            (study.root / "registry" / "data" / f"corpus{number}.yaml").write_text(card)
        rounds = [{name: _cpu(study, *command) for name, command in commands.items()} for _ in range(_ROUNDS)]
        trainings = study.mtlspec("check", "small").stdout.split("trainings")[1].split(",")[0].strip()
    medians = {name: statistics.median(times[name] for times in rounds) for name in commands}
    print(f"{trainings} models on {_CORPORA} corpora; CPU seconds, and how many times the import of the spec language:")
    for name, seconds in medians.items():
        ratio = statistics.median(times[name] / times["import"] for times in rounds)
        print(f"  {name:7} {seconds:.2f} s  {ratio:.1f}x")


if __name__ == "__main__":
    main()
