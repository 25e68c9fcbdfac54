# `make demo` and `make test` need Python 3.11 or later, git and make; all else goes into .venv.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
# Files of tests/unit that take seconds: nearly two thousand tests in a minute on two cores.
FAST = accumulated adapters bad_input errors estimate estimates features fit_model fitted \
  formula grids import inference interaction linear losses native nested_bootstrap pickle \
  predictive r_formulas r_style reading relation replicates resampling risk sample samplers \
  seeds
# Files of tests/unit that take longest: `make nightly` and `make test-all` run them.
SLOW = boosting_offset causal codes columns conditional h_statistic interactions kernels labels linear loco \
  population statsmodels_formula
# Compiled ahead, the modules that nothing imports would take 0.1 GB and a minute. Python caches those that are imported.
INSTALL = $(BIN)/python -m pip --quiet --disable-pip-version-check install --no-compile -e
export PYTHONDONTWRITEBYTECODE =

# Folders of tests that continuous integration runs; `make nightly` runs the others.
CI = bridge contract docs laws mutants photograph reference unit
NIGHTLY = $(filter-out $(CI:%=tests/%),$(patsubst %/,%,$(dir $(wildcard tests/*/test_*.py))))

.PHONY: hello demo test test-ci test-all nightly check coverage house wheel dist r_package lowest matrix r torch more lint docs calibration acceptance torture mutants bench study papers format clean

# Two processes fill two cores. More threads in each take twice the time.
test test-ci test-all nightly check coverage calibration acceptance torture mutants bench papers study docs: export OMP_NUM_THREADS = 1

# Says what it does before anything is installed, which takes minutes the first time.
hello:
	@test -e $(VENV)/.base || echo "The demo needs the package in $(VENV): a first run installs it, which takes a few minutes and 0.7 GB."

demo: hello $(VENV)/.base
	$(BIN)/python vignettes/demo.py demo_output

test: $(VENV)/.test
	$(BIN)/python -m pytest -n 2 --dist worksteal $(SLOW:%=--ignore=tests/unit/test_%.py)

# Laws, kinds of learners, pages and R besides; with `make lint docs` all of continuous integration.
test-ci: $(VENV)/.test
	$(BIN)/python -m pytest -n 2 --dist worksteal --durations=30 $(SLOW:%=--ignore=tests/unit/test_%.py) $(CI:%=tests/%)

# The rest: fuzzed inputs, naive oracles, kills, clusters, studies, papers, and other environments.
nightly: $(VENV)/.dev
	$(BIN)/python -m pytest -n 2 --dist worksteal --durations=30 $(sort $(NIGHTLY)) $(SLOW:%=tests/unit/test_%.py)
	$(MAKE) matrix lowest r_package dist

test-all: $(VENV)/.test
	$(BIN)/python -m pytest -n 2 --dist worksteal --durations=60 tests

# What to run before a commit: rules, types, and the tests that take seconds.
check: $(VENV)/.dev lint
	$(BIN)/python -m pytest -n 2 --dist worksteal -q tests/mutants $(FAST:%=tests/unit/test_%.py)

# Lines of the package that the whole suite runs, with the floor of pyproject.toml. Takes longer than `make test-all`.
coverage: $(VENV)/.test
	$(BIN)/python -m pytest -n 2 --dist worksteal -q --cov --cov-report=term:skip-covered tests

# The wheel, in an empty environment, without the source tree.
wheel: $(VENV)/.test
	tests/wheel.sh $(BIN)/python

# Wheel and sdist for a release (RELEASING.md): the same bytes twice, checked, and run away from the source.
dist: $(VENV)/.dev
	tests/dist.sh $(BIN)/python

# The package for R, checked as CRAN does; skipped without R and its packages reticulate and testthat.
r_package: $(VENV)/.test
	tests/r_package.sh $(BIN)/python

# The lowest versions that pyproject.toml allows, in an environment of their own.
lowest:
	tests/lowest.sh $(PYTHON)

# Other environments: without pyarrow, polars and DuckDB, with routing of metadata, with the arithmetic
# of another processor, and the newest version of Python that is installed.
matrix: $(VENV)/.test
	tests/matrix.sh $(BIN)/python

# rpy2, for the tests of the R bridge; without R's headers and a compiler it works in this mode alone.
r: $(VENV)/.r

# PyTorch, for the tests of networks.
torch: $(VENV)/.torch

# Other frames, learners and files (polars, pyarrow, DuckDB, CatBoost, glum, Word); without them their tests are skipped by name.
more: $(VENV)/.more

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: $(VENV)/.dev
	$(BIN)/sphinx-build -W --keep-going -b html docs docs/_build/html

calibration: $(VENV)/.test
	$(BIN)/python -m pytest -n 2 -m calibration tests/calibration tests/papers tests/unit

acceptance: $(VENV)/.test
	$(BIN)/python -m pytest -s -m acceptance tests/docs tests/papers

torture: $(VENV)/.test
	$(BIN)/python -m pytest -n 2 --dist worksteal -m torture tests

mutants: $(VENV)/.test
	$(BIN)/python tests/mutants/run.py

bench: $(VENV)/.bench
	$(BIN)/python benchmarks/bench.py

# How much code there is, and how far a call walks in it, beside the peers that are installed.
house: $(VENV)/.test
	$(BIN)/python benchmarks/house.py

# All cells of the four papers anew, hours of it coverage, and their pages.
papers: $(VENV)/.test
	$(BIN)/python studies/papers.py
	$(BIN)/python docs/papers/write_pages.py

study: $(VENV)/.test
	$(BIN)/python studies/run.py

format: $(VENV)/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) demo_output docs/_build .coverage

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or later is needed: make PYTHON=python3.11 ...")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.base: pyproject.toml | $(VENV)/bin/python
	$(INSTALL) .
	touch $@

$(VENV)/.test: pyproject.toml | $(VENV)/bin/python
	$(INSTALL) '.[test]'
	touch $@ $(VENV)/.base

$(VENV)/.r: pyproject.toml | $(VENV)/bin/python
	RPY2_CFFI_MODE=ABI $(INSTALL) '.[r]'
	touch $@

$(VENV)/.more: pyproject.toml | $(VENV)/bin/python
	$(INSTALL) '.[frames]'
	$(INSTALL) '.[word]'
	$(INSTALL) '.[zoo]'
	touch $@

$(VENV)/.torch: pyproject.toml | $(VENV)/bin/python
	$(INSTALL) '.[torch]'
	touch $@

$(VENV)/.bench: pyproject.toml | $(VENV)/bin/python
	$(INSTALL) '.[bench]'
	touch $@ $(VENV)/.test $(VENV)/.base

$(VENV)/.dev: pyproject.toml | $(VENV)/bin/python
	$(INSTALL) '.[dev]'
	touch $@ $(VENV)/.test $(VENV)/.base
