# Every target works on a fresh machine with Go, git, make and bash. What is
# built is cached: testcluster/bin holds the control plane and Helm, bin ours.
SHELL       := /bin/bash
.DEFAULT_GOAL := build

VERSION     := $(shell sed -n 's/^version: *"\{0,1\}\([^"]*\)"\{0,1\}$$/\1/p' plugin.yaml 2>/dev/null || echo 0.0.0)
LDFLAGS     := -s -w -X github.com/kubectl-release/kubectl-release/internal/command.Version=$(VERSION)
GOLANGCI    := v2.15.0
# The race detector needs a C compiler; tools installs one where that can be done.
RACE         = $(shell command -v gcc >/dev/null && echo -race)
CHARTS      ?= ../shared/charts
CLUSTER_BIN := testcluster/bin

.PHONY: build demo test unit lint conformance bench cluster testcluster tools generate clean

build: ## the program: bin/kubectl-release
	@mkdir -p bin
	CGO_ENABLED=0 go build -trimpath -ldflags '$(LDFLAGS)' -o bin/kubectl-release .

testcluster: ## the control plane, kubectl, helm 3 and helm 4 (about six minutes the first time)
	go run -C testcluster ./build

demo: build testcluster ## plan, apply, upgrade, a failing atomic upgrade rolled back, uninstall
	PATH="$(CURDIR)/bin:$(CURDIR)/$(CLUSTER_BIN):$$PATH" demo/demo.sh

test: build testcluster tools lint ## every test, on a real control plane
	go run -C testcluster ./build conftest gojq
	CGO_ENABLED=$(if $(RACE),1,0) go test $(RACE) -shuffle=on -tags cluster -timeout 40m ./...
	go test -C testcluster -shuffle=on -timeout 15m ./...

unit: ## the tests that need no control plane
	go test $(RACE) -shuffle=on ./plan/... ./apply/... ./chartload/... ./templating/... ./releasestore/... ./internal/...

lint: bin/golangci-lint-$(GOLANGCI) ## linters; they hold the import rule
	bin/golangci-lint-$(GOLANGCI) run ./...

bin/golangci-lint-$(GOLANGCI):
	@echo "building golangci-lint $(GOLANGCI) (once)"
	@mkdir -p bin
	CGO_ENABLED=0 GOBIN=$(CURDIR)/bin go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI)
	@mv bin/golangci-lint $@

conformance: build testcluster ## compare rendering with Helm 4.3.1 over a folder of charts (CHARTS=dir)
	go run -C conformance . --charts $(abspath $(CHARTS)) $(addprefix --cases ,$(wildcard $(abspath $(CHARTS))/cases.tsv)) \
	  --helm $(CURDIR)/$(CLUSTER_BIN)/helm4 --ours $(CURDIR)/bin/kubectl-release

cluster: testcluster ## a control plane in the foreground; prints its kubeconfig
	$(CLUSTER_BIN)/testcluster start

generate: ## the CLI reference and the plan's JSON schema in docs/
	go generate ./...

tools:
	@command -v gcc >/dev/null || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null \
	  && echo "installing gcc for the race detector" && apt-get -qq update && apt-get -qq install -y gcc libc6-dev >/dev/null; } \
	  || echo "no C compiler: tests run without the race detector"

clean:
	rm -rf bin $(CLUSTER_BIN)
