"""Figures: one style, SVG for the page and PNG for slides, the same bytes every time."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from mtlspec.io.write import write_bytes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INK = "#1f2a37"  # text and axes; the report's page replaces it so that figures follow its light or dark theme
GRID = "#8b98a9"
CYCLE = ("#2f6fde", "#d9643a", "#1f9d6b", "#a04bc4", "#b8860b", "#d13f75", "#3b9fb5", "#7a6a58", "#6b8e23", "#5a6acf")
_WIDTH = 4.6  # inches, of curves
_DASHES = ("solid", "dashed", "dotted", "dashdot")

_STYLE: dict[str, Any] = {
    "svg.hashsalt": "mtlspec",
    "svg.fonttype": "none",  # real text: it can be searched, copied and read aloud
    "font.family": ["DejaVu Sans"],  # comes with matplotlib, so widths are the same everywhere
    "font.size": 10,
    "text.color": INK,
    "axes.facecolor": "none",
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.titlesize": 11,
    "axes.titleweight": "bold",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.color": INK,
    "ytick.color": INK,
    "legend.frameon": False,
    "legend.fontsize": 9,
}


@dataclass(frozen=True)
class Line:
    """One curve with an optional band: x, y, low and high are [points]."""

    label: str
    x: npt.NDArray[np.float64]
    y: npt.NDArray[np.float64]
    low: npt.NDArray[np.float64] | None = None
    high: npt.NDArray[np.float64] | None = None


@contextmanager
def drawing(directory: Path, name: str, width: float, height: float) -> Iterator[Axes]:
    """Axes to draw on; `<name>.svg` and `<name>.png` are written when the block ends.

    The SVG has no background; the PNG is white, because slides and issue trackers show it on anything.
    """
    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with rc_context(_STYLE):  # type: ignore[arg-type]  # its keys are a union of literals
        figure = Figure(figsize=(width, height), layout="constrained")
        FigureCanvasAgg(figure)
        yield figure.add_subplot()
        for kind, facecolor, metadata in (("svg", "none", {"Date": None}), ("png", "white", {"Software": None})):
            buffer = io.BytesIO()
            figure.savefig(buffer, format=kind, facecolor=facecolor, metadata=metadata, dpi=160)
            write_bytes(directory / f"{name}.{kind}", buffer.getvalue())


def heat_map(
    directory: Path,
    name: str,
    *,
    values: npt.NDArray[np.float64],
    texts: Sequence[Sequence[str]],
    rows: Sequence[str],
    columns: Sequence[str],
    axes_titles: tuple[str, str] = ("", ""),
) -> None:
    """Texts in cells, with the colour of a difference, red below zero and blue above; cells of NaN have no colour."""
    limit = float(np.nanmax(np.abs(values), initial=0.0)) or 1.0
    width = 1.4 + 0.085 * max(map(len, rows)) + 0.95 * len(columns)
    height = 1.1 + 0.42 * len(rows)
    with drawing(directory, name, max(width, 3.6), height) as axes:
        image = axes.imshow(np.ma.masked_invalid(values), cmap="RdBu", vmin=-limit, vmax=limit, aspect="auto")
        axes.set_xticks(range(len(columns)), columns)
        axes.set_yticks(range(len(rows)), rows)
        axes.set_xlabel(axes_titles[1])
        axes.set_ylabel(axes_titles[0])
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)
        axes.set_xticks(np.arange(len(columns) + 1) - 0.5, minor=True)
        axes.set_yticks(np.arange(len(rows) + 1) - 0.5, minor=True)
        axes.tick_params(which="minor", length=0)
        axes.grid(which="minor", color=GRID, alpha=0.35, linewidth=0.6)
        for i, line in enumerate(texts):
            for j, text in enumerate(line):
                on_colour = "#ffffff" if abs(values[i, j]) > 0.62 * limit else "#101418"
                color = on_colour if np.isfinite(values[i, j]) else INK
                axes.text(j, i, text, ha="center", va="center", color=color)
        if np.isfinite(values).any():
            bar = axes.figure.colorbar(image, ax=axes, shrink=0.9, aspect=12, pad=0.02)
            bar.outline.set_visible(False)


def curves(
    directory: Path, name: str, lines: Sequence[Line], *, x_title: str, y_title: str, logarithmic: bool = False
) -> None:
    """One line a model, with its band; the legend stands below the axes so that it never hides a curve."""
    from matplotlib.ticker import MaxNLocator

    longest = 0.55 + 0.08 * max((len(line.label) for line in lines), default=0)  # of the legend, in inches
    columns = 2 if 2 * longest <= _WIDTH else 1
    height = 2.9 + 0.2 * -(-len(lines) // columns)
    with drawing(directory, name, max(_WIDTH, longest + 0.2), height) as axes:
        for i, line in enumerate(lines):
            color, dash = CYCLE[i % len(CYCLE)], _DASHES[i // len(CYCLE) % len(_DASHES)]
            marker = "o" if len(line.x) <= 12 else None
            axes.plot(
                line.x,
                line.y,
                color=color,
                linestyle=dash,
                linewidth=1.6,
                label=line.label,
                marker=marker,
                markersize=3,
            )
            if line.low is not None and line.high is not None:
                axes.fill_between(line.x, line.low, line.high, color=color, alpha=0.15, linewidth=0)
        if logarithmic:
            axes.set_yscale("log")
        axes.set_xlabel(x_title)
        axes.set_ylabel(y_title)
        axes.grid(color=GRID, alpha=0.25, linewidth=0.6)
        if x_title in ("epoch", "layer"):
            axes.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
            axes.set_xlim(0.5, max((float(line.x.max()) for line in lines), default=1.0) + 0.5)
        axes.figure.legend(loc="outside lower center", ncols=columns)
