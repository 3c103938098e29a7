# Copyright 2026 The foveate authors. SPDX-License-Identifier: Apache-2.0
#
# The front door. Each target does its own set-up; the work is done by scripts/ and CMake's presets.
.NOTPARALLEL:
FUZZ_SECONDS ?= 300
PREFIX ?= /usr/local
CTEST := ctest --parallel $(shell nproc 2>/dev/null || echo 2)

help: ## this list
	@echo "make demo is the place to start."
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 24

demo: ## the article's experiment, computed by the engine; then, on a terminal, the page
	@scripts/demo

build: ## everything but the benchmarks, into build/release
	@scripts/setup test
	@scripts/build release

test: ## the tests: some twenty minutes, with those of the page in a browser
	@scripts/test

install: ## the library, the C interface and the command line, into PREFIX (/usr/local)
	@scripts/install "$(PREFIX)"

bench: ## foveate beside its peers, all rows: installs them (some GB), then most of an hour
	@scripts/bench

bench-quick: ## the same of a few rows, in three minutes once the peers are installed
	@scripts/bench --set quick --rounds 3 --seconds 0.3

bench-grid: ## the same of a grid of sizes
	@scripts/bench --set grid --peers unfused --rounds 5 --seconds 1

bench-engine: ## the benchmarks in C++ of the engine alone
	@scripts/setup bench
	@scripts/build bench
	@for b in build/bench/*_bench; do echo "== $$b"; $$b || exit 1; done

perf-check: ## instructions of fixed calls, compared with those kept: under a minute
	@scripts/perf-check

claims: ## docs/claims.md and the figures of the READMEs, measured anew: some four minutes
	@scripts/claims

format: ## format the sources
	@scripts/setup check
	@scripts/python-venv || [ $$? = 3 ]
	@scripts/format

format-check: ## say which sources are not formatted
	@scripts/setup check
	@scripts/python-venv || [ $$? = 3 ]
	@scripts/format --check

tidy: ## lint with clang-tidy
	@scripts/setup check
	@scripts/tidy

targets: build ## the engine's tests on each instruction set of this machine
	@scripts/targets

asan: ## the tests under AddressSanitizer and UndefinedBehaviorSanitizer
	@scripts/setup test
	@scripts/build asan
	@$(CTEST) --preset asan

ubsan: ## the tests under UndefinedBehaviorSanitizer
	@scripts/setup test
	@scripts/build ubsan
	@$(CTEST) --preset ubsan

tsan: ## the tests under ThreadSanitizer
	@scripts/setup test
	@scripts/build tsan
	@echo "skipped: tests labelled tbb (Debian's TBB is not instrumented; a std::thread executor stands in for it)"
	@$(CTEST) --preset tsan --label-exclude tbb

fuzz: ## each fuzzer for FUZZ_SECONDS (300)
	@scripts/setup check
	@scripts/fuzz $(FUZZ_SECONDS)

test-arm: ## the engine's tests on 64-bit ARM, emulated
	@scripts/test-arm

test-highway: ## the engine's tests with the newest Highway that Debian has; needs root
	@scripts/test-highway

package: ## Debian packages of the library and the command line, into build/package/packages
	@scripts/package

test-package: ## the packages in a clean root: installed, used, removed; needs root
	@scripts/test-package

npm-package: ## the npm package, into build/npm
	@scripts/npm-package

test-npm: ## the npm package installed in a project: in Node, in TypeScript, in Chromium
	@scripts/test-npm

check-all: format-check tidy test perf-check targets asan ubsan tsan fuzz test-arm test-highway test-package test-npm test-torch ## all of it: the long round

docs: ## the documentation as a site, into build/docs/site
	@scripts/docs

page-build: ## the interactive page into web/dist, for any web server; the next build embeds it
	@scripts/page

page-test: page-build ## the page's tests, and those of the engine as WebAssembly, in Node and Chromium
	@scripts/page-test

test-python: ## the tests of the Python package alone
	@scripts/python-test

test-torch: ## the tests of foveate.torch, with PyTorch and Transformers (4 GB), in check-all
	@scripts/test-torch

wheel: ## a wheel of the Python package into build/wheel, tried in a clean environment
	@scripts/wheel

clean: ## remove what was built
	@rm -rf build web/dist

.PHONY: $(shell sed -n 's/^\([a-z-]*\):.*/\1/p' Makefile)
