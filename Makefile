# Everything a contributor runs. CI runs `make check` and `make test`, nothing else.

PYTHON ?= python3
BIN := .venv/bin
DEV := $(BIN)/.dev-installed

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-rust test-paths test-counts test-python test-slow counts mutants miri sanitize check fmt lint types bench clean

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

test: test-rust test-paths test-counts test-python ## Run all tests

WORKSPACE := --workspace --exclude cyclotron-python

test-rust: $(DEV)
	cargo test $(WORKSPACE) --quiet

# Linux says what the processor has; a path that it lacks is left out, and so named.
has = $(shell grep -qsw $(1) /proc/cpuinfo && echo $(2))
SIMD_PATHS := scalar $(call has,avx2,avx2) $(call has,avx512vl,avx512)

test-paths: $(DEV) ## Run the tests of `ring` on each SIMD path alone
	@echo "SIMD paths of this processor, of scalar, avx2 and avx512: $(SIMD_PATHS)" >&2
	@tests=$$(cargo test $(WORKSPACE) --no-run 2>&1 | \
		sed -nE 's,.*\((.*/(cyclotron_ring|laws|published)-[0-9a-f]+)\)$$,\1,p'); \
	test -n "$$tests" || { echo "found no tests of ring" >&2; exit 1; }; \
	for path in $(SIMD_PATHS); do for test in $$tests; do \
		CYCLOTRON_SIMD=$$path $$test --quiet || exit 1; \
	done; done

test-python: setup
	$(BIN)/python -m pytest -q tests/python

test-counts: $(DEV) ## Compare the instructions of the kernels with the recorded counts
	$(BIN)/python tools/count_instructions.py

counts: $(DEV) ## Record the present counts
	$(BIN)/python tools/count_instructions.py --write

mutants: $(DEV) ## Break the kernels on purpose: the tests must notice
	$(BIN)/python tools/mutate_kernels.py

test-slow: ## Run all tests on each SIMD path, with 10^9 cases of the laws (an hour)
	@for path in $(SIMD_PATHS); do \
		CYCLOTRON_SIMD=$$path CYCLOTRON_LAW_CASES=1000000000 $(MAKE) test-rust test-python || exit 1; \
	done

# Nightly Rust: rustup toolchain install nightly --component miri,rust-src
MIRI := cargo +nightly miri test -p cyclotron-ring --lib --target-dir target/miri --

miri: ## Interpret the scalar and AVX2 code of `ring`, looking for undefined behaviour
	$(MIRI) arch:: limb_buf modulus residues ring:: simd
	RUSTFLAGS=-Ctarget-feature=+avx2 $(MIRI) arch::

sanitize: ## Run the tests of `ring` and `runtime` with the address sanitizer
	RUSTFLAGS="-Zsanitizer=address --cfg sanitized" cargo +nightly test -p cyclotron-ring -p cyclotron-runtime \
		--lib --tests --target $$(rustc -vV | sed -n 's/^host: //p') --target-dir target/sanitize

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
	cargo bench -p cyclotron-ring -p cyclotron-checker -p cyclotron-compiler

clean: ## Remove what was built
	rm -rf target .venv
