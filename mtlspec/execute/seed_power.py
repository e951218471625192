"""Can the seeds of a spec decide what its analyses ask? Said by `mtlspec plan`, before anything is trained."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mtlspec.errors import IntegrityError
from mtlspec.execute.materialise import Materialised
from mtlspec.execute.pipelines import materialised_runs
from mtlspec.io.project import RunPlaces
from mtlspec.metrics.student import detectable_shift
from mtlspec.plan.rows import restored_rows
from mtlspec.results.variants import variants
from mtlspec.spec.demands import Comparing
from mtlspec.track.record import read_record

_ENOUGH = 5  # seeds from which on a study finds differences of about two standard deviations


def seed_warning(planned: Materialised) -> str | None:
    """One line if few seeds compare ways of training; None otherwise."""
    seeds, asked = len(planned.loaded.spec.seeds), dict(_asking(planned))
    if seeds >= _ENOUGH or not asked:
        return None
    names = f"{', '.join(asked)} {'compares' if len(asked) == 1 else 'compare'} ways of training"
    if seeds == 1:
        return (
            f"seeds: {names}, and one seed shows no scatter: differences will not be tested; {_ENOUGH} seeds find"
            f" those of {detectable(_ENOUGH):.1f} standard deviations of a run"
        )
    size = max(asked.values())
    alone, together = detectable(seeds), detectable(seeds, 0.05 / size)
    said = f"seeds: {names}; {seeds} seeds find differences of {alone:.1f} standard deviations of a run"
    if size > 1:
        said += f", {together:.1f} among {size} comparisons"
    known = _scatter(planned)
    if known is not None:
        spec, points = known
        said += f" ({alone * points:.1f}" + (f" and {together * points:.1f}" if size > 1 else "")
        said += f" points at the scatter of single-task models in the record of {spec}; test sentences add to it)"
    return f"{said}; {_ENOUGH} seeds find {detectable(_ENOUGH):.1f}"


def detectable(seeds: int, alpha: float = 0.05) -> float:
    """The difference, in standard deviations of a run, that so many seeds on either side find in four of five cases."""
    return detectable_shift(2.0 * (seeds - 1), alpha) * math.sqrt(2 / seeds)


def _asking(planned: Materialised) -> Iterator[tuple[str, int]]:
    """Analyses that compare ways of training, with the number of their comparisons."""
    for name, options in planned.loaded.spec.analyses.items():
        if not isinstance(options, Comparing) or not options.compares_runs():
            continue
        models = variants(restored_rows(planned.plan.stage(f"analyse-{name}").params["models"]))
        single = {task for one in models if one.group == options.baseline for task in one.tasks if one.is_single}
        size = sum(task in single for one in models if one.group != options.baseline for task in one.tasks)
        if size:
            yield name, size


def _scatter(planned: Materialised) -> tuple[str, float] | None:
    """The median standard deviation of single-task models over seeds, by this spec's record or one on the same data.

    Records of other encoders say nothing of this one.
    """
    wanted = _ground(planned.loaded.spec.model_dump(mode="json"))
    others = [places for places in materialised_runs(planned.project) if places.base != planned.places.base]
    for places in (planned.places, *others):
        found = _deviations(places, wanted)
        if found:
            return places.base.name, statistics.median(found)
    return None


def _deviations(places: RunPlaces, wanted: Any) -> list[float]:
    try:
        record = read_record(places.record)
    except IntegrityError:  # none, or not readable: said where it matters
        return []
    if _ground(record["spec"]["resolved"]) != wanted:
        return []
    means = [one["scores"].get("test/mean", {}) for one in _single(record["models"])]
    return [mean["std"] for mean in means if mean.get("std")]


def _single(models: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return [model for model in models if len(model["tasks"]) == 1 and "select" not in model]


def _ground(spec: Mapping[str, Any]) -> tuple[Any, Any]:
    """What scores depend on most: the data, and the encoder's card."""
    return spec["data"], spec["encoder"]["card"]
