"""Figures: what is drawn lies inside the picture."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imread

from mtlspec.results.figures import Line, curves


@pytest.mark.parametrize(
    "labels",
    [
        ["mtl_dp: srl in pos + dep + srl", "mtl_dp: dep in pos + dep + srl", "mtl_dp: pos in pos + dep + srl"],
        ["mtl_dp: srl in pos + ner + dep + con + srl, a name that is wider than the axes are"] * 2,
        ["WWW: WWWWW"] * 3,
    ],
)
def test_no_legend_is_cut_off(labels: list[str], tmp_path: Path) -> None:
    x = np.array([10.0, 50.0])
    curves(tmp_path, "sparsity", [Line(label, x, x) for label in labels], x_title="heads kept, %", y_title="points")
    picture = imread(tmp_path / "sparsity.png")[..., :3]
    border = np.concatenate([picture[:, :4].reshape(-1, 3), picture[:, -4:].reshape(-1, 3)])
    assert (border == 1).all()  # letters that reach the edge of the picture are cut there
