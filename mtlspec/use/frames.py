"""What a run found, as pandas frames with one row a number, for figures and tables of one's own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mtlspec.io.project import Project, RunPlaces
from mtlspec.results.comparisons import ToldTests
from mtlspec.results.evaluations import Evaluation
from mtlspec.results.findings import Findings
from mtlspec.track.registry import find_record
from mtlspec.track.signatures import RecordedSignatures
from mtlspec.use.models import artifact_of

if TYPE_CHECKING:
    import pandas as pd

_HEADS = "heads.parquet"


class Results:
    """Of one run. Scores come from its record; the others from its artifacts, which must be on this machine."""

    def __init__(self, record: Mapping[str, Any], places: RunPlaces) -> None:
        self.record = record
        self._places = places

    @cached_property
    def scores(self) -> pd.DataFrame:
        """Columns model, group, seed, split, task, metric, score, signature; `task` is empty for means over tasks.

        A signature is one line that says how a score was made; empty in records that are older than signatures.
        """
        return _frame(self._score_rows(), ("model", "group", "seed", "split", "task", "metric", "score", "signature"))

    @cached_property
    def labels(self) -> pd.DataFrame:
        """Test scores of labels: model, group, seed, task, label, and a column for each score (f1, support ...)."""
        return _frame(self._label_rows(), ("model", "group", "seed", "task", "label"))

    @cached_property
    def tests(self) -> pd.DataFrame:
        """The tests of all analyses of type `score_matrix`, one a row.

        `difference` is in points; `low` and `high` are the ends of its interval; `p_holm` is corrected within `family`.
        """
        columns = ("analysis", "model", "baseline", "task", "difference", "low", "high", "p", "p_holm", "significant")
        return _frame(self._test_rows(), (*columns, "unit", "seeds", "sentences", "family", "why"))

    @cached_property
    def heads(self) -> pd.DataFrame:
        """The atlas of all heads of analyses of type `head_importance`, under `analysis`."""
        import pandas as pd
        import pyarrow.parquet as pq

        found = []
        for name, folder in self._analyses("head_importance"):
            atlas = pq.read_table(folder / _HEADS).to_pandas()
            atlas.insert(0, "analysis", name)
            found.append(atlas)
        return pd.concat(found, ignore_index=True) if found else pd.DataFrame()

    def _runs(self) -> Iterator[tuple[dict[str, Any], str]]:
        """Columns of every trained model, and the stage that evaluated it."""
        for model in self.record["models"]:
            for run in model["runs"]:
                yield {"model": model["name"], "group": model["group"], "seed": run["seed"]}, run["evaluate"]

    def _score_rows(self) -> Iterator[dict[str, Any]]:
        signatures = RecordedSignatures(self.record)
        for about, stage in self._runs():
            for key, score in self.record["stages"].get(stage, {}).get("scores", {}).items():
                split, *of, metric = key.split("/")
                found = {"split": split, "task": "/".join(of), "metric": metric, "score": score}
                yield {**about, **found, "signature": signatures.of(about["model"], key)}

    def _label_rows(self) -> Iterator[dict[str, Any]]:
        for about, stage in self._runs():
            found = Evaluation.read(artifact_of(self._places, stage, f"the evaluation '{stage}'"))
            for task in found.scores:
                for label, scores in found.labels(task).items():
                    yield {**about, "task": task, "label": label, **scores}

    def _test_rows(self) -> Iterator[dict[str, Any]]:
        for name, folder in self._analyses("score_matrix"):
            for test in ToldTests.restored(Findings.read(folder).numbers).tests:
                low, high = test.found.interval or (None, None)
                yield {
                    "analysis": name, "model": test.model, "baseline": test.baseline, "task": test.task,
                    "difference": test.found.difference, "low": low, "high": high, "p": test.found.p,
                    "p_holm": test.p_holm, "significant": test.significant, "unit": test.found.unit,
                    "seeds": test.found.seeds, "sentences": test.found.sentences, "family": test.family.name,
                    "why": test.found.why,
                }  # fmt: skip

    def _analyses(self, kind: str) -> Iterator[tuple[str, Path]]:
        """Analyses of a type, by name, with their artifacts."""
        for name, options in self.record["spec"]["resolved"]["analyses"].items():
            if options["type"] == kind:
                yield name, artifact_of(self._places, f"analyse-{name}", f"the analysis '{name}'")


def open_results(spec: str) -> Results:
    """By the name of a run, or by a record file: then its folder is that of the run."""
    if spec.endswith(".json"):
        return Results(find_record(Project(Path.cwd()), spec), RunPlaces(Path(spec).resolve().parent))
    project = Project.find()
    return Results(find_record(project, spec), project.run(spec))


def _frame(rows: Iterator[dict[str, Any]], columns: tuple[str, ...]) -> pd.DataFrame:
    """Columns of that order first, there also where no row is."""
    import pandas as pd

    found = pd.DataFrame(list(rows))
    return found.reindex(columns=[*columns, *(name for name in found.columns if name not in columns)])
