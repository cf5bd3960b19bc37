# Each target is one line of what a person would type. "make demo" needs Go, git and time on the first run.

GO ?= go

.PHONY: build demo test test-fast test-nested bench generate lint

build: ## The program, as bin/kubehenge
	$(GO) build -o bin/kubehenge .

demo: build ## Everything on this machine, with a cluster that comes up
	bin/kubehenge lab demo

test: build ## Everything, end-to-end tests on a lab included
	bin/kubehenge lab build
	$(GO) vet ./...
	$(GO) test -race -timeout 60m ./...
	$(MAKE) test-nested

test-nested: ## Tests of the lab's modules that have some
	cd lab/guests && CGO_ENABLED=0 $(GO) test -trimpath ./...

test-fast: ## Without a lab, for daily work
	$(GO) test -skip '^TestMainLoop$$' ./...

bench: build ## Measured figures beside their targets
	bin/kubehenge lab bench

generate: ## CRDs and deep copies from api/v1alpha1
	$(GO) tool -modfile=api/controller-gen.mod controller-gen object crd paths=./api/v1alpha1 output:crd:dir=api/crds

lint: ## Formatting and what vet finds
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { gofmt -l $$(git ls-files '*.go'); exit 1; }
	$(GO) vet ./...
