# Everything from nothing: `make demo`, `make test`. Each target sets up what it needs first; what
# is there already is left alone. See `make help`.
BIN := .venv/bin
RUNS ?= 50
SAMPLE ?= 300
FRAMES ?= 1000000
HISTORIES ?= 1100000 # one in twenty is not compared: no place in it for a wrong answer

.DEFAULT_GOAL := help
.PHONY: help setup docker demo test check test-long lint requirements requirement-edits test-the-tests soak nightly fuzz fuzz-listeners bench bench-beside bench-checkers bench-replicas bench-simulation

help: ## Say what there is
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 18

setup: ## .venv with all that requirements.lock names, and Java for Spark
	@scripts/bootstrap/setup.sh

docker: setup ## A Docker engine (started if none answers) and the reference node's image
	@scripts/bootstrap/docker.sh

demo: setup ## 3+3 local processes produce and consume under kill -9 and pause for 30 s; Spark judges
	@$(BIN)/kraftproof test --backend local --workload log-topics --nemesis kill,pause \
		--nodes 3+3 --time-limit 30 --engine spark

test: ## Every test, Docker included, with the time of each stage
	@started=$$(date +%s); scripts/bootstrap/setup.sh && \
		$(BIN)/python scripts/run_tests.py --started $$started

check: setup ## What changed against main, in 90 seconds: style, and the tests nearest to the change
	@$(BIN)/python -m scripts.check

test-long: docker ## Tests marked long, 1,000,000 small histories against every order, large ones; an hour
	@$(BIN)/python scripts/run_tests.py --only long && \
		$(BIN)/python -m tests.support.checkers.differential --histories $(HISTORIES) && \
		$(BIN)/python -m tests.support.checkers.scale

lint: setup ## Style only: ruff, mypy, import contracts, tests that pass without data
	@$(BIN)/python scripts/run_tests.py --only style

requirements: setup ## Each row of the requirements with the tests that carry it; fails if one lacks any
	@$(BIN)/python -m scripts.requirements

requirement-edits: setup ## Break each row of the requirements; its tests must go red (ROWS="595-01 ..."); half an hour
	@$(BIN)/python -m tests.requirements.edits $(ROWS)

test-the-tests: setup ## Empty SAMPLE=300 functions one by one; name those that no test misses; half an hour
	@$(BIN)/python -m scripts.empty_functions --sample $(SAMPLE) --seconds 1800

soak: docker ## RUNS=50 docker runs of 20 s, every node killed at once, half with small snapshots
	@$(BIN)/python scripts/soak.py --runs $(RUNS)

nightly: docker ## A night of tests: known bugs must be found, then new seeds and runs; half an hour
	@$(BIN)/kraftproof nightly $(if $(NIGHT),--night $(NIGHT))

fuzz: setup ## FRAMES=1000000 random and half-right frames to 3+3 local processes, at most an hour
	@$(BIN)/kraftproof fuzz --backend local --frames $(FRAMES) --time-limit 3600

fuzz-listeners: setup ## FRAMES=1000000 hostile frames to each kind of listener, before and after the login
	@KRAFTPROOF_TEST_LONG=1 KRAFTPROOF_HOSTILE_FRAMES=$(FRAMES) $(BIN)/pytest -q -s -m long \
		tests/node/server/security/test_hostile_clients.py \
		tests/node/server/security/test_hostile_users.py

bench: docker ## createTopics a second, failover, start-up and memory, in containers
	@$(BIN)/python -m bench.cluster

bench-beside: docker ## The same beside real Kafka, in turns, 5 rounds; half an hour; a page (Maven)
	@$(BIN)/python -m bench.cluster --beside apache-kafka --out docs/benchmarks/cluster.md

bench-replicas: docker ## Produce, consume, failover and memory of replicas, beside real Kafka; 20 minutes; a page (Maven)
	@$(BIN)/python -m bench.replicas --beside apache-kafka --out docs/benchmarks/replicas.md

bench-checkers: setup ## Our checkers beside Porcupine and porcupine-rs: a page (go, cargo; RESUME=1 goes on)
	@$(BIN)/python -m bench.checkers --out docs/benchmarks/checkers.md $(if $(RESUME),--resume)

bench-simulation: setup ## Simulated seconds a CPU-second, beside Kafka's own, and memory: a page (Maven, JDK)
	@$(BIN)/python -m bench.simulation
