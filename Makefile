# Everything happens in a virtual environment of the project's own.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
LOWEST := $(addprefix tests/test_,cli.py dask_internals.py startup.py rounds.py labels.py files.py transport_comms.py)

.PHONY: help run test networkx lowest lint format docs reference bench clean

help:  ## list what there is
	@sed -n 's/^\([a-z]*\):.*## /  make \1\t/p' $(MAKEFILE_LIST)

run: $(VENV)/.installed  ## run the quickstart experiment
	$(BIN)/dgsuite run configs/quickstart.toml

test: $(VENV)/.tested  ## run the tests
	$(BIN)/python -m pytest -n 2 --dist worksteal

networkx: $(VENV)/.tested  ## run networkx's tests of the functions that its backend dgsuite offers
	$(BIN)/python tests/networkx_suite.py

lowest: $(VENV)-lowest/.tested  ## run tests with the lowest versions of all dependencies
	$(VENV)-lowest/bin/python -m pytest $(LOWEST)

lint: $(VENV)/.tested  ## style, types and layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/.tested  ## put the code in shape
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(VENV)/.documented  ## make the pages: build/docs/index.html
	$(BIN)/sphinx-build -q -W --keep-going -b doctest docs build/doctest
	$(BIN)/sphinx-build -q -W --keep-going docs build/docs

reference: $(VENV)/.tested  ## write the pages that are made from the code
	$(BIN)/python -m dgsuite config reference > docs/files.md
	$(BIN)/python -m dgsuite config schema > docs/files.schema.json
	$(BIN)/python -m dgsuite config settings > docs/settings.md

bench: $(VENV)/.tested  ## measure; about an hour
	$(BIN)/pip install -q -e '.[bench]'
	$(BIN)/python benchmarks/overhead.py
	$(BIN)/python benchmarks/metg.py --out build/metg
	$(BIN)/python benchmarks/whole_call.py
	$(BIN)/python benchmarks/hosts.py
	$(BIN)/python benchmarks/log_memory.py
	$(BIN)/python benchmarks/originals.py
	$(BIN)/python benchmarks/recursive.py
	$(BIN)/python benchmarks/construction.py
	$(BIN)/python benchmarks/parquet.py
	$(BIN)/python benchmarks/large.py
	$(BIN)/python benchmarks/scale.py --growth
	$(BIN)/python benchmarks/bounds.py
	$(BIN)/python benchmarks/bfs_peers.py
	$(BIN)/python benchmarks/bfs_peers.py --turns 5
	$(BIN)/python benchmarks/analytics.py --workers 1 2
	$(BIN)/python benchmarks/analytics.py --growth
	$(BIN)/python benchmarks/searches.py
	$(BIN)/python benchmarks/grid_bytes.py
	$(BIN)/python benchmarks/throttle.py
	$(BIN)/python benchmarks/transports.py
	$(BIN)/python benchmarks/hartree_fock.py
	$(BIN)/python benchmarks/scc.py

clean:  ## remove the environment and what was built
	rm -rf $(VENV) $(VENV)-lowest build dist *.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "dgsuite needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) -V 2>&1). Set PYTHON=" >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV) || \
	  { rm -rf $(VENV); echo "$(PYTHON) has no venv; on Debian: apt install python3-venv" >&2; exit 1; }

$(VENV)-lowest/.tested: pyproject.toml tests/lowest.py
	@$(PYTHON) -m venv $(VENV)-lowest
	$(PYTHON) tests/lowest.py > $(VENV)-lowest/requirements.txt
	$(VENV)-lowest/bin/python -m pip install -q -r $(VENV)-lowest/requirements.txt
	$(VENV)-lowest/bin/python -m pip install -q --no-deps -e .
	@touch $@

$(VENV)/.installed: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install -q -e .
	@touch $@

$(VENV)/.tested: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install -q -e '.[test]'
	@touch $@ $(VENV)/.installed

$(VENV)/.documented: pyproject.toml | $(VENV)/.tested
	$(BIN)/python -m pip install -q -e '.[docs]'
	@touch $@ $(VENV)/.installed $(VENV)/.tested
