# `make run` and `make test` are all one needs; `make help` lists the rest.

PYTHON ?= python3
VENV ?= .venv
HEADLESS ?= false
PORT ?= 8501
# Two workers: the tests are many small fits, and whole files stay together with their fixtures. In the
# order of their names the files with few but long tests come first, and no worker waits for one in the end.
PYTEST_ARGS ?= --numprocesses 2 --dist loadfile --no-loadscope-reorder
# Every module in a folder of benchmarks/ is one benchmark, named like accuracy.released_masks.
BENCHMARKS ?= $(subst /,.,$(patsubst benchmarks/%.py,%,$(wildcard benchmarks/*/*.py)))

BIN := $(VENV)/bin
PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check
# Only files whose hashes are in the lock, whatever index pip takes them from.
INSTALL_LOCKED := $(PIP_INSTALL) --require-hashes --requirement
RUNTIME_STAMP := $(VENV)/.runtime-installed
DEV_STAMP := $(VENV)/.dev-installed
BENCH_STAMP := $(VENV)/.bench-installed
DOCS_STAMP := $(VENV)/.docs-installed
TOOLS_STAMP := $(VENV)/.tools-installed
# Each of these is made from the .txt file of the same name and agrees with those before it.
LOCKS := requirements.lock $(patsubst %,requirements-%.lock,build login ray dev bench docs tools)

# Lying beside a clone, the benchmark tables are found without a word; PMAE_DATA_DIR names them elsewhere.
SHARED_DATASETS := $(wildcard $(abspath ../shared/datasets))

.DEFAULT_GOAL := help
.PHONY: help run test browser lint format typecheck bench bench-quick screenshots docs lock audit clean

help: ## Show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 20

run: $(RUNTIME_STAMP) ## Install what is needed and open the dashboard (HEADLESS=true: no browser)
	PYTHONPATH="$(CURDIR)" $(BIN)/python -m streamlit run dashboard/app.py \
		--server.headless $(HEADLESS) --server.port $(PORT)

test: lint typecheck browser ## Lint, type-check and run all tests
	$(BIN)/python -m pytest $(PYTEST_ARGS)

browser: $(DEV_STAMP) ## Find a Chromium for tests and screenshots, or install one
	@PYTHONPATH="$(CURDIR)" $(BIN)/python -m tests.support.chromium

lint: $(DEV_STAMP) ## Check style and formatting
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

format: $(DEV_STAMP) ## Repair style and formatting where that is safe
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

typecheck: $(DEV_STAMP) ## Check the types of the library
	$(BIN)/mypy pmae_core

bench: browser $(BENCH_STAMP) ## Run the benchmarks (BENCHMARKS="accuracy.categories ..." for some of them)
	@export PMAE_DATA_DIR="$${PMAE_DATA_DIR:-$(SHARED_DATASETS)}"; \
	test -n "$$PMAE_DATA_DIR" || unset PMAE_DATA_DIR; \
	set -e; for benchmark in $(BENCHMARKS); do \
		echo "== $$benchmark"; \
		PYTHONPATH="$(CURDIR)" $(BIN)/python -m benchmarks.$$benchmark; \
	done

bench-quick: $(BENCH_STAMP) ## Measure the headline on small tables (about 10 minutes at most on two cores)
	PYTHONPATH="$(CURDIR)" $(BIN)/python -m benchmarks.accuracy.bench_quick

screenshots: browser ## Take pictures of all pages into docs/screenshots
	PYTHONPATH="$(CURDIR)" $(BIN)/python -m tests.support.screenshots

docs: $(DOCS_STAMP) ## Build the documents into build/docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet
	@echo "Open build/docs/index.html"

lock: $(TOOLS_STAMP) ## Update the lock files to the requirements (LOCK_ARGS=--upgrade: the newest versions)
	@set -e; constraints=; for lock in $(LOCKS); do \
		$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
			--custom-compile-command "make lock" --annotation-style line $(LOCK_ARGS) \
			$$constraints --output-file $$lock $${lock%.lock}.txt; \
		constraints="$$constraints --constraint $$lock"; \
	done

audit: $(TOOLS_STAMP) ## Look for known vulnerabilities in the locked packages
	$(BIN)/pip-audit --strict --disable-pip --require-hashes $(addprefix --requirement ,$(LOCKS))

clean: ## Remove the virtual environment and all caches
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "Python 3.11 or newer is needed; name one with: make PYTHON=python3.11 ..." >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(RUNTIME_STAMP): requirements.lock requirements-build.lock pyproject.toml | $(BIN)/python
	@echo "Installing the runtime requirements (the first time takes some minutes) ..."
	$(INSTALL_LOCKED) requirements.lock --requirement requirements-build.lock
	$(PIP_INSTALL) --no-deps --no-build-isolation --editable .
	@touch $@

$(DEV_STAMP): requirements-dev.lock $(RUNTIME_STAMP)
	@echo "Installing the development requirements ..."
	$(INSTALL_LOCKED) requirements-dev.lock
	@touch $@

$(BENCH_STAMP): requirements-bench.lock $(DEV_STAMP)
	@echo "Installing what the benchmarks need ..."
	$(INSTALL_LOCKED) requirements-bench.lock
	@touch $@

$(DOCS_STAMP): requirements-docs.lock $(RUNTIME_STAMP)
	@echo "Installing what the documents need ..."
	$(INSTALL_LOCKED) requirements-docs.lock
	@touch $@

$(TOOLS_STAMP): requirements-tools.lock | $(BIN)/python
	@echo "Installing the tools for locking and auditing ..."
	$(INSTALL_LOCKED) requirements-tools.lock
	@touch $@
