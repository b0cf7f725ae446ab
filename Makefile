# Each target makes .venv and installs what it needs; on a fresh Debian machine nothing else is asked.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DOCS := .venv-docs
RUNS := $(VENV)/.ready-run
READY := $(VENV)/.ready
SPREAD := -n auto --dist worksteal
# Searches and leases take a third of the time.
RULES := tests/unit tests/schema tests/actions \
	--ignore-glob='tests/actions/*search*' --ignore=tests/actions/test_leases.py
SCRIPTS := $(shell grep -lE '^\#!.*python' $$(find scripts -maxdepth 1 -type f))
# A run starts a hundred Python processes: none compiles what another has compiled, whatever the shell says.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: run test test-long quick check tables package release docs audit lock bench format clean

run: $(RUNS)  ## the chat in the browser: http://127.0.0.1:8080
	@$(BIN)/chat-aio demo

test: $(READY)  ## all tests but the long ones, over a real mongod that they start
	$(BIN)/python -m pytest $(SPREAD)

test-long: $(READY)  ## chaos, long histories, outages, large files; the page in more sizes, languages, fonts
	$(BIN)/python -m pytest $(SPREAD) -m long

quick: $(READY)  ## the rules alone, for while you work, without those of searches and leases
	$(BIN)/python -m pytest $(SPREAD) $(RULES)

check: $(READY)  ## style, types, import law, plain words
	$(BIN)/ruff check . $(SCRIPTS)
	$(BIN)/ruff format --check . $(SCRIPTS)
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python scripts/plain-words

tables: $(READY)  ## the tables of the documents that follow from the code
	$(BIN)/python scripts/document_tables.py

package: $(READY)  ## sdist, wheel and npm tarball, each used alone in empty environments
	$(BIN)/python scripts/package

release: $(READY)  ## sdist, wheel, npm tarball and notes in dist/, checked; it publishes nothing
	$(BIN)/python scripts/release

docs: $(DOCS)/.ready  ## the documentation as a site, in site/
	rm -rf build/docs && mkdir -p build/docs
	tar -c --exclude=__pycache__ *.md docs examples dashboards chat_aio/browser | tar -x -C build/docs
	$(DOCS)/bin/zensical build --strict --clean

audit: $(READY)  ## known vulnerabilities of what is installed
	$(BIN)/python scripts/audit

COMPILE := pip-compile --quiet --upgrade --generate-hashes --strip-extras --unsafe-package chat-aio \
	--no-emit-index-url --no-emit-find-links --no-emit-trusted-host --no-header

lock: $(READY)  ## the versions that development, the image and the site are made with, with their hashes
	$(BIN)/$(COMPILE) --build-deps-for editable --extra dev \
		--output-file requirements-dev.txt pyproject.toml
	$(BIN)/$(COMPILE) --build-deps-for wheel --extra jwt,limits,logs,metrics,notifications,uvloop \
		--constraint requirements-dev.txt --output-file requirements.txt pyproject.toml
	$(BIN)/$(COMPILE) --build-deps-for editable --extra attachments,embedded,uvloop \
		--constraint requirements-dev.txt --output-file requirements-run.txt pyproject.toml
	$(BIN)/$(COMPILE) --output-file requirements-docs.txt requirements-docs.in

bench: $(READY)  ## the performance table of docs/project/benchmarks.md
	$(BIN)/python scripts/bench

format: $(READY)
	$(BIN)/ruff check --fix . $(SCRIPTS)
	$(BIN)/ruff format . $(SCRIPTS)

PROJECT := echo "Installing chat_aio itself" && $(BIN)/python -m pip install --quiet \
	--disable-pip-version-check --no-deps --no-build-isolation --editable .

$(RUNS): pyproject.toml requirements-run.txt scripts/setup
	@scripts/setup $(PYTHON) $(VENV) requirements-run.txt
	@$(PROJECT)
	@touch $@

$(READY): pyproject.toml requirements-dev.txt scripts/setup
	@scripts/setup $(PYTHON) $(VENV) requirements-dev.txt
	@$(PROJECT)
	@touch $(RUNS) $@

$(DOCS)/.ready: requirements-docs.txt scripts/setup
	@scripts/setup $(PYTHON) $(DOCS) requirements-docs.txt
	@touch $@

clean:
	rm -rf $(VENV) $(DOCS) dist build site .cache .mypy_cache .ruff_cache .pytest_cache .hypothesis
