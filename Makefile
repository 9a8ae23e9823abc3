# Everything that is built lands in folders that git ignores: .venv, build, dist, target.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.ONESHELL:

VENV := .venv
BIN := $(VENV)/bin
# Finds Python and Rust, also with an empty home directory.
TOOLS := source .ci/toolchain

RUST := Cargo.toml Cargo.lock $(shell find rust -name '*.rs' -o -name Cargo.toml)
SUITE ?= tests
COMPARE ?=
N ?= 300

.PHONY: help
help:  ## Show this list
	@grep -hE '^[a-z-]+:.*## ' Makefile | sort | awk -F ':.*## ' '{ printf "  make %-12s %s\n", $$1, $$2 }'

.PHONY: run
run: build  ## Build, then schedule the bundled sample
	$(BIN)/podium simulate

.PHONY: build
build: $(VENV)/built  ## Build the command into .venv/bin/podium

# The virtual environment, with a pip that knows dependency groups.
$(VENV)/made: .ci/toolchain
	$(TOOLS); "$$PYTHON" -m venv --clear $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	touch $@

$(VENV)/built: $(RUST) pyproject.toml $(VENV)/made
	$(BIN)/python -m pip install --quiet 'maturin>=1.9.4,<2'
	$(TOOLS); $(BIN)/maturin develop --release --locked
	touch $@

$(VENV)/tools: pyproject.toml $(VENV)/made
	$(BIN)/python -m pip install --quiet --group dev
	touch $@

.PHONY: test
test: test-rust test-python  ## Run everything that can run on this machine

.PHONY: test-rust
test-rust: $(VENV)/made  ## Run the tests of the core
	$(TOOLS); cargo test --quiet --locked --package podium-core

.PHONY: test-python
test-python: build $(VENV)/tools  ## Run the tests of the package (SUITE=tests/cli for one part)
	$(TOOLS); $(BIN)/python -m pytest --quiet --numprocesses=auto --dist=loadfile $(SUITE)

.PHONY: lint
lint: build $(VENV)/tools  ## Check style, types and layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(TOOLS)
	cargo fmt --all --check
	cargo clippy --quiet --locked --workspace --all-targets -- --deny warnings

.PHONY: format
format: $(VENV)/tools  ## Format the sources
	$(BIN)/ruff check --fix-only --quiet .
	$(BIN)/ruff format .
	$(TOOLS); cargo fmt --all

.PHONY: wheel
wheel: $(VENV)/built  ## Build the wheel for this platform into dist
	$(TOOLS); $(BIN)/maturin build --release --locked --out dist

.PHONY: bench
bench: build $(VENV)/tools  ## Measure engine, loop, manifests and deltas (SUITE=benches/test_loop.py for one part)
	$(BIN)/python -m pytest --quiet --benchmark-columns=min,median,rounds $(if $(filter tests,$(SUITE)),benches,$(SUITE))

.PHONY: bench-compare
bench-compare: build  ## Measure beside kube-scheduler (COMPARE="basic mixed" for some scenarios); needs Go
	$(TOOLS)
	mkdir -p build/bench
	(cd benches/peer && go build -o ../../build/bench/peer .)
	$(BIN)/python -m benches.compare --json build/bench/compare.json $(COMPARE)

.PHONY: bench-growth
bench-growth: build  ## Measure the growth with the number of nodes and draw it into docs/growth.svg
	$(BIN)/python -m pip install --quiet --group plots
	mkdir -p build/bench
	$(BIN)/python -m benches.growth build/bench/growth.json
	$(BIN)/python -m benches.plot build/bench/growth.json docs/growth.svg

.PHONY: parity
parity: build $(VENV)/tools  ## Compare with the real kube-scheduler on N scenarios of each tier; needs Go
	$(TOOLS)
	mkdir -p build/parity
	(cd tests/parity/oracle && go build -o ../../../build/parity/oracle .)
	for tier in A B; do $(BIN)/python -m tests.parity.run --tier "$$tier" --count $(N); done

.PHONY: mutations
mutations: $(VENV)/tools  ## Show that the parity suite sees a mistake in each plugin
	$(TOOLS); $(BIN)/maturin build --profile fast --features mutations --out build/mutations
	$(TOOLS); "$$PYTHON" -m venv --clear build/mutations/venv
	$(BIN)/python -m pip --python build/mutations/venv/bin/python install --quiet --group dev build/mutations/*.whl
	build/mutations/venv/bin/python -m tests.parity.mutations

.PHONY: parity-descheduler
parity-descheduler: build $(VENV)/tools  ## Compare with the real descheduler on N scenarios; needs Go
	$(TOOLS); $(BIN)/python -m tests.descheduler.differential.run --count $(N)

.PHONY: guarded-descheduler
guarded-descheduler: build  ## Compare guarded with compat mode on N random clusters
	$(BIN)/python -m tests.descheduler.guarded.measure --count $(N)

.PHONY: live-servers
live-servers: build $(VENV)/tools  ## Build the control plane that the live tests start; needs Go
	$(TOOLS); $(BIN)/python -m tests.live.build

.PHONY: bench-live
bench-live: live-servers  ## Drain N pods of a real API server, beside kube-scheduler (LIVE="--pods 5000 --rounds 3")
	$(TOOLS); $(BIN)/python -m tests.live.bench $(LIVE)

.PHONY: soak
soak: live-servers  ## Churn on a real API server for ten minutes (LIVE="--minutes 10")
	$(TOOLS); $(BIN)/python -m tests.live.soak $(LIVE)

.PHONY: clean
clean:  ## Remove everything that was built
	rm -rf $(VENV) build dist target python/podium/_core.abi3.so
