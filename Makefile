# Each target is one line of what a person would type. "make demo" needs Go, git and time on the first run.

GO ?= go

# Without cgo, but for the race detector, which needs it: with it Go's package plugin comes in by the kustomize library, for which the
# linker keeps every method of every type. That is a fifth of the program, and a C linker is slow.
export CGO_ENABLED = 0

# The page is built when one of its sources is newer than it.
web := appliance/web
web-sources := $(shell find $(web) -path $(web)/node_modules -prune -o -path $(web)/dist -prune -o -path $(web)/e2e -prune -o -type f -print)

.PHONY: build web demo test test-full test-fast test-tools node bench generate lint

build: web ## The program, as bin/kubehenge
	$(GO) build -o bin/kubehenge .

web: $(web)/dist/index.html ## The page that the program carries; needs Node and npm

$(web)/dist/index.html: $(web-sources) $(web)/node_modules/.package-lock.json
	cd $(web) && npm run --silent build

$(web)/node_modules/.package-lock.json: $(web)/package-lock.json | node
	cd $(web) && npm ci --silent --no-audit --no-fund
	@touch $@

demo: build ## Everything on this machine, with a cluster that comes up
	bin/kubehenge lab demo

# The end-to-end tests are the tests of this package. They come last and alone, since they keep both cores busy.
end-to-end := ./lab
# Those that take many minutes more, and memory for real API servers in the simulated machines.
long := TestCorner|TestRealGuests|TestVolumes|TestHooks|TestProxmox8
others = $$($(GO) list ./... | grep -v 'kubehenge.dev/lab$$')

labs := -skip '^($(long))$$'

test: test-tools lint build ## Everything, end-to-end tests on a lab included
	cd $(web) && npm test --silent
	CGO_ENABLED=1 $(GO) test -race -timeout 30m $(others)
	cd lab/guests && $(GO) test -trimpath ./...
	bin/kubehenge lab build
	CGO_ENABLED=1 $(GO) test -race -timeout 80m -v $(labs) $(end-to-end)

test-tools: node ## What the tests of the page need: a browser is looked for, Playwright fetched
	@command -v chromium >/dev/null || { echo "The tests of the page need a browser: install chromium (Debian: apt-get install chromium)."; exit 1; }
	cd $(web)/e2e && npm ci --silent --no-audit --no-fund

node: ## Says what to install where Node is missing or too old for the page
	@command -v npm >/dev/null && node -e 'const [a, b] = process.versions.node.split("."); process.exit(a > 20 || (a == 20 && b >= 19) ? 0 : 1)' || \
		{ echo "The page is built with Node.js 20.19 or newer, and npm: install them (https://nodejs.org, or Debian 13: apt-get install nodejs npm)."; exit 1; }

# A lab waits more than it works, so that three of them share two cores.
test-full: labs := -parallel 3
test-full: test ## And the long end-to-end tests

test-fast: ## Without a lab, for daily work
	$(GO) test $(others)

bench: build ## Measured figures beside their targets
	bin/kubehenge lab bench

generate: ## CRDs and deep copies from api/v1alpha1, and those of the lab's stand-in for capmox
	$(GO) tool -modfile=api/controller-gen.mod controller-gen object crd paths=./api/v1alpha1 output:crd:dir=api/crds
	$(GO) generate ./lab/capmox/...

lint: ## Formatting; go test runs vet
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { gofmt -l $$(git ls-files '*.go'); exit 1; }
