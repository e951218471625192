"""Scores by a swept setting, from scores made by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from mtlspec.analyses.sweep_curve import Options
from mtlspec.errors import StageError
from mtlspec.io.digest import digest_tree
from tests.unit.analyses.averaged import Study

ASKED = Options(type="sweep_curve", over="sharing.alpha")


@pytest.fixture
def study(tmp_path: Path) -> Study:
    made = Study(tmp_path)
    made.add("mtl", {"pos": [80, 82, 81], "ner": [70, 70, 71]})
    for alpha, gain in ((0.9, 0), (0.3, 6), (0.1, -5)):
        scores = {"pos": [80 + gain, 82 + gain, 81 + gain], "ner": [70 + gain, 70 + gain, 71 + gain]}
        made.add("iat", scores, [["sharing.alpha", alpha]])
    made.add("stl", {"pos": [99, 99, 99]})  # one task alone is no average
    return made


def test_a_curve_is_in_the_order_of_values_beside_its_level(study: Study) -> None:
    findings, facts = study.run(ASKED)
    assert facts == {"curves": 1, "points": 3, "levels": 1}
    (table,) = findings.tables
    assert table.columns == ("sharing.alpha", "pos", "ner", "average", "change", "interval")
    assert [row[0].text for row in table.rows] == ["0.1", "0.3", "0.9", "mtl: pos + ner"]
    # averages of the seeds are 75, 76 and 76 without the gain
    assert [row[3].value for row in table.rows] == pytest.approx([227 / 3 - 5, 227 / 3 + 6, 227 / 3, 227 / 3])
    assert [(row[4].text, row[4].mark) for row in table.rows] == [
        ("−5.00", "*"),
        ("+6.00", "*"),
        ("0.00", ""),
        ("", ""),
    ]
    assert findings.summary == (
        "iat: the average is highest with sharing.alpha 0.3 (81.67) and lowest with 0.1 (70.67).",
        "mtl: pos + ner, which is not swept, has 75.67; 1 of 3 values are significantly above it and 1 below "
        "(Holm's correction over 3 comparisons: averages with mtl: pos + ner).",
    )
    points = findings.numbers["curves"]["iat"]
    assert [point["value"] for point in points] == [0.1, 0.3, 0.9]
    assert points[1]["averages"] == [81.0, 82.0, 82.0] and points[1]["p_holm"] < 0.01
    assert findings.numbers["levels"] == {"mtl: pos + ner": [75.0, 76.0, 76.0]}
    for suffix in ("svg", "png"):
        assert (study.root / f"out/figures/sweep.{suffix}").stat().st_size > 1000
    study.run(ASKED, "again")
    assert digest_tree(study.root / "out") == digest_tree(study.root / "again")


def test_other_swept_settings_make_curves_of_their_own(tmp_path: Path) -> None:
    study = Study(tmp_path)
    for delta, score in ((0.1, 90), (0.5, 80)):
        for alpha in (0.3, 0.7):
            study.add("iat", {"pos": [score], "ner": [score]}, [["sharing.delta", delta], ["sharing.alpha", alpha]])
    findings, facts = study.run(ASKED)
    assert facts == {"curves": 2, "points": 4, "levels": 0}
    assert list(findings.numbers["curves"]) == ["iat [delta 0.1]", "iat [delta 0.5]"]
    assert findings.tables[0].columns == ("sharing.alpha", "pos", "ner", "average")
    assert findings.summary[-1] == "No model here is without the sweep, so that nothing is tested."


def test_one_seed_is_not_tested(tmp_path: Path) -> None:
    study = Study(tmp_path)
    study.add("mtl", {"pos": [80], "ner": [70]})
    study.add("iat", {"pos": [82], "ner": [70]}, [["sharing.alpha", 0.3]])
    findings, _ = study.run(ASKED)
    assert findings.summary == (
        "iat has one value of sharing.alpha, 0.3: 76.00.",
        "mtl: pos + ner, which is not swept, has 75.00; no difference from it was tested, for want of seeds.",
    )
    assert findings.tables[0].columns[-1] == "average"


def test_what_is_not_swept_over_numbers_is_refused(study: Study, tmp_path: Path) -> None:
    with pytest.raises(StageError, match="no model of several tasks is swept over") as caught:
        study.run(Options(type="sweep_curve", over="train.freeze"))
    assert caught.value.code == "E954"
    words = Study(tmp_path / "words")
    words.add("iat", {"pos": [82], "ner": [70]}, [["sharing.select", "random"]])
    with pytest.raises(StageError, match="is swept over 'random', which is no number") as caught:
        words.run(Options(type="sweep_curve", over="sharing.select"))
    assert caught.value.code == "E955"
