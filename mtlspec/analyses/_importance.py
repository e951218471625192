"""The importance of one model's heads by every method, as rows of a table."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pyarrow as pa
import pyarrow.parquet as pq
import torch
from torch import Tensor

from mtlspec.analyses._inputs import load_proven_model, prepared_corpora, undefined_scores
from mtlspec.data.corpora import Corpora
from mtlspec.io.write import write_bytes, write_json
from mtlspec.model.importance import ablation_importance, annotated_corpora, head_importance
from mtlspec.model.multitask import MultiTaskModel
from mtlspec.model.predict import count_corpora, predict_corpora, score
from mtlspec.results.jobs import Measured, Measurement
from mtlspec.spec.models import BatchLimits

if TYPE_CHECKING:
    from mtlspec.analyses.head_importance import Options

FILE = "heads.parquet"
UNDEFINED = "undefined.json"  # tasks of which no drop of the dev score can be told -> why
LIMITS = BatchLimits()
SCHEMA = pa.schema(
    [
        ("task", pa.string()),
        ("method", pa.string()),
        ("layer", pa.int32()),
        ("head", pa.int32()),
        ("value", pa.float64()),
    ]
)
"""Layers and heads are counted from 1."""


def measure_importance(options: Options, job: Measurement) -> Measured:
    corpora, model = prepared_corpora(job), load_proven_model(job)
    columns: dict[str, list[object]] = {name: [] for name in SCHEMA.names}
    in_points = options.ablation == "score" and "ablation" in options.methods
    write_json(job.out / UNDEFINED, undefined_scores(model, corpora, "dev") if in_points else {})
    for done, method in enumerate(options.methods):
        job.progress(done, len(options.methods), method)
        values = _values(method, options, model, corpora)
        for row in _rows(method, model, values) if values is not None else ():
            for name, cell in zip(SCHEMA.names, row, strict=True):
                columns[name].append(cell)
    write_heads(pa.table(columns, SCHEMA), job.out)
    return Measured({"heads": sum(model.encoder.heads.counts), "methods": sorted(set(map(str, columns["method"])))})


def write_heads(table: pa.Table, out: Path) -> None:
    buffer = pa.BufferOutputStream()
    pq.write_table(table, buffer)
    write_bytes(out / FILE, buffer.getvalue().to_pybytes())


def _values(method: str, options: Options, model: MultiTaskModel, corpora: Corpora) -> Tensor | None:
    """Float64 [T, L, H]; None where the method does not apply to the model."""
    sharing, tasks = model.sharing, model.tasks
    if method == "gate":
        gates = sharing.head_gates("gate")
        return None if gates is None else gates.double().cpu().expand(len(tasks), -1, -1)
    if method == "ablation" and options.ablation == "score":
        return score_drops(model, corpora)
    specials = model.encoder.specials
    found = annotated_corpora(tasks, corpora, options.split, specials, LIMITS, options.sentences, options.seed)
    batches = [(batch.to(model.device), golds) for batch, golds in found]
    if method == "ablation":
        return ablation_importance(sharing, tasks, batches)
    return normalised(head_importance(sharing, tasks, batches, token_abs=method == "token_abs"), options.normalise)


def normalised(values: Tensor, how: Literal["none", "layers", "released"]) -> Tensor:
    """Layers of [T, L, H] to Euclidean length 1: none, all, or all but the last."""
    if how == "none":
        return values
    length = values.square().sum(2, keepdim=True).sqrt().clamp(min=1e-20)
    if how == "released":
        length[:, -1] = 1
    return values / length


def score_drops(model: MultiTaskModel, corpora: Corpora) -> Tensor:
    """Float64 [T, L, H]: how many points of the main dev score every head is worth; not a number where dev has none."""
    heads, undefined = model.encoder.heads, undefined_scores(model, corpora, "dev")

    def scores(gates: Tensor) -> Tensor:
        with heads.gated(gates):
            found = score(model, count_corpora(model, corpora, "dev", predict_corpora(model, corpora, "dev", LIMITS)))
        defined = {task: values for task, values in found.items() if task not in undefined}
        mains = [defined.get(task.name, {}).get(task.metric.main, torch.nan) for task in model.tasks]
        return torch.tensor(mains, dtype=torch.float64)

    drops = torch.zeros(len(model.tasks), *heads.shape, dtype=torch.float64)
    whole = scores(torch.ones(heads.shape))
    for layer, number in enumerate(heads.counts):
        for head in range(number):
            gates = torch.ones(heads.shape)
            gates[layer, head] = 0
            drops[:, layer, head] = whole - scores(gates)
    return drops


def _rows(method: str, model: MultiTaskModel, values: Tensor) -> Iterator[tuple[str, str, int, int, float]]:
    """In the order of SCHEMA; places that are no heads are left out, and tasks that the sentences do not annotate."""
    for task, own in zip(model.tasks, values, strict=True):
        if own.isnan().any():
            continue
        for layer, number in enumerate(model.encoder.heads.counts):
            for head in range(number):
                yield task.name, method, layer + 1, head + 1, float(own[layer, head])
