# The most important commands.  Each creates .venv and installs its requirements on first use.
#   make demo     open the page with the packaged model
#   make test     `make check`, then the tests
#   make test-all every case, the slow ones too: an hour
#   make check    lint and types
#   make cover    the tests, and which lines none of them runs
#   make bench    every benchmark, in its quick form
#   make site     the documentation as a site, in build/site
#   make lock     uv.lock and constraints.txt follow pyproject.toml
#   make owner OWNER=account    the account that publishes, in every address
#   make release RUN=runs/everyday NAME=everyday    the finished run becomes the packaged model of that name
# Variables: PYTHON, the Python that makes .venv (3.11 to 3.14); JOBS, the processes that run tests: three keep two
# cores busy, for many tests wait; OPTIONS of a release, which is --allow-dirty.
# On Linux without an NVIDIA GPU pip also looks at TORCH_INDEX, which has torch for the CPU, a sixth of the download;
# TORCH_INDEX= leaves it out.
JOBS ?= 3

BIN := .venv/$(if $(filter Windows_NT,$(OS)),Scripts,bin)
USE := .venv/.installed-use
DEV := .venv/.installed-dev
DOCS := .venv/.installed-docs
SHELL := /bin/bash

# With it, every process would compile its imports again: the installation leaves them uncompiled.
unexport PYTHONDONTWRITEBYTECODE

# Reinstalls when these files change, or where .venv has no Python that runs; the editable install follows the sources.
INPUTS := pyproject.toml uv.lock $(if $(shell $(BIN)/python -V 2>/dev/null),,FORCE)

.PHONY: demo test test-all check lint types cover bench site owner release lock FORCE

demo: $(USE)
	$(BIN)/python -m seq2see demo

test: check
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal

test-all:
	.ci/run all

check: lint types

lint: $(DEV)
	$(BIN)/ruff check .
	$(BIN)/oxlint

types: $(DEV)
	$(BIN)/python tests/package/check_types.py

cover: $(DEV)
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal --cov --cov-report=term-missing:skip-covered

bench: $(DEV)
	@shopt -s nullglob; set -e; scripts=(benchmarks/[a-z]*.py); \
	for script in "$${scripts[@]}"; do echo "== $$script"; $(BIN)/python "$$script" --quick; done; \
	if [ $${#scripts[@]} = 0 ]; then echo "no benchmarks in benchmarks/"; fi

site: $(DOCS)
	$(BIN)/python docs/build_site.py

owner:
	git grep -lz OWNER/seq2see -- ':!Makefile' | xargs -0 perl -pi -e 's#OWNER/seq2see#$(OWNER)/seq2see#g'

release: $(DEV)
	$(BIN)/python -m seq2see.measures.release $(RUN) $(NAME) $(OPTIONS)

$(USE): $(INPUTS)
	./install.sh serve fast files
	touch $@

$(DEV): $(INPUTS)
	./install.sh serve fast files lora tensorboard mcp dev
	touch $(USE) $@

$(DOCS): $(INPUTS)
	./install.sh serve fast docs
	touch $@

# After a change of the dependencies, or to renew them: `make lock UPGRADE=--upgrade`.
lock:
	./install.sh
	$(BIN)/uv lock $(UPGRADE)
	$(BIN)/uv export --quiet --locked --all-extras --no-emit-project --no-hashes --no-annotate -o constraints.txt
