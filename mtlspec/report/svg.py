"""Figures inside the page: inline, following its colours, with ids of their own."""

from __future__ import annotations

import re
from pathlib import Path

from mtlspec.results.figures import INK


def inline_svg(path: Path, title: str, prefix: str) -> str:
    """The `<svg>` element of a figure that `mtlspec.results.figures` drew.

    Its ink becomes the page's text colour, so that it is readable in light and dark; ids get a
    name in front, because several figures share one page.
    """
    text = path.read_text(encoding="utf-8")
    svg = text[text.index("<svg") :].strip()
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = svg.replace(INK, "currentColor")
    name = f"{prefix}-{path.stem}"
    svg = re.sub(r'\bid="([^"]+)"', rf'id="{name}-\1"', svg)
    svg = re.sub(r"url\(#([^)]+)\)", rf"url(#{name}-\1)", svg)
    svg = re.sub(r'xlink:href="#([^"]+)"', rf'href="#{name}-\1"', svg)
    svg = re.sub(r'\s+xmlns(?::xlink)?="[^"]*"', "", svg)  # HTML knows them; and the page names no other site
    label = re.sub(r"[<>&\"]", " ", title)
    return svg.replace("<svg", f'<svg role="img" aria-label="{label}" style="min-width: {_least_width(svg)}px"', 1)


def _least_width(svg: str) -> int:
    """On a phone a figure shrinks to three quarters and then scrolls, because smaller text cannot be read."""
    width = re.search(r'<svg[^>]*\bwidth="([\d.]+)pt"', svg)
    return round(0.75 * float(width.group(1)) * 96 / 72) if width else 0
