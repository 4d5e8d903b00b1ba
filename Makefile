# recaudit: `make demo` and `make test` need Python 3.11 or newer and nothing else.
# Written for GNU make 3.81 (macOS) and newer.

SHELL := /bin/sh
.DEFAULT_GOAL := help
.SUFFIXES:

PYTHON ?=
VENV := .venv
PY := $(VENV)/bin/python
INSTALL := $(PY) -m pip --disable-pip-version-check install --quiet --constraint constraints.txt
PYTEST_ARGS ?= -n auto

# Looks for a Python of at least 3.11 that can make virtual environments; says what is missing.
define FIND_PYTHON
found=; seen=; bare=; \
for candidate in $(if $(PYTHON),"$(PYTHON)",python3 python3.13 python3.12 python3.14 python3.11 python); do \
  version=$$("$$candidate" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null) || continue; \
  seen="$$seen $$candidate ($$version)"; \
  "$$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || continue; \
  if "$$candidate" -c 'import ensurepip, venv' 2>/dev/null; then found=$$candidate; break; fi; \
  bare=$$candidate; \
done; \
if [ -z "$$found" ] && [ -n "$$bare" ]; then \
  echo "$$bare cannot make virtual environments: its module ensurepip is missing." >&2; \
  echo "Debian and Ubuntu keep it in a package of its own: apt install python3-venv" >&2; \
  exit 1; \
fi; \
if [ -z "$$found" ]; then \
  echo "recaudit needs Python 3.11 or newer; found:$${seen:- none}." >&2; \
  echo "Install one (Debian: apt install python3 python3-venv; macOS: brew install python)," >&2; \
  echo "or name it: make $(MAKECMDGOALS) PYTHON=/path/to/python3" >&2; \
  exit 1; \
fi
endef

.PHONY: help
help:  ## Show this list.
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

.PHONY: demo
demo: $(VENV)/.installed-all  ## Install, audit the sample data, say where the reports are.
	$(PY) -m audit demo

.PHONY: test
test: lint types  ## Install what tests need; run lint, types and the fast tests.
	$(PY) -m pytest $(PYTEST_ARGS)

.PHONY: test-slow
test-slow: $(VENV)/.installed-dev  ## Run the tests that take long.
	$(PY) -m pytest -m slow $(PYTEST_ARGS)

.PHONY: test-peers
test-peers: $(VENV)/.installed-dev  ## Compare with other libraries on thousands of random cases.
	$(PY) -m pytest -m peers

.PHONY: test-spark
test-spark: $(VENV)/.installed-spark  ## Run the tests that start Spark; they need Java 17 or newer.
	@java -version 2>/dev/null || { echo "Spark needs Java: apt install openjdk-17-jre-headless" >&2; exit 1; }
	$(PY) -m pytest -m spark tests/engine

.PHONY: test-browser
test-browser: $(VENV)/.installed-browser  ## Open reports in Debian's Chromium, held against WCAG 2.2 AA.
	@command -v chromium >/dev/null || { echo "The browser tests need Chromium: apt install chromium" >&2; exit 1; }
	@command -v pdftotext >/dev/null || { echo "The browser tests need poppler: apt install poppler-utils" >&2; exit 1; }
	$(PY) -m pytest -m browser tests/render

.PHONY: lint
lint: $(VENV)/.installed-dev  ## Check style and format.
	$(PY) -m ruff check
	$(PY) -m ruff format --check

.PHONY: types
types: $(VENV)/.installed-dev  ## Check types.
	$(PY) -m mypy

.PHONY: format
format: $(VENV)/.installed-dev  ## Format the code and mend what can be mended mechanically.
	$(PY) -m ruff format
	$(PY) -m ruff check --fix
	$(PY) -m ruff format

.PHONY: reports
reports: $(VENV)/.installed-all  ## Write every report in reports/ anew from the sample data.
	$(PY) -m audit demo --format html,pdf,json,md

.PHONY: schema
schema: $(VENV)/.installed-all  ## Write the JSON schema of audit.json into docs/.
	$(PY) -c "from audit.result import json_schema; print(json_schema(), end='')" > docs/audit.schema.json

.PHONY: docs
docs: $(VENV)/.installed-all  ## Write the references of metrics and findings into docs/ from their registries.
	$(PY) -c "from audit.reference import markdown; print(markdown(), end='')" > docs/metrics.md
	$(PY) -c "import audit.findings; from audit.findings.reference import markdown; print(markdown(), end='')" > docs/findings.md

.PHONY: pins
pins: $(VENV)/.python  ## Pin the newest releases in constraints.txt.
	rm -rf $(VENV)-pins
	$(PY) -m venv $(VENV)-pins
	$(VENV)-pins/bin/python -m pip install --quiet --editable '.[all,dev,spark,browser]'
	grep '^#' constraints.txt > constraints.new
	$(VENV)-pins/bin/python -m pip freeze --exclude-editable >> constraints.new
	mv constraints.new constraints.txt
	rm -rf $(VENV)-pins

.PHONY: clean
clean:  ## Remove the environment, caches and build products; keep the reports.
	rm -rf $(VENV) $(VENV)-pins build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find audit tests -name __pycache__ -type d -prune -exec rm -rf {} +

# The environment, and what is in it.  A stamp is older than the pins exactly when pip has work to do.
$(VENV)/.python:
	@if $(PY) -c 'import pip, sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then exit 0; fi; \
	$(FIND_PYTHON); \
	echo "Making $(VENV) with $$found (Python $$version)"; \
	rm -rf $(VENV) && "$$found" -m venv $(VENV)
	@touch $@

$(VENV)/.installed-all: $(VENV)/.python pyproject.toml constraints.txt
	$(INSTALL) --editable '.[all]'
	@touch $@

$(VENV)/.installed-dev: $(VENV)/.python pyproject.toml constraints.txt
	$(INSTALL) --editable '.[all,dev]'
	@touch $@ $(VENV)/.installed-all

$(VENV)/.installed-browser: $(VENV)/.python pyproject.toml constraints.txt
	$(INSTALL) --editable '.[all,dev,browser]'
	@touch $@ $(VENV)/.installed-all $(VENV)/.installed-dev

$(VENV)/.installed-spark: $(VENV)/.python pyproject.toml constraints.txt
	$(INSTALL) --editable '.[all,dev,spark]'
	@touch $@ $(VENV)/.installed-all $(VENV)/.installed-dev
