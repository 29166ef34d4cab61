# Everything a contributor runs. CI runs `make check` and `make test`, nothing else.

PYTHON ?= python3
BIN := .venv/bin
DEV := $(BIN)/.dev-installed

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-rust test-python test-slow check fmt lint types bench clean

help: ## Show the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || \
		{ echo "Cyclotron needs Python 3.10 or newer; set PYTHON=..." >&2; exit 2; }
	@command -v cargo >/dev/null || { echo "Cyclotron needs Rust (cargo); see https://rustup.rs" >&2; exit 2; }
	$(PYTHON) -m venv .venv

# The build tool's version is written once, in pyproject.toml.
$(DEV): $(BIN)/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check \
		"$$(sed -n 's/^requires = \["\(maturin[^"]*\)"\]/\1/p' pyproject.toml)"
	@touch $@

setup: $(DEV) ## Install the tools and build the package into .venv
	@echo "building the engine (a few minutes the first time)..." >&2
	$(BIN)/maturin develop --release --extras dev --quiet

demo: setup ## Encrypt a digit; classify it on the CPU and on simulated F1
	$(BIN)/cyclotron demo

test: test-rust test-python ## Run all tests

test-rust: $(DEV)
	cargo test --workspace --exclude cyclotron-python --quiet

test-python: setup
	$(BIN)/python -m pytest -q tests/python

check: setup ## Format, lints, types
	cargo fmt --check
	cargo clippy --workspace --all-targets --quiet -- -D warnings
	$(BIN)/ruff format --check python tests tools examples
	$(BIN)/ruff check python tests tools examples
	$(BIN)/mypy

fmt: $(DEV) ## Format everything
	cargo fmt
	$(BIN)/ruff format python tests tools examples
	$(BIN)/ruff check --fix python tests tools examples

bench: setup ## Measure everything beside the peers (an hour), and record it
	$(BIN)/cyclotron bench kernels --peers
	$(BIN)/cyclotron bench operations --peers
	$(BIN)/cyclotron bench programs --peers
	$(BIN)/cyclotron bench --render
	cargo bench -p cyclotron-ring -p cyclotron-runtime -p cyclotron-checker

clean: ## Remove what was built
	rm -rf target .venv
