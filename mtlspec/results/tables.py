"""Tables that know their numbers: written as JSON (full precision), CSV and LaTeX, rendered by the report."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from mtlspec.io.write import write_json, write_text

Tone = Literal["", "up", "down", "best"]


@dataclass(frozen=True)
class Cell:
    """What is printed, the number behind it, and where that number comes from.

    Numbers of numpy become Python's own: numpy spells its types out (`np.float64(36.5)`), and no CSV file may say so.
    """

    text: str = ""
    value: float | int | str | None = None
    spread: float | None = None  # standard deviation, printed after ±
    mark: str = ""  # significance: * or nothing
    tone: Tone = ""
    source: str = ""  # shown on hover: stages and seeds
    data: dict[str, Any] = field(default_factory=dict)  # further numbers in full precision

    def __post_init__(self) -> None:
        for name in ("value", "spread", "data"):
            object.__setattr__(self, name, _python(getattr(self, name)))


Row = tuple[Cell, ...]


@dataclass(frozen=True)
class Table:
    """`sections` are (heading, rows); a heading may be empty. The first column names the row."""

    name: str
    title: str
    caption: str
    columns: tuple[str, ...]
    sections: tuple[tuple[str, tuple[Row, ...]], ...]

    @property
    def rows(self) -> tuple[Row, ...]:
        return tuple(row for _, rows in self.sections for row in rows)

    def write(self, directory: Path) -> None:
        """`<name>.json`, `<name>.csv` and `<name>.tex` in `directory`."""
        write_json(directory / f"{self.name}.json", asdict(self))
        write_text(directory / f"{self.name}.csv", self.csv())
        write_text(directory / f"{self.name}.tex", self.latex())

    @classmethod
    def read(cls, path: Path) -> Table:
        raw = json.loads(path.read_bytes())
        sections = tuple(
            (str(heading), tuple(tuple(Cell(**cell) for cell in row) for row in rows))
            for heading, rows in raw["sections"]
        )
        return cls(raw["name"], raw["title"], raw["caption"], tuple(raw["columns"]), sections)

    def csv(self) -> str:
        """Numbers in full precision; a column `<name> std` follows each column that has spreads."""
        spread = [any(row[i].spread is not None for row in self.rows) for i in range(len(self.columns))]
        header = [
            name for i, title in enumerate(self.columns) for name in ([title, f"{title} std"] if spread[i] else [title])
        ]
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(header)
        for row in self.rows:
            line: list[str] = []
            for i, cell in enumerate(row):
                line.append(cell.text if cell.value is None else _plain(cell.value))
                if spread[i]:
                    line.append("" if cell.spread is None else _plain(cell.spread))
            writer.writerow(line)
        return out.getvalue()

    def latex(self) -> str:
        """A booktabs table, ready for `\\input`; needs `booktabs`."""
        lines = [
            r"\begin{table}[t]",
            r"\centering",
            r"\begin{tabular}{l" + "r" * (len(self.columns) - 1) + "}",
            r"\toprule",
            " & ".join(latex_escape(title) for title in self.columns) + r" \\",
            r"\midrule",
        ]
        for i, (heading, rows) in enumerate(self.sections):
            if i:
                lines.append(r"\midrule")
            if heading:
                lines.append(rf"\multicolumn{{{len(self.columns)}}}{{l}}{{\textit{{{latex_escape(heading)}}}}} \\")
            lines += [" & ".join(_latex_cell(cell) for cell in row) + r" \\" for row in rows]
        lines += [
            r"\bottomrule",
            r"\end{tabular}",
            rf"\caption{{{latex_escape(self.caption)}}}",
            rf"\label{{tab:{self.name}}}",
            r"\end{table}",
        ]
        return "\n".join(lines) + "\n"


def markdown(table: Table) -> str:
    """A pipe table; sections become rows of their own."""
    lines = [_md_row(table.columns), _md_row(["---"] + ["---:"] * (len(table.columns) - 1))]
    for heading, rows in table.sections:
        if heading:
            lines.append(_md_row([f"**{markdown_escape(heading)}**"] + [""] * (len(table.columns) - 1), escape=False))
        lines += [_md_row([f"{cell.text}{cell.mark}" for cell in row]) for row in rows]
    return "\n".join(lines) + "\n"


def score_text(mean: float, std: float | None, digits: int = 2) -> str:
    return f"{mean:.{digits}f}" + ("" if std is None else f" ± {std:.{digits}f}")


def signed(value: float, digits: int = 2) -> str:
    """With a sign and a real minus; a value that rounds to zero has none."""
    text = f"{value:+.{digits}f}"
    return "0." + "0" * digits if float(text) == 0 else text.replace("-", "−")


def tone_of_change(change: float | None, *, sure: bool) -> Tone:
    """Only what a test shows has a colour: `up` is blue and `down` is red, in tables as in figures."""
    if change is None or not sure or signed(change) == "0.00":
        return ""
    return "up" if change > 0 else "down"


def interval_text(interval: tuple[float, float] | None) -> str:
    return "–" if interval is None else f"{signed(interval[0])} to {signed(interval[1])}"


_LATEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "±": r"$\pm$", "−": r"$-$", "<": r"$<$", ">": r"$>$",
    "·": r"$\cdot$", "→": r"$\rightarrow$", "↑": r"$\uparrow$", "↓": r"$\downarrow$",
    "Δ": r"$\Delta$", "≤": r"$\leq$", "≥": r"$\geq$", "–": "--",
}  # fmt: skip


def latex_escape(text: str) -> str:
    return "".join(_LATEX.get(character, character) for character in text)


def _latex_cell(cell: Cell) -> str:
    text = latex_escape(cell.text)
    if cell.tone == "best":
        text = rf"\textbf{{{text}}}"
    return text + (rf"$^{{{cell.mark}}}$" if cell.mark else "")


def _python(value: Any) -> Any:
    """The same without numpy's types, inside dictionaries and sequences, too."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, dict):
        return {key: _python(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_python(entry) for entry in value)
    return value


def _plain(value: float | int | str) -> str:
    """CSV text; a leading character that a spreadsheet would run as a formula is defused."""
    if isinstance(value, str):
        return f"'{value}" if value[:1] in ("=", "+", "-", "@") else value
    return repr(value)


def markdown_escape(text: str) -> str:
    for character in "\\|<>*_`[]":
        text = text.replace(character, f"\\{character}")
    return " ".join(text.split())


def _md_row(cells: Sequence[str], escape: bool = True) -> str:
    return "| " + " | ".join(markdown_escape(cell) if escape else cell for cell in cells) + " |"
