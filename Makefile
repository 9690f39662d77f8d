# A thin front for CMake: every target does its own set-up (tools/setup installs what is missing on Debian and Ubuntu).
#
#   make demo       build, obtain a small real model once, and let it write
#   make test       build and run every test; ends with one line "N passed, N failed"
#   make build      build/release/bin/mlxcel
#   make windows    build/windows/bin/mlxcel.exe, and its tests under Wine
#   make aarch64    build/linux-aarch64/bin/mlxcel, and its tests under qemu-user
#   make asan tsan  the tests with the sanitizers
#   make bench      decode and prefill of a 1B shape as shares of this machine's read bandwidth; inner loops alone
#   make format     lay out the sources; make lint: look for bugs and for breaches of the rules
#   make clean

PROMPT ?= Write two sentences about the sea.

.PHONY: build demo test windows aarch64 asan tsan bench format lint clean

build:
	@tools/setup build
	@tools/build release

demo:
	@tools/setup build demo
	@tools/build release
	@model=$$(python3 tools/fetch-demo-model.py) && \
	    build/release/bin/mlxcel generate -m "$$(printf '%s\n' "$$model" | tail -n 1)" -p "$(PROMPT)" -n 64

test:
	@tools/setup build demo
	@tools/build release
	@python3 tools/fetch-demo-model.py >/dev/null || echo "without the demo model: its tests are skipped by name"
	@tools/run-tests build/release

windows:
	@tools/setup build windows
	@tools/build windows
	@tools/run-tests build/windows

aarch64:
	@tools/setup build aarch64
	@tools/build linux-aarch64
	@tools/run-tests --golden sample build/linux-aarch64

asan tsan:
	@tools/setup build
	@tools/build $@
	@tools/run-tests --golden sample build/$@

bench:
	@tools/setup build
	@tools/build release
	build/release/bin/bench_decode
	build/release/bin/bench_op

format:
	@tools/setup lint
	@tools/lint format --fix

lint:
	@tools/setup build windows lint
	@tools/check_layers
	@tools/build --configure-only debug windows
	@tools/lint

clean:
	rm -rf build
