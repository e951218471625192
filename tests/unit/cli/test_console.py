"""What commands print with, in a terminal and piped."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.terminal import in_terminal, lines

PRINTING = """
from mtlspec.cli.console import say_field, say_table, together

items = ", ".join(together(f"task{number} (a kind)") for number in range(5))
say_field("tasks  ", items)
say_table(("spec", "tasks"), [("x", items)])
say_table(("a", "b"), [("1", "2")], "a title wider than its table")
"""


def test_lines_break_between_items_and_below_their_label(tmp_path: Path) -> None:
    code, drawn = in_terminal([sys.executable, "-c", PRINTING], tmp_path, os.environ, 45)
    assert code == 0
    assert lines(drawn) == [
        "tasks  task0 (a kind), task1 (a kind),",
        "       task2 (a kind), task3 (a kind),",
        "       task4 (a kind)",
        "spec  tasks",
        "─" * 45,
        "x     task0 (a kind), task1 (a kind),",
        "      task2 (a kind), task3 (a kind),",
        "      task4 (a kind)",
        "a title wider than its table",
        "a  b",
        "────",
        "1  2",
    ]
    piped = subprocess.run([sys.executable, "-c", PRINTING], capture_output=True, text=True, check=True).stdout
    assert piped.splitlines()[0] == "tasks  " + ", ".join(f"task{number} (a kind)" for number in range(5))
