# `make run` serves the demo catalog, `make test` runs all checks and tests.

PYTHON ?= python3
PORT ?= 8000
BIN := .venv/bin
export AGENTLENS_DATA_DIR ?= $(CURDIR)/data

.PHONY: install run test lint types unit unit-services package e2e chromium bench lock schema

# Empty marker files: when a lock file is newer than its marker, make installs again.
.venv/run: requirements.lock pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --require-hashes -r requirements.lock
	$(BIN)/pip install --quiet --no-deps --editable .
	touch $@

.venv/dev: requirements-dev.lock .venv/run
	$(BIN)/pip install --quiet --require-hashes -r requirements-dev.lock
	touch $@

install: .venv/dev

run: .venv/run
	$(BIN)/agentlens manage migrate --verbosity 0
	$(BIN)/agentlens demo --first-start
	$(BIN)/agentlens serve --port $(PORT)

test: lint types unit unit-services package e2e

lint: .venv/dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports
	$(BIN)/djlint --lint --check --quiet templates catalog routing
	$(BIN)/python manage.py makemigrations --check --dry-run
	ALLOWED_HOSTS=agentlens.example AGENTLENS_HSTS_SECONDS=31536000 \
	  AGENTLENS_SSL_REDIRECT=on $(BIN)/python manage.py check --deploy --fail-level WARNING
	$(BIN)/python manage.py spectacular --validate --fail-on-warn --file /dev/null

types: .venv/dev
	$(BIN)/mypy

unit: .venv/dev
	$(BIN)/pytest -m "not e2e and not package" -n auto --dist loadfile

unit-services: .venv/dev
	$(BIN)/python tests/with_services.py $(BIN)/python -m pytest \
	  -p tests.workers -p tests.services_only \
	  -m "not e2e and not package and not mcp_servers" -n auto --dist loadfile

package: .venv/dev
	$(BIN)/pytest -m package

e2e: .venv/dev chromium
	$(BIN)/pytest -m e2e

chromium:
	@command -v "$${CHROMIUM:-chromium}" > /dev/null || .ci/apt-install chromium

# SIZE=1M also measures a million capabilities; this takes long.
bench: .venv/dev
	$(BIN)/python -m bench $(SIZE)

lock: .venv/dev
	$(BIN)/uv pip compile --quiet --universal --generate-hashes --no-header --no-annotate \
	  pyproject.toml --output-file requirements.lock
	$(BIN)/uv pip compile --quiet --universal --generate-hashes --no-header --no-annotate \
	  --extra dev pyproject.toml --constraint requirements.lock --output-file requirements-dev.lock

schema: .venv/dev
	$(BIN)/python manage.py spectacular --validate --fail-on-warn --file docs/openapi.yaml
