# Everything starts here: `make bench` measures and publishes, `make test` checks the project.
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
WATCH := @$(VENV)/bin/python -m asv_watch.cli

.PHONY: missing bench bench-full nightly compare calibrate planted-slowdown publish preview screenshots test test-unit fuzz test-release lint setup setup-test clean help

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

screenshots: setup-test node_modules/.installed ## take a picture of each view of the published site, in build/screenshots
	@$(VENV)/bin/python -m tests.browser.screenshots html build/screenshots

# Tests wait for processes, disks and the network, so four at a time keep two cores busy. Lint and types are one of them.
test: missing setup-test node_modules/.installed ## lint, types and all tests
	@$(VENV)/bin/python -m pytest --numprocesses 4 --dist loadgroup --no-loadscope-reorder

test-unit: missing setup-test node_modules/.installed ## the tests without a browser, a fresh clone or lint
	@$(VENV)/bin/python -m pytest --numprocesses 4 --dist loadgroup --no-loadscope-reorder \
		--ignore=tests/end_to_end --ignore=tests/browser --ignore=tests/test_lint.py

fuzz: setup-test ## damage files and options at random for two minutes, the same in each run
	@export FUZZ_EXAMPLES=$${FUZZ_EXAMPLES:-400}; $(VENV)/bin/python -m pytest --numprocesses 2 \
		--timeout $$((FUZZ_EXAMPLES * 3)) --hypothesis-seed=0 tests/asv_watch/fuzz

test-release: ## models and eager passes with TORCH, a release of asv.conf.json, on Python 3.11
	@sh .ci/test-release "$$TORCH"

lint: setup-test node_modules/.installed ## ruff, mypy and zizmor, and for the site's script and style eslint, prettier and tsc
	@$(VENV)/bin/ruff check .
	@$(VENV)/bin/ruff format --check .
	@$(VENV)/bin/mypy
	@$(VENV)/bin/zizmor --offline --quiet .github
	@PATH="$(CURDIR)/$(VENV)/bin:$$PATH" npm run --silent lint

missing:
	@sh .ci/missing

setup: $(VENV)/.watch ## what measuring and publishing need (without torch: asv installs that)

setup-test: $(VENV)/.test ## what the tests need on top: one torch pair, pytest, ruff, mypy

clean: ## remove what was built here; results stay
	rm -rf $(VENV) node_modules .asv build .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find html -mindepth 1 -not -name .gitignore -delete

$(VENV)/.watch: packages/asv-watch/pyproject.toml
	@sh .ci/venv $(VENV) ./packages/asv-watch
	@touch $@

$(VENV)/.test: pyproject.toml packages/asv-watch/pyproject.toml
	@sh .ci/venv $(VENV) ./packages/asv-watch ".[train,test]"
	@touch $@ $(VENV)/.watch

node_modules/.installed: package.json $(VENV)/.test
	@sh .ci/node $(VENV)
	@touch $@
