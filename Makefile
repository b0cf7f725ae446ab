# Each target makes .venv and installs what it needs; on a fresh Debian machine nothing else is asked.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
SCRIPTS := $(shell grep -lE '^\#!.*python' $$(find scripts -maxdepth 1 -type f))

.PHONY: run test check bench format clean

run: $(READY)  ## the chat in the browser: http://127.0.0.1:8080
	$(BIN)/chat-aio demo

test: $(READY)  ## all tests, over a real mongod of their own
	$(BIN)/python -m pytest -n 2 --dist loadfile

check: $(READY)  ## style, types, import law
	$(BIN)/ruff check . $(SCRIPTS)
	$(BIN)/ruff format --check . $(SCRIPTS)
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(READY)  ## the performance table of docs/operations.md
	$(BIN)/python scripts/bench

format: $(READY)
	$(BIN)/ruff check --fix . $(SCRIPTS)
	$(BIN)/ruff format . $(SCRIPTS)

$(READY): pyproject.toml scripts/setup
	scripts/setup $(PYTHON) $(VENV)
	touch $@

clean:
	rm -rf $(VENV) dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis
