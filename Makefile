# Everything sets itself up: a machine with Python 3.11+, pip and make is enough.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# The pip of $(PYTHON) installs into each environment; one of their own would be old and unlocked.
PIP := $(PYTHON) -m pip --disable-pip-version-check --python
# uv is faster, and does not know pip's settings: where it fails, pip installs.  make UV= setup  leaves it out.
UV := $(shell command -v uv)
# $(call install,ENVIRONMENT,WHAT), without bytecode: most of it would be of modules that nobody imports.
by_pip = $(PIP) $1/bin/python install -qq --no-compile $2
by_uv = $(UV) pip install -q --python $1/bin/python $2 || { echo "uv failed; pip installs instead." >&2; $(by_pip); }
install = $(if $(UV),$(by_uv),$(by_pip))
# Whatever a shell says: without the bytecode of what it imports, each command would start seconds later.
COMPILING := env -u PYTHONDONTWRITEBYTECODE
TESTS ?= tests
# What one command alone needs stays out of .venv: an environment beside it, with a lock of its own.
BESIDE := bench matrix fuzz mutants advisories

.PHONY: demo test journeys steady crashes simulate faults bench matrix fuzz mutants coverage check rooms references transcripts audit advisories setup setup-tests lock clean

demo: $(VENV)/.ready   ## the sample campaign, end to end, against the sandbox
	@$(COMPILING) $(BIN)/campaign demo

test: setup-tests      ## what every change needs, three minutes on two cores
	@$(COMPILING) $(BIN)/pytest $(if $(filter tests,$(TESTS)),-m "not journey") $(TESTS)

journeys: setup-tests  ## the rest of it: Prefect, PostgreSQL, a browser and LibreOffice, ten minutes
	@$(COMPILING) $(BIN)/pytest -m journey $(TESTS)

steady: setup-tests    ## RUNS=20 of the tests and JOURNEYS=10, every second beside a load: is one ever red by chance?
	@$(BIN)/python -m tests.support.steady --runs $(or $(RUNS),20) --journeys $(or $(JOURNEYS),10) $(TESTS)

crashes: setup-tests   ## kill a run at every boundary there is; prints how many and how long
	@$(BIN)/python -m tests.promise.crashes.every_crash

simulate: setup-tests  ## SEEDS=100000 histories drawn from seeds, from FIRST=0 on; one is replayed
	@$(BIN)/python -m tests.promise.histories.many_histories $(or $(SEEDS),10000) $(or $(FIRST),0)

faults: setup-tests    ## REQUESTS=100000 with faults over real sockets, from seed FIRST=0 on; one is replayed
	@$(BIN)/python -m tests.promise.wire.many_faults $(or $(REQUESTS),10000) $(or $(FIRST),0)

bench: setup-tests .bench/.ready  ## speed and size beside rivals, 42 minutes; QUICK=1 tries the bench
	@$(BIN)/python -m tests.bench $(if $(QUICK),--quick)

matrix: setup-tests .matrix/.ready  ## kill rivals and ours at six moments, in parts: CONTENDERS="ours csv" MOMENTS="sent" DEATHS=5; PAGE=1
	@$(BIN)/python -m tests.matrix $(if $(CONTENDERS),--contenders $(CONTENDERS)) $(if $(MOMENTS),--moments $(MOMENTS)) $(if $(DEATHS),--deaths $(DEATHS)) $(if $(PAGE),--page)

fuzz: .fuzz/.ready     ## SECONDS=1800 of bytes that nobody chose for each reader; TARGETS="tables words"
	@.fuzz/bin/python -m tests.fuzz.fuzz_for_hours $(or $(SECONDS),60) $(TARGETS)

mutants: .mutants/.ready  ## change every decision in every small way: do the tests notice? 10 minutes
	@nice .mutants/bin/mutmut run
	@.mutants/bin/python -m tests.promise.mutation_score

coverage: setup-tests  ## which branches of what decides and remembers the whole suite takes
	@$(BIN)/coverage erase
	@$(BIN)/coverage run -m pytest $(TESTS)
	@$(BIN)/coverage combine --quiet
	@$(BIN)/coverage report

check: setup-tests     ## lint, types, and who may import whom
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

rooms: setup-tests     ## draw docs/architecture.md's picture of the rooms anew, from the imports
	@$(BIN)/python -m tests.project.rooms

references: setup-tests  ## make docs/commands.md, docs/definition.md and docs/settings.md anew, from the program
	@$(BIN)/python -m tests.project.references

transcripts: setup-tests  ## type every command again and write down what it says: read the difference; TRANSCRIPTS="check or plan"
	@WRITE_TRANSCRIPTS=1 $(BIN)/pytest tests/flows/cli/test_transcripts.py $(if $(TRANSCRIPTS),-k "$(TRANSCRIPTS)")

audit: setup-tests     ## licences of what is installed, and dist/sbom.cdx.json; needs no network
	@$(BIN)/python .ci/audit.py

advisories: .advisories/.ready  ## known weaknesses of the locked packages, as the package index tells them
	@.ci/advisories

setup: $(VENV)/.ready              ## .venv with the locked packages and the project
	@$(COMPILING) $(BIN)/python -c 'import flows.campaign'
setup-tests: $(VENV)/.ready-tests  ## the same, with what tests and checks need

# requirements.lock has two parts, so that running a campaign installs no test tool.
$(VENV)/.ready: requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("campaign needs Python 3.11 to 3.13; name one with  make PYTHON=python3.12" if not (3, 11) <= sys.version_info < (3, 14) else 0)'
	@echo "Setting up $(VENV); the first time takes a minute or two."
	@test -x $(BIN)/python || $(PYTHON) -m venv --without-pip $(VENV)
	@sed '/^# tests and checks/,$$d' requirements.lock > $(VENV)/run.lock
	@$(call install,$(VENV),--require-hashes -r $(VENV)/run.lock)
	@$(call install,$(VENV),--no-deps --no-build-isolation --editable .)
	@touch $@

$(VENV)/.ready-tests: $(VENV)/.ready
	@$(call install,$(VENV),--require-hashes -r requirements.lock)
	@touch $@

.fuzz/.ready: also := -r $(VENV)/run.lock
.mutants/.ready: also := -r requirements.lock
$(BESIDE:%=.%/.ready): .%/.ready: .ci/%.lock $(VENV)/.ready
	@test -x .$*/bin/python || $(PYTHON) -m venv --without-pip .$*
	@$(call install,.$*,--require-hashes -r $< $(also))
	@touch $@

# What an editor asks about YAML, from npm: for the journeys through it, which make it themselves.
EDITOR := tests/support/editor
.editor/.ready: $(EDITOR)/package.json $(EDITOR)/package-lock.json
	@mkdir -p .editor
	@cp $^ $(EDITOR)/.npmrc .editor
	@cd .editor && npm ci --ignore-scripts --no-audit --no-fund --loglevel error
	@touch $@

lock:                  ## resolve pyproject.toml anew into every lock
	@test -x .lock/bin/uv || ($(PYTHON) -m venv --without-pip .lock && $(PIP) .lock/bin/python install -qq uv)
	@PATH=.lock/bin:$$PATH sh .ci/lock $(BESIDE)

clean:                 ## forget the environments, keep the ledger
	rm -rf $(VENV) .lock .editor $(BESIDE:%=.%) mutants .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
