"""A finished run, made by hand in the formats that stages leave behind, so that what reads runs needs no training."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from safetensors.numpy import save_file

from mtlspec.data.sentence import Sentence
from mtlspec.data.statistics import corpus_statistics
from mtlspec.io.digest import canonical_json, digest_value
from mtlspec.io.manifest import read_manifest, write_manifest
from mtlspec.io.project import Project, RunPlaces
from mtlspec.io.write import write_json, write_text
from mtlspec.plan.rows import ModelRow
from mtlspec.plan.types import CodeUnit, Plan, Stage
from mtlspec.spec.packs import load_pack
from mtlspec.stages.analyse import run as run_analyse
from mtlspec.stages.context import StageContext, StageResult
from mtlspec.stages.report import run as run_report
from tests.trainings import write_training

SENTENCES, EPOCHS, UPDATES = 60, 3, 24
UNIT = CodeUnit(
    name="unit-1", files={"train/loop.py": "0" * 64, "model/taggers/crf.py": "1" * 64}, packages={"torch": "2.13.0"}
)
ENVIRONMENT = {
    "python": "CPython 3.11.9",
    "machine": "x86_64",
    "threads": 1,
    "cpu": {"model": "Test CPU", "features": ["avx2"]},
}


@dataclass
class FinishedRun:
    project: Project
    plan: Plan

    @property
    def places(self) -> RunPlaces:
        return self.project.run(self.plan.spec)

    def copy_to(self, root: Path) -> FinishedRun:
        """The same run in another project, to be changed; nothing of MLflow comes along."""
        shutil.copytree(self.project.root, root, ignore=shutil.ignore_patterns("mlflow"))
        return FinishedRun(Project(root.resolve()), self.plan)

    def add_spec(self, name: str) -> None:
        """One that has not been run."""
        file = self.project.root / "specs" / f"{name}.yaml"
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"name: {name}\n")

    def add_store(self, experiments: Sequence[tuple[int, str, str]]) -> None:
        """MLflow's, as far as `ui` looks."""
        self.project.tracking.mkdir()
        with closing(sqlite3.connect(self.project.tracking / "mlflow.db")) as store:
            store.execute("CREATE TABLE experiments (experiment_id INTEGER, name TEXT, lifecycle_stage TEXT)")
            store.executemany("INSERT INTO experiments VALUES (?, ?, ?)", experiments)
            store.commit()

    def context(self, stage: Stage, out: Path) -> StageContext:
        inputs = {role: self.places.artifact(parent) for role, parent in stage.inputs.items()}
        out.mkdir(parents=True, exist_ok=True)
        return StageContext(stage.name, stage.params, inputs, out, out.parent / "work", stage.id, self.project.root)

    def seal(self, name: str, result: StageResult) -> None:
        """Manifest, record and timing, as the stage runner writes them."""
        stage = self.plan.stage(name)
        write_manifest(self.places.artifact(name))
        files = read_manifest(self.places.artifact(name))
        inputs = {
            role: digest_value(read_manifest(self.places.artifact(parent))) for role, parent in stage.inputs.items()
        }
        record = {
            "stage": name, "kind": stage.kind, "scores": dict(result.scores), "facts": dict(result.facts),
            "artifact": files, "inputs": inputs, "environment": ENVIRONMENT,
        }  # fmt: skip
        write_json(self.places.stage_record(name), record)
        write_json(self.places.timing(name), {"seconds": 1.5, "tokens_per_second": 12345.0})


def make_run(
    root: Path,
    name: str = "study",
    tasks: Sequence[str] = ("pos", "ner"),
    seeds: Sequence[int] = (1, 2),
    description: str = "A made-up study.",
    gain: float = 0.05,
    compare_to: str | None = None,
) -> FinishedRun:
    """`gain` is what pairs and the full model add to the share of right answers."""
    (root / "specs").mkdir(parents=True, exist_ok=True)
    (root / "registry").mkdir(exist_ok=True)
    write_text(root / "requirements.lock", "torch==2.13.0\n")
    project = Project(root.resolve())
    finished = FinishedRun(project, _plan(name, tasks, seeds, description, compare_to))
    write_text(finished.places.plan, finished.plan.text())
    for stage in finished.plan.stages:
        out = finished.places.artifact(stage.name)
        out.mkdir(parents=True, exist_ok=True)
        if stage.kind == "analyse":
            result = run_analyse(finished.context(stage, out))
        elif stage.kind == "report":
            result = run_report(finished.context(stage, out))
        else:
            result = _MAKERS[stage.kind](stage, out, finished, gain)
        finished.seal(stage.name, result)
    return finished


def _task_sets(tasks: Sequence[str]) -> list[tuple[str, tuple[str, ...]]]:
    sets = [("stl", (task,)) for task in tasks]
    sets += [("pair", pair) for pair in combinations(tasks, 2)]
    return [*sets, ("mtl", tuple(tasks))]


def _plan(name: str, tasks: Sequence[str], seeds: Sequence[int], description: str, compare_to: str | None) -> Plan:
    stages: list[Stage] = []

    def add(stage: str, kind: Any, params: Mapping[str, Any], inputs: Mapping[str, str]) -> str:
        identity = digest_value([stage, dict(params), dict(inputs), UNIT.model_dump(mode="json")])[:16]
        stages.append(
            Stage(name=stage, kind=kind, params=dict(params), inputs=dict(inputs), unit=UNIT.name, id=identity)
        )
        return stage

    card = {
        "card": "data", "name": "toy", "title": "Toy corpus", "language": "en", "licence": "CC0", "source": "made up",
        "root": None, "generator": None, "files": [], "on_invalid": "error", "sha256": {"train.conllu": "a" * 64},
    }  # fmt: skip
    encoder_card = {"card": "encoder", "name": "tiny", "title": "", "licence": "CC0", "source": {"type": "pretrain"}}
    data = add("data-toy", "data", {"card": card}, {})
    encoder = add("pretrain-tiny", "encoder", {"card": encoder_card, "run": {"threads": 1}}, {"data": data})
    prepare = add("prepare-toy-tiny", "prepare", {"card": card, "encoder": "tiny"}, {"data": data, "encoder": encoder})
    spec = {
        "mtlspec": 1, "name": name, "description": description, "data": "toy", "encoder": {"card": "tiny"},
        "tasks": {task: {"type": "tagging", "layer": task} for task in tasks},
        "train": {"epochs": EPOCHS, "lr": {"encoder": 5e-05, "decoder": 0.001}}, "seeds": list(seeds),
        "models": {
            group: {"tasks": sets, "sharing": {"type": "hard"}, "sweep": {}}
            for group, sets in (("stl", "each"), ("pair", "pairs"), ("mtl", "all"))
        },
        "analyses": {"scores": {"type": "score_matrix", "models": []}},
        "run": {"threads": 1, "device": "cpu", "precision": "fp32"}, "tracking": {"checkpoint_limit_mb": 8.0},
        "compare_to": compare_to, "sweep": {},
    }  # fmt: skip
    models = []
    for group, members in _task_sets(tasks):
        for seed in seeds:
            variant = f"{group}-{'all' if group == 'mtl' else '-'.join(members)}-s{seed}"
            params = {
                "group": group, "variant": variant, "tasks": {task: spec["tasks"][task] for task in members},  # type: ignore[index]
                "sharing": {"type": "hard"}, "train": spec["train"], "encoder": {"card": "toy", "subword_dropout": 0.2},
                "seed": seed, "run": spec["run"], "sweep": [],
            }  # fmt: skip
            train = add(f"train-{variant}", "train", params, {"encoder": encoder, "prepare-toy": prepare})
            evaluate = add(
                f"evaluate-{variant}", "evaluate", {"run": spec["run"]}, {"train": train, "prepare-toy": prepare}
            )
            models.append(ModelRow(group, tuple(members), seed, (), train, evaluate))
    options = {"type": "score_matrix", "models": [], "baseline": "stl", "rounds": 500, "alpha": 0.05, "seed": 1}
    scores = add(
        "analyse-scores", "analyse", {"name": "scores", "options": options, "models": [row.stored() for row in models]},
        {stage: stage for row in models for stage in (row.train, row.evaluate)},
    )  # fmt: skip
    inputs = {"prepare-toy": prepare, scores: scores}
    inputs |= {stage: stage for row in models for stage in (row.train, row.evaluate)}
    resolved = {"spec": spec, "data": {"toy": card}, "encoder": encoder_card}
    params = {
        **resolved,
        "models": [row.stored() for row in models],
        "analyses": [["scores", scores]],
        "selections": [],
    }
    params["reproduce"] = {"run": f"mtlspec run specs/{name}.yaml", "dvc": f"dvc repro results@{name}"}
    if compare_to is not None:
        params["published"] = load_pack(compare_to).stored()
    add("report", "report", json.loads(canonical_json(params)), inputs)  # as a stored plan has them, with sorted keys
    return Plan(spec=name, spec_digest=digest_value(resolved), stages=tuple(stages), units=(UNIT,))


def _make_data(stage: Stage, out: Path, run: FinishedRun, gain: float) -> StageResult:
    write_text(out / "train.conllu", "1\tword\n")
    return StageResult()


def _make_encoder(stage: Stage, out: Path, run: FinishedRun, gain: float) -> StageResult:
    write_json(out / "config.json", {"model_type": "bert"})
    return StageResult()


def _make_prepare(stage: Stage, out: Path, run: FinishedRun, gain: float) -> StageResult:
    sizes = {"train": 300, "dev": 60, "test": SENTENCES}
    splits = {
        split: [
            Sentence(str(i), (split, "word", str(i % 40)), {"pos": ("A", "B", f"C{i % (size // 20)}")})
            for i in range(size)
        ]
        for split, size in sizes.items()
    }
    write_json(out / "statistics.json", corpus_statistics(splits))
    return StageResult(facts={"sentences": sizes})


def _make_train(stage: Stage, out: Path, run: FinishedRun, gain: float) -> StageResult:
    tasks, rng = list(stage.params["tasks"]), np.random.default_rng(stage.params["seed"])
    save_file({"weight": rng.normal(size=(8, 8)).astype(np.float32)}, out / "model.safetensors")
    write_json(out / "model.json", {"tasks": stage.params["tasks"]})
    rows = [
        {
            "update": update, "epoch": 1 + update * EPOCHS // (UPDATES + 1), "task": tasks[update % len(tasks)],
            "loss": float(3 * np.exp(-update / 9) + 0.1 * rng.random()), "weight": 1.0,
            "lr_encoder": 5e-5 * (1 - update / 30), "lr_decoder": 1e-3 * (1 - update / 30), "grad_norm": 1.0,
        }
        for update in range(1, UPDATES + 1)
    ]  # fmt: skip
    pq.write_table(pa.Table.from_pylist(rows), out / "history.parquet")
    epochs = []
    for epoch in range(1, EPOCHS + 1):
        scores = {task: {_metric(task): 60.0 + 10 * epoch + float(rng.random())} for task in tasks}
        mean = float(np.mean([value for one in scores.values() for value in one.values()]))
        epochs.append({"epoch": epoch, "update": epoch * 8, "scores": scores, "mean": mean, "best": True})
    write_json(out / "epochs.json", epochs)
    write_training(out, tasks, UPDATES)
    flat = {f"dev/{task}/{_metric(task)}": epochs[-1]["scores"][task][_metric(task)] for task in tasks}
    return StageResult(scores={**flat, "dev/mean": epochs[-1]["mean"]}, facts={"best_epoch": EPOCHS})


def _make_evaluate(stage: Stage, out: Path, run: FinishedRun, gain: float) -> StageResult:
    train = run.plan.stage(stage.inputs["train"]).params
    about: dict[str, Any] = {}
    counts, flat = {}, {}
    for index, task in enumerate(train["tasks"]):
        rng = np.random.default_rng([train["seed"], index, len(train["tasks"])])
        right = 0.8 + (gain if len(train["tasks"]) > 1 else 0.0)
        total = np.random.default_rng(index).integers(5, 20, SENTENCES)
        correct = rng.binomial(total, right)
        if task == "pos":
            columns, table = ["correct", "words"], np.stack([correct, total], 1)
            scores = {"accuracy": 100 * correct.sum() / total.sum()}
        else:
            columns, table = ["correct", "predicted", "gold"], np.stack([correct, total, total], 1)
            value = 100 * correct.sum() / total.sum()
            scores = {"precision": value, "recall": value, "f1": value}
        scores = {name: float(value) for name, value in scores.items()}
        counts[task] = table.astype(np.int64)
        about[task] = {
            "main": _metric(task),
            "layer": task,
            "columns": columns,
            "test": scores,
            "dev": scores,
            "labels": {},
        }
        flat |= {f"{split}/{task}/{name}": value for split in ("dev", "test") for name, value in scores.items()}
        write_text(out / "predictions" / f"{task}.tsv", "word\tA\tB\n")
    for split in ("dev", "test"):
        flat[f"{split}/mean"] = float(np.mean([about[task][split][about[task]["main"]] for task in about]))
    write_json(out / "scores.json", about)
    kinds = {task: {"type": "tag_accuracy" if task == "pos" else "entity_f1"} for task in about}
    write_json(out / "metrics.json", kinds)
    np.savez(out / "counts.npz", allow_pickle=False, **counts)
    return StageResult(scores=flat)


def _metric(task: str) -> str:
    return "accuracy" if task == "pos" else "f1"


def read(path: Path) -> Any:
    return json.loads(path.read_bytes())


_MAKERS = {
    "data": _make_data,
    "encoder": _make_encoder,
    "prepare": _make_prepare,
    "train": _make_train,
    "evaluate": _make_evaluate,
}
