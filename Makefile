# Every target works on a fresh machine with Go, git, make and bash. Builds
# are cached: testcluster/bin holds the control plane and Helm, bin our programs.
SHELL       := /bin/bash
.DEFAULT_GOAL := build

VERSION     := $(shell sed -n 's/^version: *"\{0,1\}\([^"]*\)"\{0,1\}$$/\1/p' plugin.yaml 2>/dev/null || echo 0.0.0)
GOLANGCI    := v2.15.0
# The newest version that Go 1.26 can build.
GORELEASER  := v2.16.0
BENCHSTAT   := v0.0.0-20260908200009-22c9c6c9d4da
# The race detector needs a C compiler; tools installs one where it can.
RACE         = $(shell command -v gcc >/dev/null && echo -race)
CHARTS      ?= ../shared/charts
CLUSTER_BIN := testcluster/bin
FUZZTIME    ?= 20s
# Programs are built without cgo; tests without the race detector find their packages in the
# build cache.
export CGO_ENABLED := 0

.PHONY: build controller controller-image demo demo-controller test test-suites test-raced test-testcluster test-rest unit lint conformance dist platforms soak fuzz bench bench-controller profile benchstat cluster testcluster helms tools generate clean

build: ## the program: bin/kubectl-release
	@mkdir -p bin
	@go run -C testcluster ./build -o "$(CURDIR)/bin/kubectl-release" \
	  -X github.com/kubectl-release/kubectl-release/internal/command.Version=$(VERSION) "$(CURDIR)"

controller: ## the controller: bin/kubectl-release-controller
	@mkdir -p bin
	go build -ldflags "-s -w -X github.com/kubectl-release/kubectl-release/internal/controller.Version=$(VERSION)" \
	  -o bin/kubectl-release-controller ./controller

IMAGE       ?= bin/controller-image
controller-image: controller ## the controller's image for this machine's architecture, as an OCI layout in IMAGE; no base image is fetched
	@rm -rf $(IMAGE)
	go run ./internal/imagegen -program kubectl-release-controller -version $(VERSION) -commit "$$(git rev-parse HEAD)" \
	  -created "$$(TZ=UTC git log -1 --format=%cd --date=format-local:%Y-%m-%dT%H:%M:%SZ)" -out $(IMAGE) "$$(go env GOARCH)=bin/kubectl-release-controller"

testcluster: ## the control plane and kubectl (minutes the first time)
	@go run -C testcluster ./build -q testcluster

helms: ## Helm 3 and Helm 4, which the tests compare with (minutes the first time)
	@go run -C testcluster ./build -q helm3 helm4

demo: build ## a first plan right away; then, with a real control plane and registry: push, plan, apply, upgrade, a failing atomic upgrade, uninstall
	@PATH="$(CURDIR)/bin:$$PATH" e2e/demo/firstplan.sh
	@go run -C testcluster ./build -q testcluster registry
	@PATH="$(CURDIR)/bin:$(CURDIR)/$(CLUSTER_BIN):$$PATH" e2e/demo/demo.sh

demo-controller: build controller ## HelmReleases on a real control plane: install, upgrade, drift, a failing upgrade, an approval
	@go run -C testcluster ./build -q testcluster registry
	@PATH="$(CURDIR)/bin:$(CURDIR)/$(CLUSTER_BIN):$$PATH" e2e/demo/controller.sh

# Packages that do things concurrently are tested under the race detector, except for tests that only
# count or parse a lot (ALONE); make soak runs every test under it. The longest SUITES start first, one
# that keeps the processors busy (e2e, trust) beside one that mostly waits (flux, controller). The
# tag cluster is for tests on a control plane, browser for those in a browser.
RACED       := ./apply ./releasestore ./internal/cluster ./internal/engine ./internal/reconcile ./internal/source ./internal/retry
ALONE       := HasABudget$$|^TestBuiltinScopesAreTheTypes$$|^TestRecordsThatJustFit$$
SUITES      := ./e2e ./e2e/flux ./e2e/trust ./e2e/controller ./e2e/sources ./e2e/hostile
# A suite's tests run in parallel and keep more than one processor busy: more suites at a time than go's
# default, one per processor, would only wait for one another, until locks expire. What needs the race
# detector, and then the rest, runs beside them. The linters vet everything.
test: build testcluster helms tools ## every test, on a real control plane
	go run -C testcluster ./build distribution helm-controller conftest gojq
	@$(MAKE) --no-print-directory --keep-going --jobs 2 test-suites test-raced test-testcluster lint test-rest

test-suites:
	go test -vet=off -shuffle=on -tags cluster,browser -timeout 60m $(SUITES)

test-rest:
	go test -vet=off -shuffle=on -tags cluster,browser -timeout 60m $$(go list -tags cluster,browser ./... | grep -vxF "$$(go list -tags cluster,browser $(RACED) $(SUITES))")

test-raced:
	CGO_ENABLED=$(if $(RACE),1,0) go test $(RACE) -p 2 -vet=off -shuffle=on -tags cluster,browser -timeout 60m -skip '$(ALONE)' $(RACED)
	go test -p 2 -vet=off -shuffle=on -timeout 60m -run '$(ALONE)' $(RACED)

test-testcluster:
	go test -C testcluster -shuffle=on -timeout 15m ./...

unit: ## the tests that need no control plane
	CGO_ENABLED=$(if $(RACE),1,0) go test $(RACE) -shuffle=on ./...

lint: bin/golangci-lint-$(GOLANGCI) ## linters; they enforce the import rule
	bin/golangci-lint-$(GOLANGCI) run ./...

bin/golangci-lint-$(GOLANGCI):
	@echo "building golangci-lint $(GOLANGCI) (once)"
	@mkdir -p bin
	CGO_ENABLED=0 GOBIN="$(CURDIR)/bin" go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI)
	@mv bin/golangci-lint $@

conformance: build helms ## compare rendering with Helm 4.3.1 for a folder of charts (CHARTS=dir)
	go run -C e2e/conformance . --charts "$(abspath $(CHARTS))" $(if $(wildcard $(CHARTS)/cases.tsv),--cases "$(abspath $(CHARTS))/cases.tsv") \
	  --helm "$(CURDIR)/$(CLUSTER_BIN)/helm4" --ours "$(CURDIR)/bin/kubectl-release"

bench: build testcluster helms ## time and memory side by side with Helm 4.3.1, and requests for charts; OUT=file keeps the runs for benchstat
	go run -C e2e/conformance ./cmd/bench --helm "$(CURDIR)/$(CLUSTER_BIN)/helm4" --ours "$(CURDIR)/bin/kubectl-release" \
	  $(if $(wildcard $(CHARTS)),--charts "$(abspath $(CHARTS))") $(if $(OUT),--out "$(abspath $(OUT))")
	go test -tags cluster -timeout 3h ./e2e/sources ./e2e/flux ./e2e/trust ./e2e/scale ./e2e/controller ./e2e ./internal/cluster -run '^$$' -bench 'Sources|Fleet|Speed|Scale|List|Start' -benchtime 1x

bench-controller: testcluster ## the controller with 1,000 and 10,000 HelmReleases (an hour), into docs/bench.md
	go test -tags cluster -timeout 3h ./e2e/controller -run '^$$' -bench 'Idle|Scale' -benchtime 1x -update

profile: testcluster ## CPU and heap profiles of every operation with 1,000, 4,000 and 10,000 objects, in DIR
	go test -tags cluster -timeout 1h ./e2e/scale ./e2e/controller -run '^$$' -bench Profile -benchtime 1x -v -profiles "$(abspath $(or $(DIR),bin/profiles))"

benchstat: ## compare two files of make bench: OLD=file NEW=file
	go run golang.org/x/perf/cmd/benchstat@$(BENCHSTAT) $(OLD) $(NEW)

fuzz: build helms ## every fuzz target for FUZZTIME, and small random charts against Helm 4.3.1
	FUZZTIME=$(FUZZTIME) e2e/conformance/fuzz.sh

dist: bin/goreleaser-$(GORELEASER) helms ## the files of a release, for six platforms, in dist/, and their tests: archives, Helm's tarballs, packages, an image; from the last commit
	PLATFORM=$(PLATFORM) packaging/dist.sh bin/goreleaser-$(GORELEASER)
	go test -tags dist ./packaging

# GOGC is for the compiler, as in testcluster/build.
platforms: ## build for all six platforms, and run what can be run here
	@for platform in linux darwin windows; do for arch in amd64 arm64; do echo "building for $$platform/$$arch"; \
	  GOGC=400 GOOS=$$platform GOARCH=$$arch go build -tags urfave_cli_no_docs -o bin/platforms/$$platform-$$arch . || exit 1; done; done
	bin/platforms/$$(go env GOHOSTOS)-$$(go env GOHOSTARCH) version

bin/goreleaser-$(GORELEASER):
	@echo "building goreleaser $(GORELEASER) (once)"
	@mkdir -p bin
	CGO_ENABLED=0 GOBIN="$(CURDIR)/bin" go install github.com/goreleaser/goreleaser/v2@$(GORELEASER)
	@mv bin/goreleaser $@

soak: build testcluster helms tools ## everything in full (hours): the sweeps of e2e/trust/ and e2e/controller/, which rewrite the results in docs/trust.md, big charts, chart sources between Helm 3, Helm 4 and us, and every test under the race detector
	go test -tags cluster -timeout 12h ./e2e/trust -soak -update -bench Speed -benchtime 1x
	go test -tags cluster -timeout 2h ./e2e/controller -soak -update
	go test -tags cluster -timeout 2h $$(go list -tags cluster ./e2e/... | grep -v -e /trust -e /scale -e /controller) -soak
	CGO_ENABLED=$(if $(RACE),1,0) go test $(RACE) -tags cluster,browser -timeout 2h ./...

cluster: testcluster ## a control plane in the foreground; prints its kubeconfig
	$(CLUSTER_BIN)/testcluster start

generate: ## the CLI reference and the plan's JSON schema in docs/
	go generate ./...

tools: ## what the tests need from the system: a C compiler for the race detector, shells, gpg, a browser, PostgreSQL
	@install() { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && echo "installing $$*" && apt-get -qq update \
	  && apt-get -qq install -y --no-install-recommends "$$@" >/dev/null; }; \
	command -v gcc >/dev/null || install gcc libc6-dev || echo "no C compiler: tests run without the race detector"; \
	[ -n "$$(command -v zsh)" -a -n "$$(command -v fish)" -a -e /usr/share/bash-completion/bash_completion ] || install zsh fish bash-completion \
	  || echo "zsh, fish or bash-completion is missing: completion is not tested in it, and in CI that fails"; \
	command -v gpg >/dev/null || install gpg gpg-agent || echo "no gpg: the tests of signatures will fail"; \
	command -v chromium >/dev/null || install chromium || echo "no chromium: the test of the HTML page will fail"; \
	ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || install postgresql || echo "no PostgreSQL: the tests of HELM_DRIVER=sql will fail"

clean:
	rm -rf bin $(CLUSTER_BIN)
