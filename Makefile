# Everything happens in a virtual environment of the project's own.
# python3, or if that is too old the newest that the shell or pyenv finds
PYTHON ?= $(or $(firstword $(foreach found,python3 python3.14 python3.13 python3.12 \
	$(lastword $(sort $(wildcard $(PYENVS:=/versions/3.1[2-9].*/bin/python)))),$(call new,$(found)))),python3)
PYENVS = $(HOME)/.pyenv $(patsubst %/shims/python3,%,$(shell command -v python3))
new = $(shell $(1) -c 'import sys; sys.exit(sys.version_info < (3, 12))' 2> /dev/null && echo $(1))
# the oldest Python that is supported: a newer one may need higher versions than the lowest
OLDEST ?= $(or $(firstword $(foreach found,python3.12 \
	$(wildcard $(PYENVS:=/versions/3.12.*/bin/python)),$(call new,$(found)))),$(BIN)/python)
VENV ?= .venv
BIN := $(VENV)/bin
CORE := $(addprefix tests/,dgsuite/cli/test_cli.py $(addprefix dgsuite/workers/test_,dask_internals.py dashboard.py \
	memory.py outputs.py recovery.py session.py) \
	dgsuite/transports/test_transport_comms.py dgsuite/test_nx_results.py kernels/test_leiden.py \
	kernels/test_rounds.py partition/test_collections.py partition/test_files.py partition/test_keys.py \
	partition/test_labels.py project/test_startup.py)

.PHONY: help run test test-wide test-damage test-long test-all trials faults mutation networkx lowest lint format docs doctest pages links \
	reference release wheel bench clean

help:  ## list what there is
	@sed -n 's/^\([a-z-]*\):.*## /  make \1\t/p' $(MAKEFILE_LIST)

run: $(VENV)/.installed  ## run the quickstart experiment
	$(BIN)/dgsuite compile
	$(BIN)/dgsuite run configs/quickstart.toml

test: $(VENV)/.tested  ## run the first layer of tests, in some minutes
	$(BIN)/python -m pytest -n 3 --dist worksteal

test-wide: $(VENV)/.tested  ## run the second layer of tests: studies, faults, losses of workers, tables, commands, the package
	$(BIN)/python -m pytest -n 3 --dist worksteal -m "wide and not long and not exhaustive"

test-long: $(VENV)/.tested  ## run the tests that take longest
	$(BIN)/python -m pytest -n 2 --dist worksteal -m long

test-damage: $(VENV)/.tested  ## run, of the tests that take longest, those of faults, damaged files and benchmarks
	$(BIN)/python -m pytest -n 3 --dist worksteal -m "long and not exhaustive" tests/dgsuite/network tests/project/test_fuzz.py tests/project/test_benchmarks.py

test-all: test test-wide test-long  ## run all tests

trials: $(VENV)/.tested  ## strike amid 200 runs that are drawn from seeds
	$(BIN)/python -m pytest -n 3 -m long tests/dgsuite/workers/test_faults.py -k struck

faults: $(VENV)/.tested  ## strike amid 10,000 runs, make 550 in a row and 10,000 on threads, damage a million files; a night
	seq 0 9 | xargs -P 2 -I{} $(BIN)/python -m tests.faults --seed {} --step 10 --count 370
	$(BIN)/python -m tests.soak
	$(BIN)/python -m tests.many_runs
	$(BIN)/python -m pytest -n 2 -m exhaustive
	$(BIN)/python -m tests.fuzz --times 40

mutation: $(VENV)/.tested  ## change the code in 300 small ways, and see whether the tests notice; hours
	$(BIN)/python -m tests.mutation --count 300 --seed 1

networkx: $(VENV)/.tested  ## run networkx's tests of the functions that its backend dgsuite offers
	$(BIN)/python -m tests.networkx_suite

lowest: $(VENV)-lowest/.tested  ## run the core tests with the lowest versions of all dependencies
	NUMBA_CACHE_DIR=$(abspath $(VENV)-lowest)/loops $(VENV)-lowest/bin/python -m pytest -m "not long and not exhaustive" $(CORE)

lint: $(VENV)/.tested  ## style, types and layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	rm -rf build/tree && mkdir -p build/tree && cp -r dgsuite build/tree  # as it is installed
	cp -r partition kernels genval build/tree/dgsuite
	$(BIN)/mypy
	cd build/tree && $(abspath $(BIN))/lint-imports --config $(CURDIR)/pyproject.toml

format: $(VENV)/.tested  ## put the code in shape
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: doctest pages  ## make the pages, build/docs/index.html, and run the examples in them

doctest: $(VENV)/.documented
	$(BIN)/sphinx-build -q -W --keep-going -b doctest docs build/doctest
	$(BIN)/python -m pytest -q tests/project/test_project.py -k examples_of_a_page -m "long or not long"

pages: $(VENV)/.documented
	$(BIN)/sphinx-build -q -W --keep-going docs build/docs
	$(BIN)/dgsuite report docs/study --output build/docs/study.html --quiet
	$(BIN)/python -m pytest -q -m long $(addprefix tests/dgsuite/report/test_,report.py shipped_study.py tables.py)
	$(BIN)/python docs/links.py build/docs

links: $(VENV)/.documented  ## look whether links of pages to other sites still lead there; needs the internet
	$(BIN)/sphinx-build -q -b linkcheck docs build/links

reference: $(VENV)/.tested  ## write the pages that are made from the code
	$(BIN)/python -m dgsuite config reference > docs/files.md
	$(BIN)/python -m dgsuite config schema > docs/files.schema.json
	$(BIN)/python -m dgsuite config settings > docs/settings.md

release: $(VENV)/.tested  ## build what is committed into dist/ and try it in empty environments
	$(BIN)/python -m tests.release

wheel: $(VENV)/.tested  ## try the wheel, without extras, in an empty environment
	$(BIN)/python -m tests.wheel

bench: $(VENV)/.tested  ## measure, and make the page; about an hour
	$(BIN)/pip install -q -e '.[bench]'
	$(call measure,overhead)
	$(call measure,overhead,-workers,--workers 2 4 8 16 32 --protocol tcp mpb default)
	$(call measure,first_answer,,--times 3)
	$(call measure,mechanisms)
	$(call measure,libraries)
	$(call measure,metg)
	$(call measure,threads)
	$(call measure,threads,-workers,--shapes 1x1 2x1 4x1 8x1 16x1 --styles clocked --scale 20 --edges 16 --kernels bfs mis pagerank)
	$(call measure,whole_call)
	$(call measure,between_hosts)
	$(call measure,log_memory)
	$(call measure,imsuite)
	$(call measure,recursive)
	$(call measure,checkpoints)
	$(call measure,construction,,--growth)
	$(call measure,construction,-clusters,--nodes 500000 --edges 4000000 --clusters 2 64 256)
	$(call measure,parquet)
	$(call measure,large)
	$(call measure,scale,,--growth)
	$(call measure,bounds)
	$(call measure,bfs_peers)
	$(call measure,bfs_peers,-turns,--turns 6)
	$(call measure,graph500_memory)
	$(call measure,analytics,,--workers 1 2)
	$(call measure,analytics,-growth,--growth)
	$(call measure,searches)
	$(call measure,networkx_backend)
	$(call measure,grid_bytes)
	$(call measure,throttle)
	$(call measure,throttle_means)
	$(call measure,transports)
	$(call measure,hartree_fock)
	$(call measure,scc)
	$(call measure,stop_coverage)
	$(BIN)/python benchmarks/page.py

measure = $(BIN)/python benchmarks/$(1).py $(3) --json benchmarks/results/$(1)$(2).json

clean:  ## remove the environment and what was built
	rm -rf $(VENV) $(VENV)-lowest build dist *.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis

$(VENV)/bin/python:
	@test -n "$(call new,$(PYTHON))" || \
	  { echo "dgsuite needs Python 3.12 or newer; $(PYTHON) is $$($(PYTHON) -V 2>&1). Set PYTHON=" >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV) || \
	  { rm -rf $(VENV); echo "$(PYTHON) has no venv; on Debian: apt install python3-venv" >&2; exit 1; }

$(VENV)-lowest/.tested: pyproject.toml | $(VENV)/.tested
	$(BIN)/uv venv -q --clear -p $(OLDEST) $(VENV)-lowest
	$(BIN)/uv pip compile -q --resolution lowest-direct --only-binary :all: -p $(OLDEST) --extra test \
	  pyproject.toml -o $(VENV)-lowest/requirements.txt
	$(BIN)/uv pip install -q -p $(VENV)-lowest/bin/python -r $(VENV)-lowest/requirements.txt
	$(BIN)/uv pip install -q -p $(VENV)-lowest/bin/python --no-deps -e .
	@touch $@

$(VENV)/.installed: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install -q -e '.[command]'
	@touch $@

$(VENV)/.tested: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install -q -e '.[test]'
	@touch $@ $(VENV)/.installed

$(VENV)/.documented: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install -q -e '.[docs,test]'
	@touch $@ $(VENV)/.installed $(VENV)/.tested
