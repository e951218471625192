"""A project of two cards and one spec, in a temporary folder."""

from __future__ import annotations

from pathlib import Path

from mtlspec.io.project import Project

DATA_CARD = """\
card: data
name: corpus
licence: CC0-1.0
source: made for the tests
root: corpora/corpus
files:
  - reader: conllu
    paths: {train: train.conllu, dev: dev.conllu, test: test.conllu}
    layers: {xpos: xpos, upos: upos, lemma: lemma, dep: dep}
"""

ENCODER_CARD = """\
card: encoder
name: small
licence: Apache-2.0
source: pretrain
"""

SPEC = """\
mtlspec: 1
name: study
data: corpus
encoder: {card: small, subword_dropout: 0.2}
tasks:
  pos: {type: tagging, layer: xpos}
  lem: {type: tagging, layer: lemma, decoder: crf}
train:
  epochs: 5
  lr: {encoder: 5e-5, decoder: 1e-3}
  sampler: {type: power, alpha: 0.8}
seeds: [1, 2]
models:
  stl: {tasks: each, sharing: hard}
  mtl: {tasks: all, sharing: hard, train: {epochs: 8}}
analyses:
  scores: {type: score_matrix, models: [stl, mtl]}
"""


def make_project(root: Path) -> Project:
    for folder in ("specs", "registry/data", "registry/encoders"):
        (root / folder).mkdir(parents=True)
    (root / "registry/data/corpus.yaml").write_text(DATA_CARD)
    (root / "registry/encoders/small.yaml").write_text(ENCODER_CARD)
    (root / "specs/study.yaml").write_text(SPEC)
    return Project.find(root)
