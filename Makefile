# Everything starts here: `make bench` measures and publishes, `make test` checks the project.

VENV := .venv
PYTHON ?= $(firstword $(foreach v,3.11 3.12 3.13,$(shell command -v python$(v) 2>/dev/null)))
MACHINE ?=
TORCH ?= newest
CASES ?=
MODELS ?=
COMPILED ?=
RUNS ?= 3
COMPARISONS ?= 2
REPEATS ?= 1
BEFORE ?= HEAD~1
AFTER ?= HEAD
STRICT ?=
RUN := $(VENV)/bin/python -m torchspeed.watch.jobs
# Through the environment, so that a pattern's quotes and bars reach the driver as they are.
export MACHINE TORCH CASES MODELS BEFORE AFTER
OPTIONS := --machine "$$MACHINE" --cases "$$CASES"

.PHONY: bench bench-full nightly compare calibrate planted-slowdown publish preview compare-peers screenshots test lint setup setup-test clean help

help: ## what can be made
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 20

bench: setup ## measure HEAD with the newest torch pair, the short set, and publish
	@$(RUN) bench --torch "$$TORCH" $(OPTIONS)

bench-full: setup ## measure HEAD with every torch pair, every case, and publish
	@$(RUN) bench --full --torch all $(OPTIONS)

nightly: setup ## measure every commit of main that is not measured yet, and publish
	@$(RUN) nightly $(OPTIONS)

compare: setup ## is AFTER slower than BEFORE: two commits, or torch releases, side by side
	@$(RUN) compare --before "$$BEFORE" --after "$$AFTER" $(if $(STRICT),--fail-if-slower) --torch "$$TORCH" $(OPTIONS)

calibrate: setup ## measure HEAD against itself: how noisy this machine is, and what hurts
	@$(RUN) calibrate --runs $(RUNS) --comparisons $(COMPARISONS) --torch "$$TORCH" $(OPTIONS)

publish: setup ## write the site from the stored results
	@$(VENV)/bin/asv publish --no-pull

preview: setup ## serve the site on this machine
	@$(VENV)/bin/asv preview

compare-peers: setup-test ## time our models against naive ports and torch.nn, side by side
	@$(VENV)/bin/python -m tools.compare_peers $(if $(COMPILED),--compiled) -- $$MODELS

planted-slowdown: setup ## plant 5 % and 10 % of extra work in commits, measure, see what is found
	@$(VENV)/bin/python -m tools.planted_slowdown --repeats $(REPEATS) --torch "$$TORCH" $(OPTIONS)

screenshots: setup-test ## take the README's pictures of the published site
	@$(VENV)/bin/python tests/browser/screenshots.py html docs/images

test: setup-test lint ## lint, types and all tests
	@$(VENV)/bin/python -m pytest

lint: setup-test ## ruff and mypy
	@$(VENV)/bin/ruff check .
	@$(VENV)/bin/ruff format --check .
	@$(VENV)/bin/mypy

setup: $(VENV)/.watch ## what measuring and publishing need (without torch: asv installs that)

setup-test: $(VENV)/.test ## what the tests need on top: one torch pair, pytest, ruff, mypy

clean: ## remove what was built here; results stay
	rm -rf $(VENV) .asv build .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find html -mindepth 1 -not -name .gitignore -delete

$(VENV)/.watch: pyproject.toml
	@sh .ci/venv $(VENV) "$(PYTHON)" watch
	@touch $@

$(VENV)/.test: pyproject.toml
	@sh .ci/venv $(VENV) "$(PYTHON)" watch,train,test
	@touch $@ $(VENV)/.watch
