.DEFAULT_GOAL := help
SHELL := /bin/sh
PYTHON := $(shell command -v python3 || command -v python)
BIN := .venv/bin

.PHONY: help run dev engine check format test test-fast kills fit-validation confounds answers reproduction watching bench statistics clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

python:
	@test -n "$(PYTHON)" || { echo "There is no python3 on this machine: install Python 3.11, 3.12 or 3.13." >&2; exit 2; }

run: python ## Install everything, run the default plan on the lab, print the tables
	@"$(PYTHON)" kvtui/bootstrap.py --run

dev: python ## Install kvtui with what checks and tests need
	@"$(PYTHON)" kvtui/bootstrap.py --dev

engine: python ## Install the lab's engine environment too
	@"$(PYTHON)" kvtui/bootstrap.py --dev --engine

check: dev ## Format, lint, types, layers, import hygiene
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/python -m pytest -q -p no:cacheprovider tests/test_imports.py

format: dev ## Format and mend what can be mended
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

test: engine ## The whole suite, the end-to-end run on real engines included
	$(BIN)/python -m pytest -n 2 --dist loadfile -m "not lab"
	$(BIN)/python -m pytest -m lab

test-fast: dev ## The suite without real engines
	$(BIN)/python -m pytest -n 2 --dist loadfile -m "not lab"

kills: engine ## Kill kvtui at 20 random moments of lab runs, and record what was lost (nothing)
	$(BIN)/python -m bench.kills

fit-validation: engine ## Predicted reuse against real engines, into docs/fit-validation.md
	$(BIN)/python -m bench.fit_validation

confounds: engine ## Plant confounds on the lab, and see whether each is found: docs/confounds.md
	$(BIN)/python -m bench.confounds

answers: engine ## What rounding and asking do: docs/answer-tolerances.md, docs/records/logprob-cost.json
	$(BIN)/python -m bench.answer_tolerances
	$(BIN)/python -m bench.logprob_cost

reproduction: engine ## A lab campaign of three repeats once more, against the one before: docs/reproduction.md
	$(BIN)/python -m bench.reproduction

watching: engine ## Compare TTFTs of lab runs with the app open and without
	$(BIN)/python -m bench.watching

bench: dev ## Accuracy of the time to first token
	$(BIN)/python -m bench.ttft_error

statistics: dev ## Simulate campaigns with known truth: docs/statistics.md
	$(BIN)/python -m bench.simulated_statistics --out docs/statistics.md

clean: ## Remove the virtual environment and caches
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis
