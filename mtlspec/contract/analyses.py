"""What every analysis promises: complete findings, and the same bytes every time."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from mtlspec.contract import toy
from mtlspec.contract.promise import promise
from mtlspec.io.digest import digest_tree
from mtlspec.plan.rows import ModelRow
from mtlspec.results.findings import Findings
from mtlspec.results.jobs import AnalysisJob, Measurement
from mtlspec.spec.families import AnalysisOptions, MeasuringOptions


@dataclass(frozen=True)
class ToyRun:
    """Models of the toy language, trained and evaluated; `inputs` as an analysis gets them."""

    models: tuple[ModelRow, ...]
    inputs: Mapping[str, Path]


def make_toy_run(folder: Path, encoder: Path, prepared: Path) -> ToyRun:
    """Two tasks alone and together, with two seeds each."""
    inputs = {"encoder": encoder, "prepare-toy": prepared}
    rows = []
    for group, tasks in (("stl", ("pos",)), ("stl", ("names",)), ("mtl", ("pos", "names"))):
        for seed in (1, 2):
            name = f"{group}-{'-'.join(tasks)}-s{seed}"
            row = ModelRow(group, tasks, seed, (), f"train-{name}", f"evaluate-{name}")
            toy.run_train(folder / row.train, encoder, prepared, toy.train_params(tasks, seed, epochs=1))
            toy.run_evaluate(folder / row.evaluate, folder / row.train / "out", prepared)
            inputs |= {stage: folder / stage / "out" for stage in (row.train, row.evaluate)}
            rows.append(row)
    return ToyRun(tuple(rows), inputs)


def check_analysis(options: AnalysisOptions, run: ToyRun, folder: Path) -> None:
    """On trained models, which are measured first if the analysis measures."""
    measured = _measured(options, run, folder / "measured") if isinstance(options, MeasuringOptions) else run
    check_findings(
        options.type, lambda out: options.run(AnalysisJob(measured.models, measured.inputs, out)), folder / "findings"
    )


def _measured(options: MeasuringOptions, run: ToyRun, folder: Path) -> ToyRun:
    inputs, rows = dict(run.inputs), []
    shared = {role: path for role, path in inputs.items() if role in ("encoder", "prepare-toy")}
    for row in run.models:
        own = {**shared, "train": inputs[row.train], "evaluate": inputs[row.evaluate]}
        rows.append(replace(row, measure=f"measure-own-{row.name}"))
        inputs[f"measure-own-{row.name}"] = _measure(options, row, own, folder / row.name)
    if options.measures_encoder:
        inputs["measure-encoder"] = _measure(options, None, shared, folder / "encoder")
    return ToyRun(tuple(rows), inputs)


def _measure(options: MeasuringOptions, row: ModelRow | None, inputs: Mapping[str, Path], folder: Path) -> Path:
    """Given what the analysis says that it needs, and nothing else; twice, with the same bytes."""
    needed = {role: path for role, path in inputs.items() if role.partition("-")[0] in options.needs}
    for out in (folder / "a", folder / "b"):
        out.mkdir(parents=True)
        facts = options.measure(Measurement(row, needed, out)).facts
        promise(dict(facts) == json.loads(json.dumps(dict(facts))), "facts of a measurement are not JSON")
    same = digest_tree(folder / "a") == digest_tree(folder / "b")
    promise(same, "measuring a model twice does not give the same bytes")
    return folder / "a"


def check_findings(name: str, run: Callable[[Path], Mapping[str, Any]], folder: Path) -> None:
    """`run` writes an analysis into a folder and returns its facts."""
    first, second = folder / "a", folder / "b"
    for out in (first, second):
        out.mkdir(parents=True)
    facts = dict(run(first))
    promise(facts == json.loads(json.dumps(facts)), "its facts are not JSON")
    findings = Findings.read(first)
    promise(findings.type == name, f"its findings are of type '{findings.type}'")
    promise(findings.summary, "its findings have no summary")
    promise(findings.tables, "its findings have no table")
    for table in findings.tables:
        promise(table.title and table.caption, f"the table '{table.name}' lacks a title or a caption")
        even = all(len(row) == len(table.columns) for row in table.rows)
        promise(even, f"a row of the table '{table.name}' does not have as many cells as there are columns")
        _are_there(first / "tables", table.name, ("json", "csv", "tex"))
    for figure in findings.figures:
        promise(figure.title and figure.caption, f"the figure '{figure.name}' lacks a title or a caption")
        _are_there(first / "figures", figure.name, ("svg", "png"))
    promise(dict(run(second)) == facts, "its facts are others the second time")
    promise(digest_tree(first) == digest_tree(second), "it does not write the same bytes twice")


def _are_there(folder: Path, name: str, extensions: tuple[str, ...]) -> None:
    missing = [f"{name}.{extension}" for extension in extensions if not (folder / f"{name}.{extension}").is_file()]
    promise(not missing, f"{folder.name}/ lacks {', '.join(missing)}")
