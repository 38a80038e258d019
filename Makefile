SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

PKGS ?=
TESTFLAGS ?=
BENCH ?= .
BENCHCOUNT ?= 1
BENCHTIME ?= 3s
FUZZTIME ?= 20s

.PHONY: help
help: ## Show this help
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo
	@echo "Variables: PKGS (test, bench); TESTFLAGS (test); BENCH, BENCHCOUNT, BENCHTIME, OLD, DOC (bench); FUZZTIME (fuzz); CORPUS (quality); TORTURE (torture)."

.PHONY: build
build: ## Build the static binary bin/compactord
	CGO_ENABLED=0 go build -trimpath -o bin/compactord ./cmd/compactord

# The steps of verify are a program of their own, so that nobody needs make for them.
VERIFY := go run -C tools ./verify

.PHONY: verify
verify: ## Run what every change must pass: lint, check-generate, test, python, typescript
	$(VERIFY)

.PHONY: verify-full
verify-full: ## Run everything at length: all recordings, the race detector everywhere, and fuzz
	$(VERIFY) full

.PHONY: test
test: ## Run the Go tests in short, what is concurrent under the race detector where there is a C compiler
	$(VERIFY) test $(PKGS) -- $(TESTFLAGS)

.PHONY: python
python: ## Check and test the Python client
	$(VERIFY) python

.PHONY: typescript
typescript: ## Check and test the TypeScript client
	$(VERIFY) typescript

.PHONY: lint
lint: ## Lint the Go code and the protos
	$(VERIFY) lint

.PHONY: fmt
fmt: ## Format the code of all languages, and the protos
	$(VERIFY) fmt

.PHONY: generate
generate: ## Generate the code of all languages from the protos
	$(VERIFY) generate

.PHONY: check-generate
check-generate: ## Fail if generated code is not what the protos generate
	$(VERIFY) check-generate

# One package at a time: packages that run side by side would measure each other.
.PHONY: bench
bench: ## Measure what calls take beside baselines: one table, bench.json, and bench.txt for OLD=file, which compares with an earlier one; DOC=docs/performance.md writes the table there
	go test -run '^$$' -bench '$(BENCH)' -benchmem -benchtime $(BENCHTIME) -count $(BENCHCOUNT) -p 1 -timeout 0 $(or $(PKGS),./e2e/load ./strategies ./summarizers/extractive ./session/bpe) > bench.txt || { cat bench.txt; exit 1; }
	go run -C tools ./benchtable -json "$(CURDIR)/bench.json" $(if $(DOC),-into "$(abspath $(DOC))") < bench.txt
	@if [ -n "$(OLD)" ]; then go tool -modfile=tools/go.mod benchstat "$(OLD)" bench.txt; fi

CORPUS ?= $(or $(COMPACTORD_CORPUS),../shared/corpus)

.PHONY: quality
quality: ## Measure what summaries hold on the recorded conversations in CORPUS
	go run ./cmd/compactord evaluate $(CORPUS) --recall-only --figures-only --quiet

TORTURE ?= 10s
ROUNDS ?= 100

.PHONY: torture
torture: ## Attack a daemon, and print what a bystander feels, and kill its upkeep; TORTURE is how long, ROUNDS how often, COMPACTORD_TORTURE_SEED the seed
	COMPACTORD_TORTURE=$(TORTURE) COMPACTORD_TORTURE_ROUNDS=$(ROUNDS) go test ./e2e/torture -count 1 -v -timeout 60m

.PHONY: fuzz
fuzz: ## Run each fuzz target for FUZZTIME
	FUZZTIME=$(FUZZTIME) $(VERIFY) fuzz

.PHONY: tools
tools: ## Build the pinned tools into .bin, and install those of the clients
	$(VERIFY) tools
