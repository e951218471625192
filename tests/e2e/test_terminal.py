"""What a run draws in a real terminal of 80 columns: our lines, whole, and nobody else's."""

from __future__ import annotations

import re

from tests.e2e.study import Study
from tests.terminal import in_terminal, lines

STAGE = r"[a-z]+(-[a-z0-9]+)*(@small)?"
OURS = [
    rf" +(done|restored)  {STAGE}( in \d+\.\d s)?",
    rf"(all stages|{STAGE}) +[━╸╺ ]+ +(\d+/\d+ )? *\d:\d\d:\d\d( .*)?",
    r"  - Do other ways of training score differently from stl\?",
    r" {4}.*(stl|seed).*",  # what came out, and how sure it is
    r"stl: each task on its own",
    r"mtl: all 2 tasks together",
    r"small: test scores of 1 seed",
    r"model +pos accuracy +ner f1",
    r"─+",
    r"(stl|mtl): .*\d\.\d\d",
    r"report   registry/runs/small/work/report.html",
    r"record   registry/runs/small/record.json",
    r"publish  mtlspec publish small",
    r"compare  mtlspec ui small",
]


def foreign(drawn: str) -> list[str]:
    return [line for line in lines(drawn) if not any(re.fullmatch(pattern, line) for pattern in OURS)]


def test_a_run_draws_our_lines_only(drawn: str) -> None:
    shown = lines(drawn)
    assert foreign(drawn) == []
    assert max(map(len, shown)) <= 80
    assert any(re.match(r"train-mtl-all-s1 .* \d+/\d+ .* updates", line) for line in shown)
    assert any(re.match(r" +done  train-mtl-all-s1 in ", line) for line in shown)


def test_a_run_of_what_is_cached_draws_our_lines_only(study: Study) -> None:
    command = study.command("run", "small", "--no-publish")
    status, drawn = in_terminal(command, study.root, study.environment, columns=140)
    assert status == 0
    assert foreign(drawn) == []
    assert any(re.match(r"all stages ━+ 11/11 .* 11 cached", line) for line in lines(drawn))
    assert study.mtlspec("plan", "small").stdout.startswith("small: 11 stages, 11 cached, 0 to run\n")
