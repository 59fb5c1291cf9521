# One command for each thing a person wants to do here. `make` alone lists them.
# Needs Python 3.11 or newer and nothing else; uses uv where it is on PATH.

VENV   := .venv
CODE   := src tests examples
BIN    := $(VENV)/bin
PYTHON ?= python3
UV     ?= $(shell command -v uv 2>/dev/null)
JOBS   ?= 2
EXTRAS := test,folding,pddl,studio,ray,dask
DIR    ?= out/studio

.DEFAULT_GOAL := help
.PHONY: help demo studio test lint bench attack studio-shots clean

help:
	@grep -E '^[a-z-]+:.*##' Makefile | sed -E 's/:.*## /\t/' | expand -t 14

demo: $(VENV)/.core  ## a first look: learn a ritual from five demonstrations, explain it, plan it in a changed world
	@$(BIN)/meip demo

studio: $(VENV)/.studio  ## record, learn, understand and plan in the browser (DIR=folder, STUDIO=more options)
	@mkdir -p $(DIR)
	@$(BIN)/meip studio $(DIR) $(STUDIO)

test: lint  ## everything that has to hold: style, types, tests
	@$(BIN)/python -m pytest -n $(JOBS)

lint: $(VENV)/.test  ## ruff and mypy only
	@$(BIN)/ruff check $(CODE)
	@$(BIN)/ruff format --check $(CODE)
	@$(BIN)/mypy

bench: $(VENV)/.core  ## speed of each part (PEERS=1: against the libraries it is compared with)
	@$(BIN)/meip bench $(if $(PEERS),--peers)

attack: $(VENV)/.test  ## kills, full disks, mutants, signals, worlds that misbehave: attempts and failures (40 minutes)
	@$(BIN)/python tests/attack $(ATTACK)

studio-shots: $(VENV)/.test  ## pictures of every tab of the studio, light and dark, into docs/studio
	@$(BIN)/python tests/browser/shots.py docs/studio

clean:  ## remove the virtual environment and every cache
	find src -name '*.nb[ic]' -delete
	rm -rf $(VENV) .numba-cache .pytest_cache .mypy_cache .ruff_cache .hypothesis

# --- the virtual environment; the stamps make reinstalling unnecessary until pyproject.toml changes ---

ifneq ($(UV),)
INSTALL := $(UV) pip install --quiet --python $(BIN)/python
else
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check
endif

$(VENV)/.test: pyproject.toml | $(BIN)/python
	@echo "installing meip and what its tests need into $(VENV) ..."
	@$(INSTALL) -e '.[$(EXTRAS)]'
	@touch $(VENV)/.core $(VENV)/.studio $@

$(VENV)/.studio: pyproject.toml | $(BIN)/python
	@echo "installing meip and its studio into $(VENV) ..."
	@$(INSTALL) -e '.[studio]'
	@touch $(VENV)/.core $@

$(VENV)/.core: pyproject.toml | $(BIN)/python
	@echo "installing meip into $(VENV) ..."
	@$(INSTALL) -e .
	@touch $@

$(BIN)/python:
ifneq ($(UV),)
	@$(UV) venv --quiet --python '>=3.11' $(VENV)
else
	@command -v $(PYTHON) >/dev/null || { echo "meip needs Python 3.11 or newer: '$(PYTHON)' is not on PATH; install it, or give one: make PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "meip needs Python 3.11 or newer: $$($(PYTHON) --version) is too old; give another: make PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { echo "this Python cannot make virtual environments: install its venv package (Debian, Ubuntu: apt-get install python3-venv), or uv (https://docs.astral.sh/uv)"; exit 1; }
	@$(PYTHON) -m venv $(VENV)
endif
