"""What MLflow says about an experiment: what was asked, of what, and how to get it again. Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mtlspec.plan.types import Plan
from mtlspec.track.items import Corpus, Item
from mtlspec.track.record import report_params


def description(plan: Plan, items: Sequence[Item]) -> str:
    """The question stands first: lists of experiments show the beginning only."""
    params = report_params(plan)
    spec = params["spec"]
    known = {corpus.name: corpus for item in items for corpus in item.datasets}
    models = [item.tags["mtlspec.group"] for item in items if item.level == "model"]
    groups = ", ".join(dict.fromkeys(models))
    tasks = ", ".join(f"{name} ({about['type']})" for name, about in spec["tasks"].items())
    lines = [
        *(f"- **Data**: {_corpus(card, known.get(name))}" for name, card in params["data"].items()),
        f"- **Encoder**: {_titled(params['encoder'])}",
        f"- **Tasks**: {tasks}",
        f"- **Models**: {_count(len(models), 'model')} ({groups}), "
        f"each with {_count(len(spec['seeds']), 'seed')} ({', '.join(map(str, spec['seeds']))})",
        f"- **Reproduce**: `{params['reproduce']['run']}` or `{params['reproduce']['dvc']}`",
        f"- **Record**: `registry/runs/{plan.spec}/record.json`; MLflow only mirrors it",
    ]
    asked = " ".join(str(spec["description"] or "").split())
    return "\n".join([asked, "", *lines] if asked else lines)


def _corpus(card: Mapping[str, Any], corpus: Corpus | None) -> str:
    sizes = ", ".join(f"{size:,} {split}" for split, size in corpus.sizes.items()) if corpus is not None else ""
    return _titled(card) + (f"; {sizes}" if sizes else "")


def _titled(card: Mapping[str, Any]) -> str:
    return f"{card['name']} – {card['title']}" if card.get("title") else str(card["name"])


def _count(number: int, thing: str) -> str:
    return f"{number:,} {thing}{'' if number == 1 else 's'}"
