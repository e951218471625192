"""Figures: what is drawn lies inside the picture."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imread

from mtlspec.results.figures import Line, curves, heat_map


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


def test_cells_without_a_colour_keep_their_text(tmp_path: Path) -> None:
    for name, values in (("some", [[3.0, np.nan]]), ("none", [[np.nan, np.nan]])):
        heat_map(
            tmp_path, name, values=np.array(values), texts=[["+3.00*", "+1.00"]], rows=["mtl"], columns=["pos", "ner"]
        )
        drawn = (tmp_path / f"{name}.svg").read_text()
        assert "+3.00*" in drawn and "+1.00" in drawn
        blue = imread(tmp_path / f"{name}.png")[..., 2] - imread(tmp_path / f"{name}.png")[..., 0]
        assert (blue.max() > 0.3) == (name == "some")
