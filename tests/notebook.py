"""Executes notebooks of docs/: their cells in order, in one namespace, without a kernel.

`python -m tests.notebook docs/x.ipynb` writes what the cells give into the file; a test compares it.
"""

from __future__ import annotations

import ast
import base64
import contextlib
import io
import json
import sys
from pathlib import Path
from typing import Any


def run(file: Path) -> dict[str, Any]:
    """The notebook with what its cells give today; it runs in its own folder, as in Jupyter."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    notebook: dict[str, Any] = json.loads(file.read_bytes())
    names: dict[str, Any] = {"__name__": "__main__"}
    number = 0
    with contextlib.chdir(file.parent):
        for cell in notebook["cells"]:
            if cell["cell_type"] == "code":
                number += 1
                cell["execution_count"] = number
                cell["outputs"] = _outputs("".join(cell["source"]), names, number)
                plt.close("all")
    return notebook


def texts(notebook: dict[str, Any]) -> list[list[str]]:
    """What each code cell printed or showed as text."""
    cells = (cell for cell in notebook["cells"] if cell["cell_type"] == "code")
    return [
        ["".join(out.get("text") or out["data"].get("text/plain", "")) for out in cell["outputs"]] for cell in cells
    ]


def _outputs(source: str, names: dict[str, Any], number: int) -> list[dict[str, Any]]:
    """Printed text, the value of a last expression, and the figures that are open at the end."""
    import matplotlib.pyplot as plt

    body = ast.parse(source).body
    last = body.pop() if body and isinstance(body[-1], ast.Expr) and not source.rstrip().endswith(";") else None
    printed, value = io.StringIO(), None
    with contextlib.redirect_stdout(printed):
        exec(compile(ast.Module(body, []), f"cell {number}", "exec"), names)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), f"cell {number}", "eval"), names)
    outputs: list[dict[str, Any]] = []
    if printed.getvalue():
        outputs.append({"output_type": "stream", "name": "stdout", "text": _lines(printed.getvalue())})
    if value is not None:
        shown = {"text/plain": _lines(repr(value))}
        shown |= {"text/html": _lines(value._repr_html_())} if hasattr(value, "_repr_html_") else {}
        outputs.append({"output_type": "execute_result", "execution_count": number, "data": shown, "metadata": {}})
    for figure in map(plt.figure, plt.get_fignums()):
        image = io.BytesIO()
        figure.savefig(image, format="png", dpi=80, bbox_inches="tight", metadata={"Software": None})
        data = {"image/png": base64.b64encode(image.getvalue()).decode(), "text/plain": ["<Figure>"]}
        outputs.append({"output_type": "display_data", "data": data, "metadata": {}})
    return outputs


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        text = json.dumps(run(Path(name)), indent=1, ensure_ascii=False)
        Path(name).write_text(text + "\n", encoding="utf-8")
