# Boxoffice: build, run, prove. `make` alone lists the targets.

SHELL := /bin/bash -o pipefail

SEEDS        ?= 20000
FIRST        ?= 1
ONSALE_FLAGS ?= --tickets=20000 --types=3 --buyers=60000 --shape=ramp --ramp=10s --rate=800 --duration=85s
CRASH_FLAGS  ?= --tickets=20000 --buyers=15000 --rate=150 --duration=100s
ROOM_FLAGS   ?=
OVERLOAD_FLAGS ?=
MILLION_FLAGS ?=
SEATS_FLAGS  ?=
CLUSTER_FLAGS ?= --nodes=3
CHAOS_FLAGS  ?=
VIEWERS_FLAGS ?=
WEBHOOKS_FLAGS ?=
GATES_FLAGS  ?=
MONEY_FLAGS  ?=
TRANSFERS_FLAGS ?=
WAITLIST_FLAGS ?=
BOOKINGS_FLAGS ?=
BROADCAST_FLAGS ?=
FUZZ_TIME    ?= 10m
CHECKS       ?= 2000
FACTS_FLAGS  ?= --buyers=20000 --rate=80
LONGEST      := $(addprefix ./cmd/boxoffice/,e2e/pages e2e/security . e2e/money e2e/tickets e2e/orders e2e/outward e2e/people e2e/catalog) ./cluster/sim
LINT         := bin/golangci-lint
DEPLOY_TOOL  := go -C deploy/tools tool
CHART        := $(CURDIR)/deploy/helm/boxoffice

.DEFAULT_GOAL := help
.PHONY: help build run cluster test race pages pages-build pages-check page-test limits security timing sim sim-cluster bench onsale crash logins room overload million seats viewers webhooks gates money transfers waitlist bookings broadcast chaos kafka kafka-test facts poison extremes api-fuzz clients agents fuzz lint deploy-lint verify

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## build bin/boxoffice
	CGO_ENABLED=0 go build -trimpath -o bin/boxoffice ./cmd/boxoffice

run: build ## one node with a private Postgres; everything it keeps is in ./data
	./bin/boxoffice

cluster: build ## three nodes, their Postgres and a balancer on this machine; CLUSTER_FLAGS
	./bin/boxoffice cluster $(CLUSTER_FLAGS)

test: bin/gotestsum ## all tests, on a real Postgres; what this machine lacked a program for stands at the end
	@mkdir -p out && rm -f out/reruns
	bin/gotestsum --format=pkgname --jsonfile=out/tests.json $(RERUN) --packages="$(LONGEST) ./..." -- -timeout 90m $(TEST_FLAGS)

race: ## all tests under the race detector
	CGO_ENABLED=1 go test -race -timeout 20m ./...

page-test: ## the page of seats in a headless Chromium, which it installs if it may; pictures in out/seats
	@command -v chromium-headless-shell >/dev/null || { apt-get update -q && apt-get install -y -q --no-install-recommends chromium-headless-shell fonts-dejavu-core; }
	go test ./cmd/boxoffice/e2e/pages -run '^TestPage$$' -v -count=1 -args -quiet | grep -v '^ *==='

pages: ## buy in the shop in a headless Chromium, as people would, judged by axe; pictures in out/pages
	@command -v chromium-headless-shell >/dev/null || { apt-get update -q && apt-get install -y -q --no-install-recommends chromium-headless-shell fonts-dejavu-core; }
	@test -d edge/web/app/node_modules/axe-core || npm --prefix edge/web/app ci --ignore-scripts --no-audit --no-fund
	go test ./cmd/boxoffice/e2e/pages -skip '^Test(Page|Pictures)$$' -v -count=1 | grep -v '^ *==='

pictures: build ## take the pictures of README.md from a demo of its own
	@data=$$(mktemp -d); BOXOFFICE_LISTEN=127.0.0.1:18999 BOXOFFICE_DATA_DIR=$$data ./bin/boxoffice >$$data/log 2>&1 & node=$$!; \
	for i in $$(seq 100); do curl -sf http://127.0.0.1:18999/e/the-tempest-3 >/dev/null && break; sleep 0.3; done; \
	go test ./cmd/boxoffice/e2e/pages -run '^TestPictures$$' -count=1 -args -demo=http://127.0.0.1:18999; status=$$?; kill $$node; exit $$status

pages-build: ## build the pages into edge/web/dist (Node 20)
	cd edge/web/app && npm ci --ignore-scripts --no-audit --no-fund && npm run build

pages-check: pages-build ## the committed build is what the sources make, also in another folder, and types fit the API
	@test -z "$$(git status --porcelain edge/web/dist)" || { git status --short edge/web/dist; echo 'edge/web/dist is not what edge/web/app makes: make pages-build'; exit 1; }
	@copy=$$(mktemp -d) && cp -a edge/web/app $$copy/app && (cd $$copy/app && npm run build >/dev/null) && diff -r edge/web/dist $$copy/dist && rm -r $$copy
	cd edge/web/app && npm run check

limits: ## every rate and velocity rule, spent by every credential and variant, counted
	go test ./edge/server ./cmd/boxoffice/e2e/security -run 'RulesBindWhatTheyName' -v -count=1 | grep -E 'limits:|velocity:|FAIL|panic|^ok'

security: limits ## the security suite, with its cases counted by route; the rules' suite
	go test ./cmd/boxoffice/e2e/security -run 'TestSecurity|TestPublicSecrets|TestTiers|TestCanaries' -v -count=1 | grep -v '^ *\(===\|--- PASS\)'

timing: ## whether answers tell by their time who has an account (minutes)
	go test ./cmd/boxoffice/e2e/security -run TestTiming -v -count=1 -timeout 20m -args -timing=1000

sim-cluster: ## 1,000 nodes and 100,000 events in virtual time: what a change of members costs, and storms (3 seeds)
	go test ./cluster/sim/fleet -run TestFleet$$ -v -count=1 -timeout 1h -args -nodes=1000 -events=100000 | grep -v '^ *==='

sim: ## the simulator over SEEDS=20000 seeds from FIRST=1 on
	go test ./cluster/sim -run 'TestSim$$' -v -count=1 -timeout 3h -args -seeds=$(SEEDS) -first=$(FIRST) | grep -v '^ *==='

bench: build ## orders/s and CPU per order: ceiling, ours, row locks; scans, holds, reads of a map; searches, learners, an event's page on a slow line; an arena on a phone; 50,000 viewers of three nodes, and what a hot map sends them
	go run ./loadtest/bench
	go test ./cmd/boxoffice/e2e/catalog -run TestSearchRate -v -count=1 -timeout 30m -args -searched-events=100000 | grep -E 'goal|FAIL|^ok'
	go test ./cmd/boxoffice/e2e/tickets -run TestLearnerRate -v -count=1 -timeout 30m -args -enrolled=10000 | grep -E 'goal|FAIL|^ok'
	go test ./cmd/boxoffice/e2e/pages -run 'TestSlowLine|TestArenaOnAPhone' -v -count=1 | grep -E 'goal|FAIL|^ok'
	./bin/boxoffice loadtest viewers --out=out/viewers --nodes=3 --viewers=50000 --rate=2 --rounds=1 | grep -E 'goal: 4096|instead of|FOUND|audit'
	./bin/boxoffice loadtest viewers --out=out/viewers --nodes=3 --viewers=3000 --phase=60s --rounds=1 | grep -E 'goal: 2048|FOUND|audit'

onsale: build ## a rush on a node of its own, with an audit; ONSALE_FLAGS
	./bin/boxoffice loadtest onsale --out=out/onsale $(ONSALE_FLAGS)

crash: build ## the same under kill -9 of node and Postgres; CRASH_FLAGS. Then two sales on a disk that runs full, if a small one may be mounted
	./bin/boxoffice loadtest crash --out=out/crash $(CRASH_FLAGS)
	go test ./cmd/boxoffice -run '^TestDisk' -v -count=1 | grep -v '^ *==='

chaos: build ## a cluster injured in all ways for 10 minutes: kills, stalls, Postgres, partitions, with an audit; CHAOS_FLAGS, such as "--shards 2" for a journal of which one half is lost at a time, or "--former PROGRAM" for nodes of two releases
	./bin/boxoffice loadtest chaos --out=out/chaos $(CHAOS_FLAGS)

logins: build ## what 200 parallel logins cost the orders of an on-sale
	./bin/boxoffice loadtest logins --out=out/logins

room: build ## ten times what a node takes, without a waiting room and through one, with an audit; ROOM_FLAGS
	./bin/boxoffice loadtest room --out=out/room $(ROOM_FLAGS)

overload: build ## three times what a node takes, with nothing before it, with an audit; OVERLOAD_FLAGS
	./bin/boxoffice loadtest overload --out=out/overload $(OVERLOAD_FLAGS)

million: build ## a million orders for 400 areas, of which 93 % are refused as sold out, with an audit; MILLION_FLAGS
	./bin/boxoffice loadtest million --out=out/million $(MILLION_FLAGS)

seats: build ## 2,000 shoppers after the seats of an arena, 10,000 viewers, with an audit; SEATS_FLAGS
	./bin/boxoffice loadtest seats --out=out/seats $(SEATS_FLAGS)

viewers: build ## 20,000 viewers of one map, with and without slow ones among them; VIEWERS_FLAGS, such as "--nodes=3 --viewers=50000 --rate=2"
	./bin/boxoffice loadtest viewers --out=out/viewers $(VIEWERS_FLAGS)

webhooks: build ## 500 facts/s to 200 endpoints, 80 of which hang, fail, redirect or drip, with an audit; WEBHOOKS_FLAGS
	./bin/boxoffice loadtest webhooks --out=out/webhooks $(WEBHOOKS_FLAGS)

gates: build ## 100 devices let 20,000 people in, offline in turns, with wrong clocks and a node that is killed, with an audit; GATES_FLAGS
	./bin/boxoffice loadtest gates --out=out/gates $(GATES_FLAGS)

money: build ## 3,000 orders at three providers that fail in all ways, ten kills, then the books compared to the cent; MONEY_FLAGS
	./bin/boxoffice loadtest money --out=out/money $(MONEY_FLAGS)

transfers: build ## 10,000 tickets offered, claimed, taken back and scanned all at once at two nodes, with an audit; TRANSFERS_FLAGS
	./bin/boxoffice loadtest transfers --out=out/transfers $(TRANSFERS_FLAGS)

waitlist: build ## 500 tickets of a sold-out type come free while 2,000 wait, 50 a second pass by and the node is killed, with an audit; WAITLIST_FLAGS
	./bin/boxoffice loadtest waitlist --out=out/waitlist $(WAITLIST_FLAGS)

bookings: build ## 1,500 customers after 4,800 places of dates and slots, late money and three kills, with an audit; BOOKINGS_FLAGS
	./bin/boxoffice loadtest bookings --out=out/bookings $(BOOKINGS_FLAGS)

broadcast: build ## a broadcast to 5,000 attendees among the confirmations of 200 orders/s, and a kill, with an audit; BROADCAST_FLAGS
	./bin/boxoffice loadtest broadcast --out=out/broadcast $(BROADCAST_FLAGS)

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

clients: build bin/k6 ## clients of the OpenAPI document in TypeScript and Python: linted, made in out/clients, walked with; a sale with k6 (network: PyPI, npm)
	.ci/clients

agents: build ## an event sold out at /mcp by the Python SDK of the protocol, on a node of its own (network: PyPI)
	.ci/agents

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

bin/gotestsum: .ci/tools/go.mod .ci/tools/go.sum
	go -C .ci/tools build -o ../../$@ gotest.tools/gotestsum
	@touch $@

bin/versitygw: .ci/s3/go.mod .ci/s3/go.sum
	@echo "building an S3 server for tests (a minute the first time)"
	go -C .ci/s3 build -o ../../$@ github.com/versity/versitygw/cmd/versitygw
	@touch $@

bin/stripe-mock: .ci/stripe/go.mod .ci/stripe/go.sum
	@echo "building Stripe's mock for tests"
	go -C .ci/stripe build -o ../../$@ github.com/stripe/stripe-mock
	@touch $@

bin/k6: .ci/k6/go.mod .ci/k6/go.sum
	@echo "building k6 (minutes the first time)"
	go -C .ci/k6 build -o ../../$@ go.k6.io/k6
	@touch $@

$(LINT): .ci/tools/go.mod .ci/tools/go.sum
	@echo "building golangci-lint (minutes the first time)"
	go -C .ci/tools build -o ../../$@ github.com/golangci/golangci-lint/v2/cmd/golangci-lint
	@touch $@
