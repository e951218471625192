"""Cells of tables hold plain numbers, whoever computed them."""

from __future__ import annotations

import numpy as np
import pytest

from mtlspec.results.tables import Cell, Table, tone_of_change


@pytest.mark.parametrize("number", [np.float64(36.5), np.float32(36.5), np.int64(36), np.int16(36)])
def test_numbers_of_numpy_become_python_s_own(number: np.generic) -> None:
    cell = Cell("x", number, number, data={"seeds": {"1": number}, "interval": (number, number)})  # type: ignore[arg-type]
    kept = [cell.value, cell.spread, cell.data["seeds"]["1"], *cell.data["interval"]]
    assert {type(value) for value in kept} == {type(number.item())}
    table = Table("t", "", "", ("a",), (("", ((cell,),)),))
    assert table.csv() == f"a,a std\n{number.item()},{number.item()}\n"


def test_only_what_a_test_shows_has_a_colour() -> None:
    changes = (2.0, -2.0, 0.001)
    assert [tone_of_change(change, sure=True) for change in changes] == ["up", "down", ""]
    assert [tone_of_change(change, sure=False) for change in (*changes, None)] == [""] * 4
