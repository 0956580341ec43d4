# Everything sets itself up: a machine with Python 3.11 to 3.13, pip and make is enough.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(PYTHON) -m pip --disable-pip-version-check --python $(BIN)/python
# uv is faster, and does not know pip's settings: where it fails, pip installs.
UV := $(shell command -v uv)
by_pip = $(PIP) install -qq --no-compile $1
install = $(if $(UV),$(UV) pip install -q --python $(BIN)/python $1 || $(by_pip),$(by_pip))
# Without the bytecode of what it imports, each command would start seconds later.
RUN := env -u PYTHONDONTWRITEBYTECODE $(BIN)

.PHONY: setup demo test test-all lint format lock clean

setup: $(VENV)/.ready         ## .venv with the locked packages and the project

demo: $(VENV)/.ready          ## the sample campaign against the sandbox; CRASH=1: killed in the middle
	@$(RUN)/campaign demo $(if $(CRASH),--crash)

test: $(VENV)/.ready-tests    ## what every change needs, in a few minutes: make test TESTS=tests/config
	@$(RUN)/pytest -m "not slow" $(TESTS)

test-all: $(VENV)/.ready-tests  ## the rest: Prefect's server, PostgreSQL, a browser, thousands of histories
	@$(RUN)/pytest -m slow -n 4 $(TESTS)  # many of them wait

lint: $(VENV)/.ready-tests    ## style, types, and who may import whom
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

format: $(VENV)/.ready-tests  ## write the code as `make lint` wants it, and page 2 anew
	@$(BIN)/ruff check --fix --quiet .
	@$(BIN)/ruff format .
	@$(BIN)/python docs/reference.py

# requirements.lock has two parts, so that running a campaign installs no test tool.
$(VENV)/.ready: requirements.lock pyproject.toml
	@echo "Setting up $(VENV); the first time takes a minute or two."
	@test -x $(BIN)/python || $(PYTHON) -m venv --without-pip $(VENV)
	@sed '/^# tests$$/,$$d' requirements.lock > $(VENV)/run.lock
	@$(call install,--no-deps --require-hashes -r $(VENV)/run.lock)
	@$(call install,--no-deps --no-build-isolation --editable .)
	@touch $@

$(VENV)/.ready-tests: $(VENV)/.ready
	@$(call install,--no-deps --require-hashes -r requirements.lock)
	@touch $@

COMPILE := .lock/bin/uv pip compile -q --universal --python-version 3.11 --generate-hashes \
  --no-annotate --no-header --strip-extras --no-emit-index-url --no-emit-find-links

lock:                         ## resolve pyproject.toml anew into requirements.lock
	@test -x .lock/bin/uv || ($(PYTHON) -m venv .lock && .lock/bin/pip install -qq uv)
	@echo hatchling > .lock/build.in
	@$(COMPILE) pyproject.toml .lock/build.in --extra postgres -o .lock/run.txt >/dev/null
	@$(COMPILE) pyproject.toml .lock/build.in --extra postgres --extra test -c .lock/run.txt -o .lock/all.txt >/dev/null
	@(echo "# Written by \`make lock\`. Running a campaign needs the first part only."; cat .lock/run.txt; \
	  echo "# tests"; awk 'FNR==NR {if (/^[a-zA-Z0-9]/) seen[$$1]; next} \
	  /^[a-zA-Z0-9]/ {new = !($$1 in seen)} new' .lock/run.txt .lock/all.txt) > requirements.lock

clean:                        ## forget the environments, keep the ledger
	rm -rf $(VENV) .lock .*_cache .hypothesis
