"""What the report says, gathered from artifacts before anything is laid out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mtlspec.io.digest import digest_value
from mtlspec.plan.rows import restored_rows
from mtlspec.report.all_scores import all_scores_section, labels_section
from mtlspec.report.answers import Answer, answers
from mtlspec.report.conditional import Conditional, conditional_section
from mtlspec.report.corpora import Corpus, read_corpora
from mtlspec.report.further import further_section
from mtlspec.report.hyperparameters import hyperparameter_tables
from mtlspec.report.labelled import labelled_table
from mtlspec.report.plain import group_words
from mtlspec.report.published import bring_together
from mtlspec.report.published_section import ANCHOR, published_section
from mtlspec.report.runs import overview_table, provenance_table, training_table
from mtlspec.report.section import Section
from mtlspec.report.selections import selections_section
from mtlspec.report.signatures import Signatures, read_signatures
from mtlspec.report.specialisation import Specialisation
from mtlspec.report.specialisation_section import specialisation_section
from mtlspec.report.tagging_section import tagging_section
from mtlspec.results.evaluations import Evaluations, read_evaluations
from mtlspec.results.findings import Findings
from mtlspec.results.learnt import with_choices
from mtlspec.results.lengths import Lengths, lengths_table, read_lengths
from mtlspec.results.score_table import Matrix, scores_table
from mtlspec.results.tables import Table
from mtlspec.results.variants import Variant, variants
from mtlspec.spec.published import ConditionalPack, SpecialisationPack, restored_published
from mtlspec.spec.tagging_pack import TaggingPack

Params = Mapping[str, Any]
Inputs = Mapping[str, Path]


@dataclass(frozen=True)
class Content:
    spec: Params
    corpora: tuple[Corpus, ...]
    labelled: Table  # one row a task: its examples in every split
    encoder: Params
    environment: Params
    models: tuple[Variant, ...]
    metrics: Mapping[str, str]  # task -> main metric
    sections: tuple[Section, ...]  # of the analyses
    groups: tuple[tuple[str, str], ...]  # name of a model group -> what it is, in words
    answers: tuple[Answer, ...]  # what was asked, what came out and how sure it is, for each analysis
    overview: Table  # one row a configuration
    lengths: Table  # one row a configuration and task: how long it was trained
    training: Table  # one row a trained model
    hyperparameters: tuple[Table, ...]  # what differs between models, if anything does, and what does not
    provenance: Table  # one row a stage
    signatures: Signatures  # of all scores
    digest: str  # of the experiment: spec and cards
    reproduce: Mapping[str, str]  # run, dvc -> command

    @property
    def findings(self) -> tuple[str, ...]:
        return tuple(sentence for section in self.sections for sentence in section.sentences)

    @property
    def runs(self) -> int:
        return sum(len(variant.runs) for variant in self.models)


def gather(params: Params, inputs: Inputs, environment: Params, figures: Path) -> Content:
    """`figures` is where the report draws its own."""
    models = variants(with_choices(restored_rows(params["models"]), inputs))
    evaluations, lengths = read_evaluations(models, inputs), read_lengths(models, inputs)
    metrics: dict[str, str] = {}
    for variant in models:  # in the order of the spec: JSON objects have lost it
        for task in variant.tasks:
            metrics.setdefault(task, evaluations[variant.runs[0].evaluate].main(task))
    stages = dict(params["analyses"])
    found = {name: Findings.read(inputs[stage]) for name, stage in stages.items()}
    titles = [findings.title for findings in found.values()]
    sections = [
        _analysis_section(name, findings, inputs[stages[name]], titles.count(findings.title) == 1)
        for name, findings in found.items()
    ]
    if not any(findings.type == "score_matrix" for findings in found.values()):
        sections.insert(0, _plain_scores(models, evaluations, lengths))
    beside = [further_section(models, evaluations), all_scores_section(models, evaluations)]
    sections[1:1] = [section for section in beside if section is not None]
    if params["selections"]:
        sections.append(selections_section(params["selections"], inputs))
    if "published" in params:
        sections.insert(1, _beside_paper(params, models, evaluations, list(found.values()), inputs, figures))
    if (labels := labels_section(models, evaluations)) is not None:
        sections.append(labels)
    signatures = read_signatures(params["spec"], params["data"], models, evaluations)
    sections.append(signatures.section())
    tasks = params["spec"]["tasks"]
    corpora = read_corpora(params["data"], inputs, [tasks[task].get("data") for task in metrics])
    return Content(
        spec=params["spec"],
        corpora=corpora,
        labelled=labelled_table(tasks, metrics, corpora),
        encoder=params["encoder"],
        environment=environment,
        models=models,
        metrics=metrics,
        sections=tuple(sections),
        groups=tuple(group_words(params["spec"], (variant.group for variant in models))),
        answers=answers(list(found.values())),
        overview=overview_table(models, evaluations, inputs),
        lengths=lengths_table(models, lengths),
        training=training_table(models, evaluations, inputs),
        hyperparameters=hyperparameter_tables(params["spec"], models),
        provenance=provenance_table(inputs),
        signatures=signatures,
        digest=digest_value({key: params[key] for key in ("spec", "data", "encoder")}),
        reproduce=params["reproduce"],
    )


def _beside_paper(
    params: Params,
    models: tuple[Variant, ...],
    evaluations: Evaluations,
    found: list[Findings],
    inputs: Inputs,
    figures: Path,
) -> Section:
    pack = restored_published(params["published"])
    if isinstance(pack, SpecialisationPack):
        return specialisation_section(Specialisation.of(pack, params["spec"], models, evaluations, found))
    if isinstance(pack, ConditionalPack):
        return conditional_section(Conditional(pack, params["spec"], models, evaluations))
    if isinstance(pack, TaggingPack):
        return tagging_section(pack, params["spec"], found)
    side = bring_together(pack, params["spec"], models, evaluations, found, inputs)
    return published_section(side, figures / ANCHOR)


def _analysis_section(name: str, findings: Findings, directory: Path, alone: bool) -> Section:
    figures = tuple((figure, directory / "figures" / figure.name) for figure in findings.figures)
    title = findings.title if alone else f"{findings.title}: {name}"
    return Section(name, title, findings.summary, findings.tables, figures)


def _plain_scores(models: tuple[Variant, ...], evaluations: Evaluations, lengths: Lengths) -> Section:
    """A spec without a score matrix still gets its scores, without comparisons."""
    matrix = Matrix(models, evaluations, lengths)
    return Section("scores", "Scores", (), (scores_table(matrix),), ())
