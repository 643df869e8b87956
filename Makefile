SHELL := /bin/bash
PREFIX ?= /usr/local
DESTDIR ?=
# See swift_build in scripts/lib.sh.
TOOLS := SWIFT_DETERMINISTIC_HASHING=1 swift build --package-path Tools
# The debug build that the tests make: scripts/lib.sh.
TOOLS_DEBUG := $(TOOLS) --scratch-path "$(CURDIR)/.build"
RELEASE := Tools/.build/release/httpcache

.PHONY: run build test lint format checks conformance demo install clean prerequisites fuzz bench \
	bench-check bench-disk hostile simulate simulate-races races docs examples torture peers

# Builds the command and shows what it does; with URL=https://… fetches that instead.
run: build
ifdef URL
	$(RELEASE) get --explain "$(URL)"
else
	$(RELEASE) demo
endif

build: prerequisites
	$(TOOLS) --product httpcache -c release

prerequisites:
	@scripts/prerequisites.sh

test: prerequisites
	scripts/test.sh

lint:
	scripts/lint.sh

format:
	scripts/lint.sh --fix

checks: prerequisites
	scripts/checks.sh

# Uses the debug build, which the tests have made already.
conformance: prerequisites
	$(TOOLS_DEBUG) --product httpcache
	scripts/conformance.sh

# In all the ways that the suite can be run.
conformance-all: prerequisites
	$(TOOLS_DEBUG) --product httpcache
	scripts/conformance.sh --all

demo: prerequisites
	$(TOOLS_DEBUG) --product httpcache
	scripts/demo.sh

# Runs the programs of Tools/Examples.
examples: prerequisites
	$(TOOLS_DEBUG)
	scripts/examples.sh

# Looks for inputs that break the rules, for FUZZ_SECONDS (60); crashes are kept in .build/fuzz.
fuzz: prerequisites
	scripts/fuzz.sh

# Checks generated header sets, COUNT (1000000) of them from SEED (9111) on, built with optimisation.
hostile: prerequisites
	scripts/hostile.sh $(or $(COUNT),1000000) $(SEED)

# Kills, crashes, power losses and corruptions of the store on disk, in the clear and encrypted; prints the
# figures of docs/evidence.md.
torture: prerequisites
	scripts/torture.sh
	scripts/torture.sh --encrypted

# Prints the tables of docs/performance.md.
bench: prerequisites
	scripts/bench.sh

# The store on disk beside SQLite alone, with 10,000, 100,000 and a million entries (6 GB of disk, minutes).
bench-disk: prerequisites
	scripts/bench.sh disk

# Compares instructions and allocations with Benchmarks/thresholds.txt.
bench-check:
	@scripts/prerequisites.sh valgrind
	scripts/bench.sh check

# Replays the traces in TRACES (../shared/traces) with the eviction policy: hit ratios beside LRU and the bound.
simulate:
	scripts/simulate.sh

# Interleavings that a seed chooses: N (100000) of them from SEED (1) on, with a release build.
simulate-races: prerequisites
	scripts/simulate-races.sh --seed $(or $(SEED),1) --count $(or $(N),100000)

# 30 s of them, with what the tests were built with.
races: prerequisites
	scripts/simulate-races.sh short

# Fresh hits beside OkHttp, go httpcache, hishel, requests-cache and CacheControl, which it installs.
peers: prerequisites
	scripts/peers.sh

# Makes the documentation of every module with DocC, in .build/docs.
docs: prerequisites
	$(TOOLS_DEBUG)
	scripts/docs.sh

install: build
	install -d "$(DESTDIR)$(PREFIX)/bin"
	install -m 755 $(RELEASE) "$(DESTDIR)$(PREFIX)/bin/httpcache"

clean:
	rm -rf .build Tools/.build Benchmarks/.build
