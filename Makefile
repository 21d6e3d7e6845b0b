# The four commands a newcomer needs.  Each makes .venv and installs into it what it needs, once.
#   make demo     train the small built-in model, if it is not there yet, and open the page on it
#   make test     everything below `check`, then the tests
#   make check    lint and types
#   make bench    every benchmark, in its quick form
# Variables: PYTHON, the Python that makes .venv (3.11, 3.12 or 3.13); JOBS, the processes that run tests.
# A small torch for machines without an NVIDIA GPU: PIP_EXTRA_INDEX_URL=https://download.pytorch.org/whl/cpu make demo
PYTHON ?= python3
JOBS ?= 2

BIN := .venv/bin
USE := .venv/.installed-use
DEV := .venv/.installed-dev
SHELL := /bin/bash

.PHONY: demo test check lint types bench

demo: $(USE)
	$(BIN)/python -m seq2see demo

test: check
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal

check: lint types

lint: $(DEV)
	$(BIN)/ruff check .

types: $(DEV)
	$(BIN)/python tests/package/check_types.py

bench: $(DEV)
	@shopt -s nullglob; set -e; scripts=(benchmarks/[a-z]*.py); \
	for script in "$${scripts[@]}"; do echo "== $$script"; $(BIN)/python "$$script" --quick; done; \
	if [ $${#scripts[@]} = 0 ]; then echo "benchmarks/ holds no benchmark yet"; fi

# What is installed follows these two files; an editable install follows the sources by itself.
$(USE): pyproject.toml constraints.txt | $(BIN)/python
	$(BIN)/python -m pip install -c constraints.txt -e '.[serve,fast]'
	touch $@

$(DEV): pyproject.toml constraints.txt | $(BIN)/python
	$(BIN)/python -m pip install -c constraints.txt -e '.[serve,fast,lora,tensorboard,mcp,dev]'
	touch $@ $(USE)

$(BIN)/python:
	$(PYTHON) -m venv .venv
