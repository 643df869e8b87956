SHELL := /bin/bash
PREFIX ?= /usr/local
DESTDIR ?=
# See swift_build in scripts/lib.sh.
TOOLS := SWIFT_DETERMINISTIC_HASHING=1 swift build --disable-build-manifest-caching --package-path Tools
RELEASE := Tools/.build/release/httpcache

# The release build has Swift's runtime inside, which Apple's systems have already, no debug information, and
# nothing that needs libcurl.
RELEASE_BUILD := $(TOOLS) -c release -debug-info-format none --disable-default-traits \
	$(if $(filter Linux,$(shell uname -s)),--static-swift-stdlib)

.PHONY: run build install uninstall deb help test loaded lint format checks api conformance conformance-all demo \
	examples replies fuzz fuzz-images fuzz-recordings hostile resets attack attack-check fleet torture bench bench-disk bench-doors bench-images bench-redis bench-check bench-serve simulate simulate-races simulate-fleet races peers docs \
	prerequisites clean

# Runs the demo of the command, built for debugging; with URL=https://… fetches that URL through your cache.
run: prerequisites
	HTTPCACHE_COMMIT="$$(scripts/commit.sh)" scripts/build-tools.sh --product httpcache
ifdef URL
	.build/debug/httpcache get --explain "$(URL)"
else
	.build/debug/httpcache demo
endif

# Builds the optimised command with its manual and completions, in Tools/.build/install.
build: prerequisites
	HTTPCACHE_COMMIT="$$(scripts/commit.sh)" $(RELEASE_BUILD) --product httpcache
	HTTPCACHE_COMMIT="$$(scripts/commit.sh)" $(RELEASE_BUILD) --product generate-manual
	scripts/stage.sh $(RELEASE) $(dir $(RELEASE))generate-manual

# Installs these files below PREFIX (/usr/local), or below DESTDIR for packagers. With sudo, run make build first.
install: $(if $(SUDO_USER),,build)
	@DESTDIR="$(DESTDIR)" PREFIX="$(PREFIX)" scripts/install.sh

# Deletes the files that make install made with these PREFIX and DESTDIR.
uninstall:
	@DESTDIR="$(DESTDIR)" PREFIX="$(PREFIX)" scripts/install.sh --remove

# Makes a Debian package, .build/httpcache_VERSION_ARCHITECTURE.deb, for machines without Swift.
deb:
	@scripts/prerequisites.sh dpkg-dev
	$(MAKE) --no-print-directory build
	scripts/deb.sh

# Lists the targets.
help:
	@awk '/^# / { text = text " " substr($$0, 3); next } \
	  text && /^[a-z-]+:/ { sub(/:.*/, ""); printf "%-16s%s\n", $$0, text } { text = "" }' Makefile

prerequisites:
	@scripts/prerequisites.sh

# Builds and runs all tests.
test: prerequisites
	@scripts/prerequisites.sh redis-server openssl
	scripts/test.sh

# Builds all tests, and runs them while LOAD (3) other programs keep a processor busy each.
loaded: prerequisites
	@scripts/prerequisites.sh redis-server openssl
	LOAD=$(or $(LOAD),3) scripts/loaded.sh

# Checks the format, and the words of comments.
lint:
	scripts/lint.sh

# Formats all Swift.
format:
	scripts/lint.sh --fix

# Checks the rules of the project that no compiler checks.
checks: prerequisites
	scripts/checks.sh

# Writes the public declarations of each module to docs/api, from what make test has built.
api: prerequisites
	scripts/api.py --write

# Runs the public tests of HTTP caches, with the debug build.
conformance: prerequisites
	scripts/build-tools.sh --product httpcache
	scripts/conformance.sh

# Runs the public tests of HTTP caches in all modes.
conformance-all: prerequisites
	scripts/build-tools.sh --product httpcache
	scripts/conformance.sh --all

# Runs the demo, and fails if an outcome is wrong.
demo: prerequisites
	scripts/build-tools.sh --product httpcache
	scripts/demo.sh

# Runs the programs of Tools/Examples.
examples: prerequisites
	scripts/build-tools.sh
	scripts/examples.sh

# Fuzzes the parsers and rules for FUZZ_SECONDS (60); crashes are kept in .build/fuzz.
fuzz: prerequisites
	scripts/fuzz.sh

# Checks COUNT (1000000) generated header sets from SEED (9111) on, built with optimisation.
hostile: prerequisites
	scripts/hostile.sh $(or $(COUNT),1000000) $(SEED)

# Reads replies of a Redis server at every split, BYTES (10⁹) bytes in all.
replies: prerequisites
	scripts/replies.sh $(or $(BYTES),1000000000) $(SEED)

# Attacks serve with all kinds of hostile clients for DURATION (1800) seconds, beside well-behaved ones.
attack: build
	@scripts/prerequisites.sh openssl python3
	Trials/attack.py $(RELEASE) $(or $(DURATION),1800)

# The same for a minute with the debug build, without times.
attack-check: prerequisites
	@scripts/prerequisites.sh openssl python3
	scripts/build-tools.sh --product httpcache
	scripts/attack-check.sh

# Runs three servers of a fleet while their Redis servers and the network are at fault, DURATION (10) seconds each.
fleet: build
	@scripts/prerequisites.sh redis-server python3
	Trials/fleet.py $(RELEASE) $(or $(DURATION),10)

# Ends COUNT (1000000) connections to serve after each of their first bytes.
resets: prerequisites
	scripts/resets.sh $(or $(COUNT),1000000)

# Tests the store on disk with kills, crashes, power losses and corruptions, plain and encrypted.
torture: prerequisites
	scripts/torture.sh
	scripts/torture.sh --encrypted

# Prints the tables of docs/performance.md.
bench: prerequisites
	scripts/bench.sh

# Measures the store on disk beside SQLite alone, with up to a million entries (6 GB of disk, minutes).
bench-disk: prerequisites
	scripts/bench.sh disk

# Prints the tables of images: hits in memory, and thumbnails beside vipsthumbnail and ImageMagick.
bench-images: prerequisites
	scripts/bench.sh images

# Prints questions a second to a tier on Redis, beside redis-benchmark.
bench-redis:
	@scripts/prerequisites.sh redis-server redis-tools python3
	scripts/bench.sh redis

# Fuzzes the image decoders for FUZZ_SECONDS (60); crashes are kept in .build/fuzz-images.
fuzz-images: prerequisites
	scripts/fuzz-driver.sh images 4096 Tests/HTTPCacheImagesTests/Fixtures

# Fuzzes the readers of HAR and WARC files and archives, likewise.
fuzz-recordings: prerequisites
	scripts/fuzz-driver.sh recordings 8192 Fuzzing/Recordings

# Prints the table of hits through each door.
bench-doors: prerequisites
	scripts/bench.sh doors

# Compares instructions and allocations with Benchmarks/thresholds.txt; those of serve, too, if make build was run.
bench-check:
	@scripts/prerequisites.sh valgrind
	scripts/bench.sh check

# Prints hit ratios of the eviction policy beside LRU, over the traces in TRACES (../shared/traces).
simulate:
	scripts/simulate.sh

# Simulates N (100000) interleavings, chosen by SEED (1) and the seeds after it, with a release build.
simulate-races: prerequisites
	scripts/simulate-races.sh --seed $(or $(SEED),1) --count $(or $(N),100000)

# The same with processes that share a tier; then each mistake in their protocol has to be found in N worlds.
simulate-fleet: prerequisites
	scripts/simulate-races.sh --seed $(or $(SEED),1) --count $(or $(N),100000) --fleet
	scripts/simulate-races.sh --mistakes --count $(or $(N),100000)

# Simulates interleavings for 45 s, with the build of the tests.
races: prerequisites
	scripts/simulate-races.sh short

# Measures fresh hits beside caches of other languages, which it installs.
peers: prerequisites
	scripts/peers.sh

# Measures hits of serve beside nginx and Varnish, one core each, by turns.
bench-serve: build
	@scripts/prerequisites.sh nginx-light varnish wrk nghttp2-client openssl
	scripts/bench.sh floor
	scripts/bench-serve.py $(RELEASE)

# Makes the documentation of every module with DocC, in .build/docs.
docs: prerequisites
	scripts/build-tools.sh
	scripts/docs.sh

# Deletes all builds.
clean:
	rm -rf .build Tools/.build Benchmarks/.build
