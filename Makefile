# Boxoffice: build, run, prove. `make` alone lists the targets.

SHELL := /bin/bash -o pipefail

SEEDS        ?= 20000
FIRST        ?= 1
ONSALE_FLAGS ?= --tickets=20000 --types=3 --buyers=60000 --shape=ramp --ramp=10s --rate=800 --duration=85s
CRASH_FLAGS  ?= --tickets=20000 --buyers=15000 --rate=150 --duration=100s
SEATS_FLAGS  ?=
CLUSTER_FLAGS ?= --nodes=3
CHAOS_FLAGS  ?=
VIEWERS_FLAGS ?=
WEBHOOKS_FLAGS ?=
FUZZ_TIME    ?= 10m
CHECKS       ?= 2000
FACTS_FLAGS  ?= --buyers=20000 --rate=80
LINT         := bin/golangci-lint
DEPLOY_TOOL  := go -C deploy/tools tool
CHART        := $(CURDIR)/deploy/helm/boxoffice

.DEFAULT_GOAL := help
.PHONY: help build run cluster test race page-test limits security timing sim bench onsale crash logins seats viewers webhooks chaos kafka kafka-test facts poison extremes api-fuzz fuzz lint deploy-lint verify

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## build bin/boxoffice
	CGO_ENABLED=0 go build -trimpath -o bin/boxoffice ./cmd/boxoffice

run: build ## one node with a private Postgres; everything it keeps is in ./data
	./bin/boxoffice

cluster: build ## three nodes, their Postgres and a balancer on this machine; CLUSTER_FLAGS
	./bin/boxoffice cluster $(CLUSTER_FLAGS)

test: ## all tests, on a real Postgres
	go test -timeout 20m ./...

race: ## all tests under the race detector
	CGO_ENABLED=1 go test -race -timeout 20m ./...

page-test: ## the page of seats in a headless Chromium, which it installs if it may; pictures in out/seats
	@command -v chromium >/dev/null || { apt-get update -q && apt-get install -y -q --no-install-recommends chromium fonts-dejavu-core; }
	go test ./cmd/boxoffice/e2e/pages -run '^TestPage$$' -v -count=1 -args -quiet | grep -v '^ *==='

limits: ## every rate and velocity rule, spent by every credential and variant, counted
	go test ./edge/server ./cmd/boxoffice/e2e/security -run 'RulesBindWhatTheyName' -v -count=1 | grep -E 'limits:|velocity:|FAIL|panic|^ok'

security: limits ## the security suite, with its cases counted by route; the rules' suite
	go test ./cmd/boxoffice/e2e/security -run 'TestSecurity|TestPublicSecrets|TestTiers|TestCanaries' -v -count=1 | grep -v '^ *\(===\|--- PASS\)'

timing: ## whether answers tell by their time who has an account (minutes)
	go test ./cmd/boxoffice/e2e/security -run TestTiming -v -count=1 -timeout 20m -args -timing=1000

sim: ## the simulator over SEEDS=20000 seeds from FIRST=1 on
	go test ./cluster/sim -run TestSim -v -count=1 -timeout 3h -args -seeds=$(SEEDS) -first=$(FIRST) | grep -v '^ *==='

bench: build ## orders/s and CPU per order: ceiling, ours, row locks; scans, holds
	go run ./loadtest/bench

onsale: build ## a rush on a node of its own, with an audit; ONSALE_FLAGS
	./bin/boxoffice loadtest onsale --out=out/onsale $(ONSALE_FLAGS)

crash: build ## the same under kill -9 of node and Postgres; CRASH_FLAGS
	./bin/boxoffice loadtest crash --out=out/crash $(CRASH_FLAGS)

chaos: build ## a cluster injured in all ways for 10 minutes: kills, stalls, Postgres, partitions, with an audit; CHAOS_FLAGS
	./bin/boxoffice loadtest chaos --out=out/chaos $(CHAOS_FLAGS)

logins: build ## what 200 parallel logins cost the orders of an on-sale
	./bin/boxoffice loadtest logins --out=out/logins

seats: build ## 2,000 shoppers after the seats of an arena, 10,000 viewers, with an audit; SEATS_FLAGS
	./bin/boxoffice loadtest seats --out=out/seats $(SEATS_FLAGS)

viewers: build ## 20,000 viewers of one map, with and without slow ones among them; VIEWERS_FLAGS
	./bin/boxoffice loadtest viewers --out=out/viewers $(VIEWERS_FLAGS)

webhooks: build ## 500 facts/s to 200 endpoints, 80 of which hang, fail, redirect or drip, with an audit; WEBHOOKS_FLAGS
	./bin/boxoffice loadtest webhooks --out=out/webhooks $(WEBHOOKS_FLAGS)

kafka: ## a real Kafka (Java 17; Maven Central the first time); .ci/kafka stop ends it
	@.ci/kafka start

kafka-test: ## the tests of Kafka against a real one
	.ci/kafka start --port 29092 --dir out/kafka-test
	BOXOFFICE_TEST_KAFKA=127.0.0.1:29092 go test ./persistence/follower/kafka -count=1; status=$$?; \
	.ci/kafka stop --dir out/kafka-test; exit $$status

facts: build ## every fact of 20,000 orders to its effect: consumers killed, Kafka away for 2 minutes; then without Kafka; FACTS_FLAGS
	./bin/boxoffice loadtest facts --out=out/facts $(FACTS_FLAGS)
	./bin/boxoffice loadtest facts --out=out/facts-off --kafka=off $(FACTS_FLAGS)

poison: build ## the same rush as onsale while 10,000 extreme requests arrive, with audits; ONSALE_FLAGS
	./bin/boxoffice loadtest poison --out=out/poison $(ONSALE_FLAGS)

extremes: ## the extremes of every field of every row, CHECKS=2000 times 10 of them drawn
	go test ./cmd/boxoffice/e2e/security -run '^TestExtremes$$' -v -count=1 -timeout 60m -rapid.checks=$(CHECKS)

api-fuzz: build ## schemathesis over the OpenAPI document, on a node of its own (network: PyPI); FUZZ_FLAGS
	.ci/api-fuzz $(FUZZ_FLAGS)

fuzz: ## feed FOLLOWER=readmodel|told|webhooks|mail|kafka, or each of them in turn, facts with extreme values for FUZZ_TIME=10m; FUZZ_SEED
	@for follower in $(if $(FOLLOWER),$(FOLLOWER),readmodel told webhooks mail kafka); do \
		go test ./edge/webhook -run 'TestPoison$$' -v -count=1 -timeout 0 -args -poison=$(FUZZ_TIME) -follower=$$follower $(if $(FUZZ_SEED),-poison-seed=$(FUZZ_SEED)) || exit 1; \
	done

lint: $(LINT) ## golangci-lint with .golangci.yml
	$(LINT) run ./...

deploy-lint: ## compose file, chart, rules and dashboard, by their own tools (minutes the first time: they are built)
	$(DEPLOY_TOOL) github.com/compose-spec/compose-go/v2/cmd -no-interpolation $(CURDIR)/deploy/compose.yaml >/dev/null
	$(DEPLOY_TOOL) promtool check config $(CURDIR)/deploy/prometheus/prometheus.yaml
	$(DEPLOY_TOOL) promtool check rules --lint=all --lint-fatal $(CURDIR)/deploy/prometheus/rules.yaml
	$(DEPLOY_TOOL) promtool test rules $(CURDIR)/deploy/prometheus/rules_test.yaml
	$(DEPLOY_TOOL) helm lint --strict --values $(CHART)/ci-values.yaml $(CHART)
	$(DEPLOY_TOOL) helm template boxoffice $(CHART) --values $(CHART)/ci-values.yaml | go -C deploy/tools run .
	$(DEPLOY_TOOL) helm template boxoffice $(CHART) --values $(CHART)/ci-values.yaml --set links.tls.existingSecret= --set networkPolicy.enabled=false --set monitoring.enabled=false | go -C deploy/tools run .
	go test ./deploy

verify: lint test ## lint, test, and a tidy go.mod: what must hold before a push
	go mod tidy -diff

$(LINT): .ci/tools/go.mod .ci/tools/go.sum
	@echo "building golangci-lint (minutes the first time)"
	go -C .ci/tools build -o ../../$@ github.com/golangci/golangci-lint/v2/cmd/golangci-lint
	@touch $@
