"""The report as Markdown, for terminals, issue trackers and git."""

from __future__ import annotations

from mtlspec.report.content import Content
from mtlspec.report.curves import Curves
from mtlspec.report.page import commands, environment_facts, settings, tiles
from mtlspec.results.tables import markdown as table_text
from mtlspec.results.tables import markdown_escape as escape


def markdown(content: Content, curves: Curves) -> str:
    """Everything that the page shows."""
    blocks = _head(content)
    for section in content.sections:
        blocks.append(f"## {escape(section.title)}")
        for table in section.tables:
            blocks += [f"### {escape(table.title)}", table_text(table), escape(table.caption)]
        for figure, path in section.figures:
            blocks.append(_image(f"{section.anchor}/{path.name}", figure.title))
    blocks.append("## Learning curves")
    blocks += [_image(figure.name, figure.title) for figure in (*curves.dev, *curves.loss)]
    blocks += ["## What ran", _facts(settings(content)), table_text(content.training)]
    for table in (content.lengths, *content.hyperparameters):
        blocks += [f"### {escape(table.title)}", table_text(table), escape(table.caption)]
    labelled = content.labelled
    blocks += ["## Data", f"### {escape(labelled.title)}", table_text(labelled), escape(labelled.caption)]
    for corpus in content.corpora:
        blocks += [f"### {escape(corpus.name)}"] if len(content.corpora) > 1 else []
        blocks += [_facts(corpus.facts), *(table_text(table) for table in corpus.statistics[:1])]
    blocks += ["## Environment", _facts(environment_facts(content.environment))]
    return _text([*blocks, *_reproduce(content)])


def summary(content: Content) -> str:
    """What stands beside the record, in git: the findings and the first table, which is the one of scores."""
    blocks = _head(content)
    section, table = next((section, table) for section in content.sections for table in section.tables)
    blocks += [f"## {escape(section.title)}", table_text(table), escape(table.caption)]
    return _text([*blocks, *_reproduce(content)])


def _head(content: Content) -> list[str]:
    spec = content.spec
    blocks = [f"# {escape(str(spec['name']))}"]
    if spec["description"]:
        blocks.append(escape(str(spec["description"])))
    blocks.append(_bullets([f"{value} {label}" for value, label in tiles(content)]))
    if content.answers:
        blocks += ["## In short", _bullets([answer.text for answer in content.answers])]
    blocks += ["## The models", _facts(list(content.groups))]
    if content.findings:
        blocks += ["## Findings", _bullets(list(content.findings))]
    return blocks


def _reproduce(content: Content) -> list[str]:
    lines = [f"{command}  # {why}" for command, why in commands(content)]
    return ["## Reproduce", "```sh\n" + "\n".join(lines) + "\n```"]


def _text(blocks: list[str]) -> str:
    return "\n\n".join(block.rstrip("\n") for block in blocks if block) + "\n"


def _bullets(items: list[str]) -> str:
    return "\n".join(f"- {escape(item)}" for item in items)


def _facts(pairs: list[tuple[str, str]]) -> str:
    return "\n".join(f"- **{escape(name)}**: {escape(value)}" for name, value in pairs)


def _image(name: str, title: str) -> str:
    return f"![{escape(title)}](figures/{name}.svg)"
