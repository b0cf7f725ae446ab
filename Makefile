# Each target makes .venv and installs what it needs; on a fresh Debian machine nothing else is asked.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RUNS := $(VENV)/.ready-run
READY := $(VENV)/.ready
SPREAD := -n logical --maxprocesses 8 --dist worksteal
RULES := tests/unit tests/schema tests/actions
SCRIPTS := $(shell grep -lE '^\#!.*python' $$(find scripts -maxdepth 1 -type f))

.PHONY: run test quick check package audit lock bench format clean

run: $(RUNS)  ## the chat in the browser: http://127.0.0.1:8080
	$(BIN)/chat-aio demo

test: $(READY)  ## all tests, over a real mongod of their own
	$(BIN)/python -m pytest $(SPREAD)

quick: $(READY)  ## the rules alone, for while you work: what the chat does, and its parts by themselves
	$(BIN)/python -m pytest $(SPREAD) $(RULES)

check: $(READY)  ## style, types, import law
	$(BIN)/ruff check . $(SCRIPTS)
	$(BIN)/ruff format --check . $(SCRIPTS)
	$(BIN)/mypy
	$(BIN)/lint-imports

package: $(READY)  ## sdist and wheel, and the wheel used in an empty environment
	$(BIN)/python scripts/package

audit: $(READY)  ## known vulnerabilities of what is installed
	$(BIN)/python scripts/audit

COMPILE := pip-compile --quiet --upgrade --generate-hashes --strip-extras --unsafe-package chat-aio \
	--no-emit-index-url --no-emit-find-links --no-emit-trusted-host --no-header

lock: $(READY)  ## the versions that development and the image are made with, anew, with their hashes
	$(BIN)/$(COMPILE) --build-deps-for editable --extra dev \
		--output-file requirements-dev.txt pyproject.toml
	$(BIN)/$(COMPILE) --build-deps-for wheel --extra limits,logs,metrics \
		--constraint requirements-dev.txt --output-file requirements.txt pyproject.toml
	$(BIN)/$(COMPILE) --build-deps-for editable --extra embedded \
		--constraint requirements-dev.txt --output-file requirements-run.txt pyproject.toml

bench: $(READY)  ## the performance table of docs/operations.md
	$(BIN)/python scripts/bench

format: $(READY)
	$(BIN)/ruff check --fix . $(SCRIPTS)
	$(BIN)/ruff format . $(SCRIPTS)

$(RUNS): pyproject.toml requirements-run.txt scripts/setup
	scripts/setup $(PYTHON) $(VENV) requirements-run.txt
	touch $@

$(READY): pyproject.toml requirements-dev.txt scripts/setup
	scripts/setup $(PYTHON) $(VENV) requirements-dev.txt
	touch $(RUNS) $@

clean:
	rm -rf $(VENV) dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis
