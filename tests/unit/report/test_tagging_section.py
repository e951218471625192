"""The tables of the sequence-tagging paper beside a run: findings follow arrows, and like stands beside like."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from mtlspec.report.tagging_section import tagging_findings, tagging_section
from mtlspec.results.findings import Findings
from mtlspec.results.transfer import Score, Transfer, published_transfer
from mtlspec.spec.published import load_published, restored_published
from mtlspec.spec.tagging_pack import TaggingPack

SPEC: Mapping[str, Any] = {
    "models": {
        "pair": {"sharing": {"type": "hard"}},
        "enc_pair": {"sharing": {"type": "task_embedding", "at": "encoder"}},
    }
}


def _pack(name: str) -> TaggingPack:
    found = load_published(f"sequence_tagging/{name}")
    assert isinstance(found, TaggingPack)
    again = restored_published(found.stored())
    assert again == found
    return found


def _findings(found: Transfer) -> Findings:
    return Findings("transfer_table", "t", ("s",), (), (), {"transfer": found.stored(), "arrows": "by planting"})


def test_the_paper_agrees_with_itself() -> None:
    theirs = published_transfer(_pack("multi_dec"))
    verdicts = {one.statement: one.verdict for one in tagging_findings(theirs, theirs, "as printed")}
    assert set(verdicts.values()) == {"holds"} and len(verdicts) == 12


def test_a_run_of_two_tasks_answers_what_it_can() -> None:
    theirs = published_transfer(_pack("multi_dec"))
    alone = {"chunk": Score(50.0), "com": Score(50.0)}
    pairs = {"chunk": {"com": Score(40.0, arrow="down")}, "com": {"chunk": Score(50.0)}}
    ours = Transfer("pair", ("chunk", "com"), alone, pairs)
    found = {one.statement: one for one in tagging_findings(theirs, ours, "by planting")}
    chunk = found["chunk helps other tasks more often than it harms them"]
    assert (chunk.published, chunk.here, chunk.verdict) == ("5 ↑, 0 ↓", "0 ↑, 1 ↓", "does not hold")
    assert found["com harms other tasks more often than it helps them"].verdict == "undecided"
    assert found["upos helps other tasks more often than it harms them"].verdict == "not in this run"


def test_like_stands_beside_like() -> None:
    theirs = published_transfer(_pack("te_enc"))
    told = [_findings(replace(theirs, name="pair")), _findings(replace(theirs, name="enc_pair"))]
    section = tagging_section(_pack("te_enc"), SPEC, told)
    rows = {row[0].text: [cell.text for cell in row[1:]] for row in section.tables[1].rows}
    assert rows["+com"][:2] == ["93.60 ↓", "93.60 ↓"] and rows["oracle"][-2:] == ["48.06 ↑", "48.06 ↑"]
    assert "Note: The text calls FRAME useful in no case" in section.tables[1].caption
    alone = tagging_section(_pack("te_dec"), SPEC, told)  # nothing here shares so
    assert all(cell.text == "–" for row in alone.tables[1].rows for cell in row[2::2])
    assert alone.sentences == (
        "None of the published findings can be compared: this run has no models of the same kind.",
    )
