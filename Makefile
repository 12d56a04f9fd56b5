# The two commands of a newcomer are `make demo` and `make test`; the rest is for working on Wherry.

PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
ENVS ?=
# One more than there are cores: tests wait too, for processes, for servers and for time to run out.
JOBS ?= $(shell $(PYTHON) -c "import os; print((os.cpu_count() or 1) + 1)")

# Under pyenv a Python answers by its name only when its version is selected: select all we support.
ifneq ($(shell command -v pyenv 2>/dev/null),)
export PYENV_VERSION := $(shell pyenv versions --bare | grep -E '^3\.(11|12|13|14)\.[0-9]+$$' | sort -V | paste -sd:)
endif
# One wheel of the kernels, one build of each Python: no need for pip to look for newer versions of itself.
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: help demo read test wheels release wasm engine npm docs lint ops clean

help:  ## list the targets
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /\1|/' | column -t -s '|'

demo: $(VENV)/installed  ## train LeNet on real handwritten digits, export it, then serve pages where it answers
	$(BIN)/python examples/digits_model.py
ifneq ($(CI),true)
	-$(BIN)/python tools/wasm/build.py  # without these the pages say what is missing, and the server answers alone
	-$(BIN)/python tools/wasm/engine.py && $(BIN)/python tools/wheels.py install --native web && $(BIN)/python examples/read_text/export.py
	-@mkdir -p build && (nice $(BIN)/python tools/wasm/build.py --numpy > build/numpy.log 2>&1 &)  # the Playground has it when it is there
	-@(nice $(BIN)/python examples/write_text.py > build/write.log 2>&1 &)  # as the page Write along has its network
endif
	$(BIN)/python -m wherry_web.demo --models build/models --wheels wheelhouse/wasm --pyodide .cache/wasm/pyodide

read: $(VENV)/installed  ## train anew what the page Read text reads with, beside the demo's models (an hour on two cores; fonts: see examples/read_text)
	$(BIN)/python -m pip install -qq pillow babel brotli
	$(BIN)/python examples/read_text/train.py

test: $(VENV)/tools  ## the whole test matrix, on all cores (ENVS=py311-tensor,lint picks some of it)
	$(BIN)/python -m tox run-parallel --parallel $(JOBS) --parallel-no-spinner $(if $(ENVS),-e $(ENVS))

wheels: $(VENV)/tools  ## build the wheels of every package for every Python found, into wheelhouse/
	$(BIN)/python tools/wheels.py build

release: $(VENV)/tools  ## sdists, wheels, checksums and a bill of materials of everything that is to be uploaded, into dist/
	$(BIN)/python tools/release.py

wasm: $(VENV)/installed  ## build the wheels for the browser and test them in Node (SUITES="page kit" picks some tests)
	$(BIN)/python tools/wasm/build.py --test $(addprefix --suite ,$(SUITES))

engine: $(VENV)/tools  ## build the engine of `wherry.export.web` (wheels that are built after it bring it along)
	$(BIN)/python tools/wasm/engine.py

npm: $(VENV)/tools  ## the npm package that loads exported bundles, into dist/
	$(BIN)/python tools/npm.py

docs: $(VENV)/tools  ## the documents as a site, into build/site (no network once its tools are installed); `wherry docs` opens it
	$(BIN)/python -m tox run -e site -- --tutorials

lint: $(VENV)/tools  ## style, types and layering
	$(BIN)/python -m tox run -e lint

ops: $(VENV)/installed  ## the coverage matrix
	$(BIN)/python -m wherry ops

clean:  ## remove everything that is built
	rm -rf $(VENV) .tox .cache build wheelhouse dist .*_cache .coverage .hypothesis
	find packages -name __pycache__ -prune -exec rm -rf {} + -o -name '*.so' -delete
	rm -rf packages/export/src/wherry_export/web/engine

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/tools: $(VENV)/bin/python tox.ini
	$(BIN)/python -m pip install -qq 'tox>=4.14'
	touch $@

# Phony in effect: tools/wheels.py knows what is up to date.
.PHONY: $(VENV)/installed
$(VENV)/installed: $(VENV)/bin/python
	$(BIN)/python tools/wheels.py install --native web
