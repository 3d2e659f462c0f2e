# make demo: set up, build, and run Beagle on a bundled example.
# make test: set up, and run all tests.

CARGO ?= cargo
# PROFILE=dev takes what the tests have built already.
PROFILE ?= release
BUILT = target/$(if $(filter dev,$(PROFILE)),debug,$(PROFILE))
EXAMPLE = subjects/fields

.PHONY: all setup build demo test lint bench-ablation bench-changes bench-executor bench-explain bench-lane bench-mutants bench-race bench-sequences bench-solver clean

all: build

# Quick when nothing is missing.
setup:
	@scripts/setup

build: setup
	$(CARGO) build --profile $(PROFILE)

# Exit status 1 means that differences were found, which is what the example is for.
demo: build
	$(BUILT)/beagle diff $(EXAMPLE)/base.c $(EXAMPLE)/nested-range-shrinks/new.c \
	  --timeout 5s --stdin-text a:b:c:d -- '-f{1-3,2-4}'; test $$? -eq 1

test: setup
	$(CARGO) test --workspace

lint: setup
	$(CARGO) fmt --all -- --check
	$(CARGO) clippy --workspace --all-targets -- -D warnings

# Two releases of the sqlite3 amalgamation, over 200,000 lines each: time and memory by phase.
bench-changes: build
	scripts/bench-changes

# What tracing costs against native runs, in ratios.
bench-executor: setup
	$(CARGO) bench -p beagle --bench executor

# Runs a second in the fast lane, and random runs compared with fresh processes; takes an hour.
# SUBJECT=wrap RUNS=2000 takes seconds.
bench-lane: setup
	$(CARGO) bench -p beagle-lane --bench lane

# How often the faulty line of a mutant is among the first that explanations name; takes an hour.
# MUTANTS=14 takes some minutes.
bench-explain: setup
	$(CARGO) bench -p beagle --bench explain

# The questions of the subjects: who answers them, how fast, and what Z3 alone takes.
bench-solver: setup
	$(CARGO) bench -p beagle --bench solver

# How many mutants of the subjects Beagle finds, against random inputs and AFL++; takes hours, and goes on
# where it was if it is interrupted. MUTANTS=28 AFL=0 RANDOM_RUNS=10000 takes minutes.
bench-mutants: setup
	scripts/bench-mutants

# Who is first to find a difference: Beagle, a harness for libFuzzer, or AFL++; takes half an hour.
# PAIRS=4 RIVAL_SECONDS=10 takes a minute or two.
bench-race: setup
	scripts/bench-race

# What each technique saves on the pairs and on mutants of the subjects; takes hours.
# PAIRS=20 MUTANTS=10 takes some minutes.
bench-ablation: setup
	$(CARGO) bench -p beagle --bench ablation

# What going through several changes in order finds, against each change by itself; takes half an hour.
# SECONDS=5 SUBJECT=wrap takes a minute, STARTS=3 three searches of each pair.
bench-sequences: setup
	$(CARGO) bench -p beagle --bench sequences

clean:
	$(CARGO) clean
