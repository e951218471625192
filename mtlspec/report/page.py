"""The page: one self-contained HTML file, laid out from gathered content."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mtlspec.analyses._findings import Figure
from mtlspec.analyses._tables import Table
from mtlspec.io.digest import pretty_json
from mtlspec.report.content import Content
from mtlspec.report.svg import inline_svg

if TYPE_CHECKING:
    from jinja2 import Template

HERE = Path(__file__).parent
Curves = Mapping[str, tuple[tuple[Figure, Path], ...]]


def html(content: Content, curves: Curves) -> str:
    from markupsafe import Markup

    drawn = list(curves.values())
    return template("page.html").render(
        content=content,
        chapters=chapters(content),
        tiles=tiles(content),
        headline=headline(content),
        dev_curves=[items[0] for items in drawn],
        loss_curves=[item for items in drawn for item in items[1:]],
        settings=settings(content),
        data=data_facts(content),
        environment=environment_facts(content.environment),
        commands=commands(content),
        resolved=pretty_json(dict(content.spec)),
        style=Markup((HERE / "style.css").read_text(encoding="utf-8")),  # noqa: S704
        script=Markup((HERE / "page.js").read_text(encoding="utf-8")),  # noqa: S704
    )


def template(name: str) -> Template:
    """A template of this folder. Only our own files are markup; what a spec or a corpus says is escaped."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=FileSystemLoader(HERE), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.globals["svg"] = lambda path, title, prefix: Markup(inline_svg(Path(f"{path}.svg"), title, prefix))  # noqa: S704
    return environment.get_template(name)


def chapters(content: Content) -> list[tuple[str, list[tuple[str, str]]]]:
    """The navigation: (heading, [(anchor, title) of a section]), in order."""
    results = [(f"analysis-{section.anchor}", section.title) for section in content.sections]
    return [
        ("", [("summary", "Summary")]),
        ("Results", [*results, ("curves", "Learning curves")]),
        ("Behind them", [("models", "What ran"), ("data", "Data"), ("environment", "Environment")]),
        ("", [("reproduce", "Reproduce")]),
    ]


def headline(content: Content) -> Table | None:
    """The table that answers the reader's first question stands in the summary."""
    return next((table for section in content.sections for table in section.tables if table.name == "scores"), None)


def tiles(content: Content) -> list[tuple[str, str]]:
    seeds = {run.seed for variant in content.models for run in variant.runs}
    return [
        (str(content.runs), "models trained"),
        (str(len(content.models)), "configurations"),
        (str(len(content.metrics)), "tasks: " + ", ".join(content.metrics)),
        (str(len(seeds)), "seeds"),
        (str(content.data["name"]), "corpus"),
        (str(content.encoder["name"]), "encoder"),
    ]


def settings(content: Content) -> list[tuple[str, str]]:
    spec = content.spec
    tasks = "; ".join(f"{name}: {_inline(options)}" for name, options in spec["tasks"].items())
    groups = "; ".join(
        f"{name}: tasks {_inline(group['tasks'])}, sharing {_inline(group['sharing'])}"
        for name, group in spec["models"].items()
    )
    return [
        ("Tasks", tasks),
        ("Model groups", groups),
        ("Seeds", ", ".join(str(seed) for seed in spec["seeds"])),
        ("Training", _inline(spec["train"])),
        ("Encoder", f"{content.encoder['name']}, {_inline(content.encoder['source'])}"),
        ("Run", _inline(spec["run"])),
    ]


def data_facts(content: Content) -> list[tuple[str, str]]:
    card = content.data
    facts = [("Corpus", str(card.get("title") or card["name"])), ("Licence", str(card["licence"]))]
    facts += [("Source", str(card["source"])), ("Malformed sentences", str(card["on_invalid"]))]
    return facts + [(f"sha256 of {name}", digest) for name, digest in sorted(card["sha256"].items())]


def environment_facts(environment: Mapping[str, Any], prefix: str = "") -> list[tuple[str, str]]:
    facts: list[tuple[str, str]] = []
    for key in sorted(environment):
        value = environment[key]
        if isinstance(value, Mapping):
            facts += environment_facts(value, f"{prefix}{key} · ")
        else:
            facts.append((f"{prefix}{key}", _inline(value)))
    return facts


def commands(content: Content) -> list[tuple[str, str]]:
    name = str(content.spec["name"])
    return [
        (f"mtlspec run specs/{name}.yaml", "runs what is not there yet"),
        (f"mtlspec verify {name}", "hashes every byte again"),
        (f"mtlspec verify {name} --rerun --sample 3", "computes three stages again and compares the bits"),
        (f"dvc repro results@{name}", "the same through plain DVC"),
        (f"mtlspec registry show {name}", "the record: digests of spec, data, code, environment and artifacts"),
    ]


def _inline(value: Any) -> str:
    """A nested value on one line, as YAML's flow style would show it."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {_inline(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return ", ".join(_inline(item) for item in value)
    return "none" if value is None else str(value)
