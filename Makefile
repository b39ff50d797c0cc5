# Everything starts here: `make bench` measures and publishes, `make test` checks the benchmarks and
# this repository's results, `make -C packages/asv-watch test` the tool.
# A target runs one command; `.venv/bin/asv-watch COMMAND --help` lists its options. `make`
# itself exits with 2 whenever a command fails (its last line has the status); a script that
# needs the status runs `make setup` and then `.venv/bin/asv-watch` itself.

VARIABLES := PYTHON MACHINE TORCH CASES COMPARISONS BEFORE AFTER STRICT PORT BUDGET
# A value reaches a command through the environment, as it was typed: make would expand `$$`
# in it, and a shell would run what is not quoted.
$(foreach name,$(VARIABLES),$(eval override $(name) := $$(value $(name))))
export $(VARIABLES)
# `$(call option,CASES,cases)`: the option --cases, where CASES is given.
option = $${$1:+"--$2=$$$1"}
MEASURED := $(call option,TORCH,release) $(call option,CASES,cases) $(call option,MACHINE,machine)
VENV := .venv
TOOL := packages/asv-watch
CHROMIUM := $(TOOL)/node_modules/.installed
WATCH := @$(VENV)/bin/python -m asv_watch.cli

.PHONY: missing bench bench-full nightly compare calibrate planted-slowdown publish preview screenshots test test-unit test-release lint setup setup-test clean help

help: ## what can be made
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 20

bench: setup ## measure HEAD with the newest torch pair, the short set, and publish
	$(WATCH) bench $(MEASURED)

bench-full: setup ## measure HEAD with every torch pair, every case, and publish
	$(WATCH) bench --full --release=all $(MEASURED)

nightly: setup ## measure the short set of every commit of main, for BUDGET=4h, and publish
	$(WATCH) nightly $(call option,BUDGET,budget) $(MEASURED)

compare: setup ## is AFTER slower than BEFORE: two commits, or torch releases, interleaved
	$(WATCH) compare $(call option,BEFORE,before) $(call option,AFTER,after) $${STRICT:+--fail-if-slower} $(MEASURED)

calibrate: setup ## compare HEAD with itself: how noisy this machine is
	$(WATCH) calibrate $(call option,COMPARISONS,comparisons) $(MEASURED)

publish: setup ## write the site from the stored results
	$(WATCH) publish

preview: setup ## serve the site until Ctrl-C
	@$(VENV)/bin/python -m http.server --bind 127.0.0.1 --directory html "$${PORT:-8000}"

planted-slowdown: setup ## compare HEAD with itself slowed by 3 %: is that found
	$(WATCH) calibrate --planted 3 $(call option,COMPARISONS,comparisons) $(MEASURED)

screenshots: setup-test $(CHROMIUM) ## take a picture of each view of the published site, in build/screenshots
	@cd $(TOOL) && $(CURDIR)/$(VENV)/bin/python -m tests.browser.screenshots $(CURDIR)/html $(CURDIR)/build/screenshots

# Tests wait for processes, disks and the network, so four at a time keep two cores busy. Lint and types are one of them.
test: missing setup-test ## lint, types and all tests
	@$(VENV)/bin/python -m pytest --numprocesses 4 --dist loadfile --no-loadscope-reorder

test-unit: missing setup-test ## the tests without a fresh clone or lint
	@$(VENV)/bin/python -m pytest --numprocesses 4 --dist loadfile --no-loadscope-reorder \
		--ignore=tests/end_to_end --ignore=tests/test_lint.py

test-release: ## models and eager passes with TORCH, a release of asv.conf.json, on Python 3.11
	@sh .ci/test-release "$$TORCH"

lint: setup-test ## ruff, mypy and zizmor
	@$(VENV)/bin/ruff check --extend-exclude packages .
	@$(VENV)/bin/ruff format --check --extend-exclude packages .
	@$(VENV)/bin/mypy
	@$(VENV)/bin/zizmor --offline --quiet .github

missing:
	@sh .ci/missing

setup: $(VENV)/.watch ## what measuring and publishing need (without torch: asv installs that)

setup-test: $(VENV)/.test ## what the tests need on top: one torch pair, pytest, ruff, mypy

clean: ## remove what was built here; results stay
	rm -rf $(VENV) .asv build .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find html -mindepth 1 -not -name .gitignore -delete

$(VENV)/.watch: $(TOOL)/pyproject.toml
	@sh .ci/venv $(VENV) ./$(TOOL)
	@touch $@

$(VENV)/.test: pyproject.toml $(TOOL)/pyproject.toml
	@sh .ci/venv $(VENV) ./$(TOOL) ".[train,test]"
	@touch $@ $(VENV)/.watch

$(CHROMIUM): $(TOOL)/package.json | $(VENV)/.test
	@cd $(TOOL) && sh $(CURDIR)/.ci/node $(CURDIR)/$(VENV)
	@touch $@
