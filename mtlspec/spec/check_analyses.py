"""Checks of analyses: the model groups that they name, and the other analyses whose results they read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated

from pydantic import TypeAdapter, ValidationError

from mtlspec import kinds
from mtlspec.errors import SpecError, did_you_mean
from mtlspec.spec.check_baseline import check_baseline
from mtlspec.spec.check_embeddings import check_embeddings
from mtlspec.spec.check_gates import check_gates
from mtlspec.spec.check_named_tasks import check_named_tasks
from mtlspec.spec.check_swept import check_swept
from mtlspec.spec.check_task_heads import check_task_heads
from mtlspec.spec.check_told_apart import check_told_apart
from mtlspec.spec.check_transfer import check_transfer
from mtlspec.spec.demands import Demanding
from mtlspec.spec.families import ANALYSES, AnalysisOptions
from mtlspec.spec.models import ModelGroup
from mtlspec.spec.nodes import Node
from mtlspec.spec.several_tasks import SeveralTasks, check_several_tasks
from mtlspec.spec.swept import Swept
from mtlspec.spec.watched import Watched, check_watched
from mtlspec.spec.words import either, shorten

_ANALYSIS: TypeAdapter[AnalysisOptions] = TypeAdapter(Annotated[AnalysisOptions, kinds.OneOf(ANALYSES)])


def check_analyses(node: Node, groups: Mapping[str, ModelGroup]) -> Iterator[SpecError]:
    """Every problem of an analysis with the models and the other analyses of its spec."""
    models = tuple(node.children("models"))
    above: dict[str, AnalysisOptions | None] = {}  # None: an analysis that is not sound on its own, said elsewhere
    for name, analysis in node.children("analyses").items():
        options = _options(analysis)
        if models:
            yield from _check_groups(analysis, models)
            if options is not None:
                yield from check_baseline(name, analysis, options, node, groups)
                yield from check_transfer(analysis, options, node, groups)
        if options is not None:
            yield from _check_above(name, analysis, options, above)
        if isinstance(options, Demanding):
            yield from _check_reads(analysis, options, above)
            if models:
                yield from _check_groups_read(analysis, options, above, models)
                yield from check_gates(analysis, options, node, groups)
                yield from check_task_heads(analysis, options, node, groups)
        if options is not None:
            yield from check_named_tasks(analysis, node, listed=not isinstance(options, SeveralTasks))
            yield from check_embeddings(analysis, options, node, groups)
        if isinstance(options, SeveralTasks):
            yield from check_several_tasks(analysis, options, node, groups)
            yield from check_told_apart(analysis, options, node, groups)
        if isinstance(options, Swept):
            yield from check_swept(analysis, options, node, groups)
        if isinstance(options, Watched):
            yield from check_watched(analysis, options, node, groups)
        above[name] = options


def _options(analysis: Node) -> AnalysisOptions | None:
    try:
        return _ANALYSIS.validate_python(analysis.plain())
    except ValidationError:
        return None


def _check_groups(analysis: Node, models: tuple[str, ...]) -> Iterator[SpecError]:
    seen = set()
    for item in analysis.items("models"):
        if not isinstance(item.value, str):
            continue
        if item.value not in models:
            message = f"there is no model group '{shorten(item.value)}'"
            yield SpecError("E152", message, item.place, did_you_mean(item.value, models))
        elif item.value in seen:
            yield SpecError("E153", f"the model group '{item.value}' is named twice", item.place)
        seen.add(item.value)
    baseline = analysis.child("baseline")
    compared = sorted(seen & set(models)) or models
    if baseline is not None and isinstance(baseline.value, str) and baseline.value not in compared:
        message = f"the baseline '{shorten(baseline.value)}' is not a model group of this analysis"
        yield SpecError("E169", message, baseline.place, did_you_mean(baseline.value, compared))


def _check_above(
    name: str, analysis: Node, options: AnalysisOptions, above: Mapping[str, AnalysisOptions | None]
) -> Iterator[SpecError]:
    """An analysis may read the results of analyses that stand above it."""
    reads_from = options.reads_from if isinstance(options, Demanding) else {}
    said = {str(item.value): item for option in reads_from for item in analysis.items(option)}
    wanted = tuple(reads_from.values()) or AnalysisOptions
    for read in dict.fromkeys(options.reads()):
        if read not in above:
            message = f"the analysis '{name}' reads '{shorten(read)}', which does not stand above it"
            hint = did_you_mean(read, [other for other, found in above.items() if isinstance(found, wanted)])
            yield SpecError("E184", message, said.get(read, analysis).place, hint)


def _check_reads(
    analysis: Node, options: Demanding, above: Mapping[str, AnalysisOptions | None]
) -> Iterator[SpecError]:
    """Each analysis is read once, and is of a kind that has what is wanted."""
    for option, wanted in options.reads_from.items():
        seen = set()
        for item in analysis.items(option):
            read = str(item.value)
            found = above.get(read)
            if found is not None and not isinstance(found, wanted):
                types = [f"'{kind}'" for kind in kinds.names(ANALYSES) if _is_a(kind, wanted)]
                message = f"'{option}' reads analyses of type {either(types)}; '{read}' is of type '{found.type}'"
                fitting = [other for other, options_ in above.items() if isinstance(options_, wanted)]
                yield SpecError("E185", message, item.place, did_you_mean(read, fitting))
            elif read in seen:
                yield SpecError("E186", f"the analysis '{shorten(read)}' is named twice", item.place)
            seen.add(read)


def _is_a(kind: str, wanted: type[AnalysisOptions]) -> bool:
    return issubclass(kinds.options_class(ANALYSES, kind), wanted)


def _check_groups_read(
    analysis: Node, options: Demanding, above: Mapping[str, AnalysisOptions | None], models: tuple[str, ...]
) -> Iterator[SpecError]:
    """Options that name a group, written or by default: it must exist, and an analysis that is read must have it."""
    read = [above.get(name) for name in options.reads()]
    covered = {group for found in read if found is not None for group in (found.models or models)}
    for option in options.groups_read:
        group, said = str(getattr(options, option)), analysis.child(option)
        known = models if group not in models else tuple(sorted(covered & set(models)))
        place, what, hint = (said or analysis).place, f"'{shorten(group)}'", did_you_mean(group, known)
        if said is None:
            what, hint = f"'{group}', which `{option}` is by default", f"set `{option}`"
        if group not in models:
            yield SpecError("E192", f"there is no model group {what}", place, hint)
        elif None not in read and group not in covered:
            yield SpecError("E193", f"no analysis that is read here has the model group {what}", place, hint)
