"""The toy language and its runs, under the name that tests know; `mtlspec doctor --kinds` tries kinds on them, too."""

from mtlspec.contract.toy import TASKS, run_evaluate, run_train, train_params, write_encoder, write_prepared
from mtlspec.contract.toy_language import NOUNS, corpus, sentence
from mtlspec.contract.toy_questions import questions

__all__ = [
    "NOUNS",
    "TASKS",
    "corpus",
    "questions",
    "run_evaluate",
    "run_train",
    "sentence",
    "train_params",
    "write_encoder",
    "write_prepared",
]
