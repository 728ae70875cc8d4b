# make run   set up, simulate the ground scene into runs/ground
# make test  set up, lint, run the tests
# make html  build the pages of docs/ into build/docs, with the pictures that are there
# make docs  the same, with every picture made anew that other code has drawn
# make pictures  those pictures alone
# make setup  what developers need; make run installs less
# Set-up happens by itself, again only when pyproject.toml or constraints.txt has changed.

PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
DEVELOPERS := .venv/.developers

# The matrices are small: more BLAS threads make them slower, not faster.
export OPENBLAS_NUM_THREADS := 1
export OMP_NUM_THREADS := 1
# Else every process would compile the Python sources of all packages again: 3 s of a start of 5 s.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: run test lint html docs pictures setup

run: $(READY)
	$(BIN)/limpet run ground --out runs/ground --force

test: setup lint
	$(BIN)/python -m pytest -n 2 --dist worksteal

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

html: setup
	$(BIN)/python -m sphinx -b html -W --keep-going -q docs build/docs
	@echo "open build/docs/index.html"

docs: pictures html

pictures: setup
	$(BIN)/python docs/pictures.py

setup: $(DEVELOPERS)

$(READY): EXTRAS := view
$(DEVELOPERS): EXTRAS := dev

# With uv, which finds or fetches a Python by itself; else with the venv and pip of python3.
$(READY) $(DEVELOPERS): pyproject.toml constraints.txt
	@echo "setting up .venv (a minute or two)"
	@if command -v uv >/dev/null 2>&1; then \
	    set -e; \
	    test -x $(BIN)/python || uv venv --quiet --python '>=3.11' .venv; \
	    uv pip install --quiet --python $(BIN)/python -e '.[$(EXTRAS)]' -c constraints.txt; \
	else \
	    set -e; \
	    $(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	        echo "limpet needs Python 3.11 or newer as $(PYTHON) (or uv);" \
	             "name another one: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; \
	        exit 1; }; \
	    test -x $(BIN)/python || $(PYTHON) -m venv .venv; \
	    $(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check \
	        -e '.[$(EXTRAS)]' -c constraints.txt; \
	fi
	@touch $(READY) $@
