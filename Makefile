# The most important commands.  Each creates .venv and installs its requirements on first use.
#   make demo     open the page with the packaged model
#   make test     `make check`, then the tests
#   make test-all every case, the slow ones too: an hour
#   make check    lint and types
#   make cover    the tests, and which lines none of them runs
#   make bench    every benchmark, in its quick form
#   make site     the documentation as a site, in build/site
#   make lock     uv.lock and constraints.txt follow pyproject.toml
#   make release RUN=runs/everyday NAME=everyday    the finished run becomes the packaged model of that name
# Variables: PYTHON, the Python that makes .venv (3.11 to 3.14); JOBS, the processes that run tests: three keep two
# cores busy, for many tests wait; OPTIONS of a release, which is --allow-dirty.
# On Linux without an NVIDIA GPU pip also looks at TORCH_INDEX, which has torch for the CPU, a sixth of the download;
# TORCH_INDEX= leaves it out.
PYTHON ?= python3
JOBS ?= 3
TORCH_INDEX ?= $(if $(filter Linux,$(shell uname -s)),$(if $(GPU),,https://download.pytorch.org/whl/cpu))
GPU = $(wildcard /proc/driver/nvidia/version)$(shell command -v nvidia-smi)

BIN := .venv/bin
USE := .venv/.installed-use
DEV := .venv/.installed-dev
DOCS := .venv/.installed-docs
SHELL := /bin/bash

# With it, every process would compile its imports again: the installation leaves them uncompiled.
unexport PYTHONDONTWRITEBYTECODE

UV := $(or $(shell command -v uv),$(BIN)/uv)

.PHONY: demo test test-all check lint types cover bench site release lock

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

release: $(DEV)
	$(BIN)/python -m seq2see.measures.release $(RUN) $(NAME) $(OPTIONS)

# Reinstalls when these files change; the editable install follows the sources.  Everything is checked by the hashes of
# uv.lock except torch, whose build depends on the machine, and what its CUDA builds bring: pip installs that by its pin.
define install
$(UV) sync --quiet --locked --inexact --no-python-downloads --python $(BIN)/python $(1:%=--extra %) \
	$(shell sed -nE 's/^name = "((torch|triton|nvidia|cuda)[a-z0-9-]*)"$$/--no-install-package \1/p' uv.lock)
$(BIN)/python -m pip install --no-compile $(TORCH_INDEX:%=--extra-index-url %) -c constraints.txt torch
touch $@
endef

$(USE): pyproject.toml uv.lock | $(BIN)/python $(UV)
	$(call install,serve fast files)

$(DEV): pyproject.toml uv.lock | $(BIN)/python $(UV)
	$(call install,serve fast files lora tensorboard mcp dev)
	touch $(USE)

$(DOCS): pyproject.toml uv.lock | $(BIN)/python $(UV)
	$(call install,serve fast docs)

# After a change of the dependencies, or to renew them: `make lock UPGRADE=--upgrade`.
lock: | $(BIN)/python $(UV)
	$(UV) lock $(UPGRADE)
	$(UV) export --quiet --locked --all-extras --no-emit-project --no-hashes --no-annotate -o constraints.txt

$(BIN)/uv: | $(BIN)/python
	$(BIN)/python -m pip install --no-compile -c constraints.txt uv

$(BIN)/python:
	$(PYTHON) -m venv .venv
