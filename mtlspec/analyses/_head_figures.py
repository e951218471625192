"""Figures of heads: panels with a row for every layer (the first at the bottom) and a column for every head."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from mtlspec.results.figures import INK, drawing

COLUMNS = 3


@dataclass(frozen=True)
class Panel:
    """Colours [L, H, 3] from 0 to 1, or values [L, H] to be drawn from white (lowest) to dark (highest)."""

    title: str
    cells: npt.NDArray[np.float64]


def run_colours(runs: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Gates of runs [R, L, H] -> colours [L, H, 3]: channel c is 1 - gate of run c, so that heads in use are dark.

    A head that only run 1 uses is cyan, only run 2 magenta, only run 3 yellow; black if all do, white if none does.
    With one run the map is grey; with two, the third channel is their mean; of more than three, the first three show.
    """
    if len(runs) == 1:
        channels = np.repeat(runs, 3, axis=0)
    elif len(runs) == 2:
        channels = np.concatenate([runs, runs.mean(0, keepdims=True)])
    else:
        channels = runs[:3]
    return np.clip(1 - np.moveaxis(channels, 0, -1), 0, 1)


def colour_words(runs: int) -> str:
    """What the colours of `run_colours` mean, for a caption."""
    if runs == 1:
        return "Black: used; white: not used."
    if runs == 2:
        return "Black: used in both runs; white: in none; green: in the first only; pink: in the second only."
    shown = "all three runs" if runs == 3 else f"the first three of {runs} runs"
    return f"Black: used in {shown}; white: in none; cyan, magenta or yellow: in the first, second or third only."


def draw_panels(
    directory: Path, name: str, panels: Sequence[Panel], *, limits: tuple[float, float] | None, columns: int = COLUMNS
) -> None:
    """Values are drawn between `limits`, or each panel between its own; layers and heads are counted from 1."""
    layers, heads = panels[0].cells.shape[:2]
    columns = min(columns, len(panels))
    rows = -(-len(panels) // columns)
    cell = 0.17
    longest = max(len(line) for panel in panels for line in panel.title.split("\n"))
    width, height = columns * max(0.9 + cell * heads, 0.3 + 0.085 * longest), rows * (0.95 + cell * layers)
    with drawing(directory, name, max(width, 3.2), max(height, 1.8)) as first:
        figure = first.figure
        first.remove()
        grid = np.ravel(figure.subplots(rows, columns, squeeze=False))
        for axes, panel in zip(grid, panels, strict=False):
            low, high = limits if limits is not None else (0.0, float(np.nanmax(panel.cells)) or 1.0)
            axes.imshow(panel.cells, cmap="Greys", vmin=low, vmax=high, origin="lower", interpolation="nearest")
            axes.set_title(panel.title, fontsize=9)
            axes.set_xticks(_ticks(heads), [str(tick + 1) for tick in _ticks(heads)], fontsize=7)
            axes.set_yticks(_ticks(layers), [str(tick + 1) for tick in _ticks(layers)], fontsize=7)
            axes.set_xlabel("head", fontsize=8)
            axes.set_ylabel("layer", fontsize=8)
            axes.tick_params(length=0)
            axes.spines[:].set_visible(True)
            axes.spines[:].set_color(INK)
        for axes in grid[len(panels) :]:
            axes.set_visible(False)


def layer_map(directory: Path, name: str, values: npt.NDArray[np.float64], rows: Sequence[str], bar_title: str) -> None:
    """Percentages [models, L], a row for every model and a column for every layer, counted from 1."""
    layers = values.shape[1]
    width, height = 1.8 + 0.075 * max(map(len, rows)) + 0.36 * layers, 1.0 + 0.3 * len(rows)
    with drawing(directory, name, max(width, 3.6), height) as axes:
        image = axes.imshow(values, cmap="Greys", vmin=0, vmax=100, aspect="auto", interpolation="nearest")
        axes.set_xticks(range(layers), [str(layer + 1) for layer in range(layers)], fontsize=8)
        axes.set_yticks(range(len(rows)), rows, fontsize=8)
        axes.set_xlabel("layer")
        axes.tick_params(length=0)
        for (i, j), value in np.ndenumerate(values):
            colour = "#ffffff" if value > 55 else "#101418"
            axes.text(j, i, f"{value:.0f}", ha="center", va="center", color=colour, fontsize=7)
        bar = axes.figure.colorbar(image, ax=axes, shrink=0.9, aspect=12, pad=0.02)
        bar.set_label(bar_title, fontsize=8)
        bar.outline.set_visible(False)


def _ticks(count: int) -> list[int]:
    return list(range(count)) if count <= 8 else list(range(0, count, 2 if count <= 16 else 4))
