# What a clean clone needs: Python 3.10 or newer (3.11 for the tests that compare with PyTorch) and make.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
WORKERS ?= 2
TESTS ?= tests

.PHONY: help venv demo test test-gpu lint format docs bench bench-cpu clean

help:
	@echo "make demo    set up and run a blocked matrix product on real arrays"
	@echo "make test    set up for development, check style and types, run the tests (TESTS=..., WORKERS=...)"
	@echo "make test-gpu  the tests that need an NVIDIA GPU; the log goes to bench/results/ (PYTHON=...)"
	@echo "make lint    style and types only"
	@echo "make format  let ruff format the source"
	@echo "make docs    write the generated pages under docs/ and the stubs of the language"
	@echo "make bench   measure on this machine (PEER=/path/to/a/python/with/triton compares with Triton)"
	@echo "make bench-cpu   the CPU backend against NumPy and PyTorch (PEER=... Triton's interpreter too)"
	@echo "make venv    set up for development only"
	@echo "make clean   remove what make created"

# The stamps say what is installed; pyproject.toml is newer when that changed.
$(VENV)/base-installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --editable .
	touch $@

$(VENV)/test-installed: $(VENV)/base-installed
	$(PIP) install --editable '.[test]'
	touch $@

venv: $(VENV)/test-installed

demo: $(VENV)/base-installed
	$(BIN)/python -m tritium run examples/matmul.py

lint: $(VENV)/test-installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright --pythonpath $(BIN)/python

test: lint
	$(BIN)/python -m pytest -n $(WORKERS) $(TESTS)

# Runs with the Python that has PyTorch and the GPU's packages, which need not be the one under $(VENV).
test-gpu:
	mkdir -p bench/results
	REQUIRE_GPU=1 PYTHONPATH=src:. bash -o pipefail -c \
	  '$(PYTHON) -m pytest tests/gpu -rs 2>&1 | tee bench/results/test-gpu-$$(date +%F).log'

format: $(VENV)/test-installed
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

docs: $(VENV)/test-installed
	$(BIN)/python -m tritium.language.stubs
	$(BIN)/python -m tritium.errors.pages docs/errors
	$(BIN)/python -m tritium.config docs/settings.md
	$(BIN)/python -m tritium.compat.page docs/compatibility.md
	$(BIN)/python docs/refresh.py docs/*.md
	$(BIN)/python docs/refresh.py README.md
	$(BIN)/python -m docs.generators

bench: $(VENV)/test-installed
	$(BIN)/python bench/compile_time.py
	$(BIN)/python bench/interpreter.py $(if $(PEER),--peer $(PEER))

bench-cpu: $(VENV)/test-installed
	$(BIN)/python bench/cpu.py $(if $(PEER),--peer $(PEER))

clean:
	rm -rf $(VENV) build dist src/*.egg-info .pytest_cache .ruff_cache .hypothesis
