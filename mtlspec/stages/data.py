"""Stage `data`: the corpus files as their card names them, generated or copied, read once and with digests checked.

A malformed file is refused here, before anything is trained on any other.
"""

from __future__ import annotations

from mtlspec.data.defects import check_splits
from mtlspec.data.files import card_files
from mtlspec.data.pins import check_pins, resolve_root
from mtlspec.io.project import Project
from mtlspec.io.write import write_bytes
from mtlspec.spec.cards import DataCard
from mtlspec.stages.context import StageContext, StageResult


def run(ctx: StageContext) -> StageResult:
    """Parameters: `card`. The artifact holds the card's files under their own paths."""
    card = DataCard.model_validate(ctx.params["card"])
    project = Project(ctx.project_root)
    card_file = project.data_cards / f"{card.name}.yaml"
    if card.generator is not None:
        ctx.progress(0, 1, f"generating {card.name}")
        card.generator.generate(ctx.out)
    else:
        root = resolve_root(card, project)
        check_pins(card, root, card_file)
        ctx.progress(0, 1, f"reading {card.name}")
        check_splits(card, root)
        files = card_files(card, root)
        for number, path in enumerate(files):
            ctx.progress(number, len(files), f"copying {path}")
            write_bytes(ctx.out / path, (root / path).read_bytes())
    if card.generator is None or card.sha256:  # generated files need no pins, but what is pinned must hold
        check_pins(card, ctx.out, card_file)
    if card.generator is not None:
        check_splits(card, ctx.out)
    sizes = {path: (ctx.out / path).stat().st_size for path in card_files(card, ctx.out)}
    return StageResult(facts={"files": len(sizes), "bytes": sum(sizes.values())})
