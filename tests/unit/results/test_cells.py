"""Cells of tables hold plain numbers, whoever computed them."""

from __future__ import annotations

import numpy as np
import pytest

from mtlspec.results.tables import Cell, Table


@pytest.mark.parametrize("number", [np.float64(36.5), np.float32(36.5), np.int64(36), np.int16(36)])
def test_numbers_of_numpy_become_python_s_own(number: np.generic) -> None:
    cell = Cell("x", number, number, data={"seeds": {"1": number}, "interval": (number, number)})  # type: ignore[arg-type]
    kept = [cell.value, cell.spread, cell.data["seeds"]["1"], *cell.data["interval"]]
    assert {type(value) for value in kept} == {type(number.item())}
    table = Table("t", "", "", ("a",), (("", ((cell,),)),))
    assert table.csv() == f"a,a std\n{number.item()},{number.item()}\n"
