SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

BIN := $(CURDIR)/.bin
PKGS ?= ./...
TESTFLAGS ?=
BENCH ?= .
BENCHCOUNT ?= 1
FUZZTIME ?= 20s

.PHONY: help
help: ## Show this help
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo
	@echo "Variables: PKGS, TESTFLAGS (test); BENCH, BENCHCOUNT, OLD (bench); FUZZTIME (fuzz)."

.PHONY: build
build: ## Build the static binary bin/compactord
	CGO_ENABLED=0 go build -trimpath -o bin/compactord ./cmd/compactord

.PHONY: verify
verify: lint check-generate test ## Run everything a change must pass: lint, check-generate, test

# The race detector needs cgo. Its absence is printed, so that a green run is never taken for more than it was.
.PHONY: test
test: ## Run all tests, with the race detector where there is a C compiler
	@if command -v "$$(go env CC | cut -d' ' -f1)" >/dev/null; then \
		export CGO_ENABLED=1; race=-race; \
	else \
		echo "race detector off: no C compiler found"; export CGO_ENABLED=0; race=; \
	fi; \
	go test $$race -shuffle=on -count=1 $(TESTFLAGS) $(PKGS)

.PHONY: lint
lint: $(BIN)/golangci-lint $(BIN)/buf ## Lint the Go code and the protos
	$(BIN)/buf lint
	$(BIN)/buf format --diff --exit-code proto
	$(BIN)/golangci-lint run

.PHONY: fmt
fmt: $(BIN)/golangci-lint $(BIN)/buf ## Format the Go code and the protos
	$(BIN)/buf format --write proto
	$(BIN)/golangci-lint fmt

GENERATORS := $(BIN)/buf $(BIN)/protoc-gen-go $(BIN)/protoc-gen-go-grpc

.PHONY: generate
generate: $(GENERATORS) ## Generate the Go stubs from the protos
	$(BIN)/buf generate

# In a copy, so that a check never changes the tree; without the old stubs, so that those of a removed proto show up.
.PHONY: check-generate
check-generate: $(GENERATORS) ## Fail if the committed stubs are not what the protos generate
	@tmp=$$(mktemp -d); trap 'rm -rf "$$tmp"' EXIT; \
	cp -R buf.yaml buf.gen.yaml proto third_party "$$tmp"; \
	find "$$tmp/proto" -name '*.pb.go' -delete; \
	ln -s $(BIN) "$$tmp/.bin"; \
	(cd "$$tmp" && .bin/buf generate); \
	if ! diff -rq proto "$$tmp/proto"; then \
		echo "generated code is stale: run 'make generate', delete stubs whose .proto is gone, and commit" >&2; \
		exit 1; \
	fi

# One package at a time: packages that run side by side would measure each other.
.PHONY: bench
bench: $(BIN)/benchstat ## Run the benchmarks into bench.txt; OLD=file compares with an earlier one
	go test -run '^$$' -bench '$(BENCH)' -benchmem -count $(BENCHCOUNT) -p 1 $(PKGS) | tee bench.txt
	@if [ -n "$(OLD)" ]; then $(BIN)/benchstat "$(OLD)" bench.txt; fi

# go test fuzzes one target of one package at a time.
.PHONY: fuzz
fuzz: ## Run each fuzz target for FUZZTIME
	@for dir in $$({ grep -rlE '^func Fuzz' --include='*_test.go' . || true; } | xargs -r -n1 dirname | sort -u); do \
		for target in $$(grep -hoE '^func Fuzz[A-Za-z0-9_]*' "$$dir"/*_test.go | cut -d' ' -f2); do \
			echo "$$dir $$target"; \
			go test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) "$$dir"; \
		done; \
	done

.PHONY: tools
tools: $(addprefix $(BIN)/,buf protoc-gen-go protoc-gen-go-grpc golangci-lint benchstat grpcurl) ## Build the pinned tools into .bin

# Moved into place when whole: an interrupted or concurrent build must not leave half a tool behind.
$(BIN)/%: tools/go.mod tools/go.sum
	@echo "building $* (once; the first build takes a few minutes)"
	@pkg=$$(cd tools && go list tool | grep '/$*$$'); \
	cd tools && CGO_ENABLED=0 go build -trimpath -buildvcs=false -o $@.$$$$ "$$pkg" && mv $@.$$$$ $@
