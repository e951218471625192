"""The page: one self-contained HTML file, laid out from gathered content."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mtlspec.io.digest import pretty_json
from mtlspec.report.content import Content
from mtlspec.report.curves import Curves
from mtlspec.report.svg import inline_svg
from mtlspec.report.wording import noun
from mtlspec.results.tables import Table

if TYPE_CHECKING:
    from jinja2 import Template

HERE = Path(__file__).parent


def html(content: Content, curves: Curves, figures: Path) -> str:
    """`figures` is the folder that the curves were drawn in."""
    from markupsafe import Markup

    dev, loss = ([(figure, figures / figure.name) for figure in drawn] for drawn in (curves.dev, curves.loss))
    return template("page.html").render(
        content=content,
        chapters=chapters(content),
        tiles=tiles(content),
        headline=headline(content),
        dev_curves=dev,
        loss_curves=loss,
        settings=settings(content),
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
        (str(content.runs), f"{noun(content.runs, 'model')} trained"),
        (str(len(content.models)), noun(len(content.models), "configuration")),
        (str(len(content.metrics)), f"{noun(len(content.metrics), 'task')}: {', '.join(content.metrics)}"),
        (str(len(seeds)), noun(len(seeds), "seed")),
        (", ".join(corpus.name for corpus in content.corpora), noun(len(content.corpora), "corpus", "corpora")),
        (str(content.encoder["name"]), "encoder"),
    ]


def settings(content: Content) -> list[tuple[str, str]]:
    spec = content.spec
    tasks = "; ".join(f"{name}: {_inline(options)}" for name, options in spec["tasks"].items())
    shared = spec["sweep"]
    sweep = [("Sweep of every group", _sweep(shared))] if shared else []
    return [
        ("Tasks", tasks),
        ("Model groups", "; ".join(_group(name, group, spec) for name, group in spec["models"].items())),
        *sweep,
        ("Seeds", ", ".join(str(seed) for seed in spec["seeds"])),
        ("Training", _inline(_unswept({"train": spec["train"]}, shared)["train"])),
        ("Encoder", f"{content.encoder['name']}, {_inline(content.encoder['source'])}"),
        ("Run", _inline(spec["run"])),
    ]


def _group(name: str, group: Mapping[str, Any], spec: Mapping[str, Any]) -> str:
    """What its models have in common, then what it is swept over: a swept value that the group states never ran.

    Of its training everything that is not as the spec's own `train` has it.
    """
    own, start = group["sweep"], group.get("start")
    fixed: dict[str, Any] = {"sharing": group["sharing"], **({"start": start} if start else {})}
    if other := _unlike(group.get("train", {}), spec["train"]):
        fixed["train"] = other
    if single := group.get("by_tasks"):
        fixed["by_tasks"] = {key: {part: said for part, said in parts.items() if said} for key, parts in single.items()}
    shown = {key: value for key, value in _unswept(fixed, {**spec["sweep"], **own}).items() if value != {}}
    facts = [f"tasks {_inline(group['tasks'])}", *(f"{key} {_inline(value)}" for key, value in shown.items())]
    return f"{name}: " + ", ".join([*facts, f"sweep {_sweep(own)}"] if own else facts)


def _unlike(options: Mapping[str, Any], usual: Mapping[str, Any]) -> dict[str, Any]:
    """The options that differ from the usual ones; those of another kind as a whole."""
    found: dict[str, Any] = {}
    for key, value in options.items():
        other = usual.get(key)
        if value == other:
            continue
        if isinstance(value, Mapping) and isinstance(other, Mapping) and value.get("type") == other.get("type"):
            kind = {"type": value["type"]} if "type" in value else {}
            found[key] = {**kind, **_unlike(value, other)}
        else:
            found[key] = value
    return found


def _sweep(sweep: Mapping[str, Any]) -> str:
    return "{" + ", ".join(f"{key}: [{_inline(values)}]" for key, values in sweep.items()) + "}"


def _unswept(options: Mapping[str, Any], sweep: Container[str], prefix: str = "") -> dict[str, Any]:
    """`options` without the values under the dotted keys of `sweep`."""
    return {
        key: _unswept(value, sweep, f"{prefix}{key}.") if isinstance(value, Mapping) else value
        for key, value in options.items()
        if f"{prefix}{key}" not in sweep
    }


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
        *_preparations(content),
        (content.reproduce["run"], "runs what is not there yet"),
        (f"mtlspec verify {name}", "hashes every byte again"),
        (f"mtlspec verify {name} --rerun --sample 3", "computes three stages again and compares the bits"),
        (content.reproduce["dvc"], "the same through plain DVC"),
        (f"mtlspec registry show {name}", "the record: digests of spec, data, code, environment and artifacts"),
    ]


def _preparations(content: Content) -> Iterator[tuple[str, str]]:
    """What a clone does not have."""
    variables: dict[str, str] = {}
    for root in (str(corpus.card["root"] or "") for corpus in content.corpora):
        if variable := re.match(r"\$\{?(\w+)", root):
            variables.setdefault(variable[1], root)
    for name, root in variables.items():
        yield f"export {name}=<folder>", f"where the data are: their root is {root}"
    if install := content.encoder["source"].get("install"):
        yield str(install), "installs the encoder's weights"


def _inline(value: Any) -> str:
    """A nested value on one line, as YAML's flow style would show it."""
    if isinstance(value, Mapping):
        if list(value) == ["type"]:  # a kind without options
            return str(value["type"])
        return "{" + ", ".join(f"{key}: {_inline(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return ", ".join(_inline(item) for item in value)
    return "none" if value is None else str(value)
