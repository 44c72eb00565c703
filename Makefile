# Needs git, make and Python 3.11 or newer; everything else is set up in .venv.
# One morning to its end: `make demo`. Everything, until Ctrl-C: `make run`.

.DEFAULT_GOAL := help
.PHONY: help demo run test check chaos soak bench mutants lock for-users for-developers \
	format lint types contracts migrations deploy translations

PYTHONS := python3.11 python3.12 python3.13 python3 python3.14
ifndef PYTHON
PYTHON := $(shell for it in $(PYTHONS); do \
	"$$it" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo "$$it" && break; done)
endif
BIN := .venv/bin
# The checks read settings, but never the person's own: no .env, no token, no database.
CLEAN := env -i PATH="$$PATH" HOME="$$HOME" DONATE1024_ENV_FILE=
SANDBOX := $(CLEAN) DONATE1024_SANDBOX=1 SECRET_KEY=no-secret-it-serves-the-checks-alone-and-opens-nothing \
	TELEGRAM_API_URL=http://127.0.0.1:9 SITE_URL=https://example.org
CATALOGUE := locale/uk/LC_MESSAGES/django

help:
	@echo 'make demo    one morning to its end, on throw-away data: what this project does'
	@echo 'make run     everything, until Ctrl-C: the sandbox, or your bot with TELEGRAM_BOT_TOKEN in .env'
	@echo 'make test    the tests (ARGS= goes to pytest)'
	@echo 'make check   format, lint, types, contracts, migrations, deploy check, translations, and the tests'
	@echo 'make chaos   whole days of faults drawn at random, with the real parts (SEED= DAYS=)'
	@echo 'make soak    the long tests, and 100 days of chaos'
	@echo 'make bench   how fast it sends, beside others (ARGS= names rows, JSON= takes the figures, GRAPH= a PNG)'
	@echo 'make mutants mutation testing of what sends; survivors are listed at its end (CONTRIBUTING.md)'
	@echo 'make lock    write the hashed requirements from pyproject.toml'

demo run: for-users
	@exec $(BIN)/python -m donate1024.stack $@

# More at a time than there are cores: what runs with real processes waits more than it works.
test: for-developers
	@$(BIN)/python -m pytest -n 4 --dist loadfile $(ARGS)

check: format lint types contracts migrations deploy translations
	@$(MAKE) --no-print-directory test

format: for-developers
	$(BIN)/ruff format --check --quiet

lint: for-developers
	$(BIN)/ruff check --quiet

types: for-developers
	@$(SANDBOX) $(BIN)/mypy

contracts: for-developers
	@$(BIN)/lint-imports --no-logo

migrations: for-developers
	@$(SANDBOX) $(BIN)/python -W ignore::RuntimeWarning manage.py makemigrations --check

deploy: for-developers
	@$(SANDBOX) $(BIN)/python manage.py check --deploy --fail-level WARNING

# Brings the catalogue up to date; all is well where that changes nothing, and no text waits for its translation.
translations: for-developers
	@command -v msgfmt >/dev/null || { echo 'gettext is needed; on Debian and Ubuntu: apt install gettext'; exit 1; }
	@set -e; before=$$(cat $(CATALOGUE).?o | cksum); \
	$(SANDBOX) $(BIN)/python manage.py makemessages -v 0 -l uk --no-location --no-wrap --no-obsolete; \
	sed -i.old '/^"POT-Creation-Date/d' $(CATALOGUE).po; rm $(CATALOGUE).po.old; \
	msgfmt --check -o $(CATALOGUE).mo $(CATALOGUE).po; \
	waiting=$$(msgattrib --no-wrap --untranslated $(CATALOGUE).po; msgattrib --no-wrap --only-fuzzy $(CATALOGUE).po); \
	test -z "$$waiting" || { printf '%s\n' "$$waiting" 'These texts wait for their translation.'; exit 1; }; \
	test "$$before" = "$$(cat $(CATALOGUE).?o | cksum)" || { echo 'locale/ was behind; now commit it.'; exit 1; }

# Whole days of faults: SEED= draws the same ones again, DAYS= says how many (docs/testing-faults.md).
chaos: for-developers
	@$(BIN)/python -m tests.chaos $(if $(SEED),--seed $(SEED)) $(if $(DAYS),--days $(DAYS))

soak: for-developers
	@$(BIN)/python -m pytest -m long $(ARGS)
	@$(MAKE) --no-print-directory chaos DAYS=$(or $(DAYS),100)

# ARGS="engine paced" runs these rows alone; each says how long it takes. A figure that is not met fails nothing.
bench: for-developers
	@$(BIN)/python -m tests.bench $(ARGS) $(if $(JSON),--json $(JSON)) --graph $(or $(GRAPH),bench.png)

mutants: for-developers
	@PYTHONPATH=. $(BIN)/python tests/mutation run --max-children 1 $(ARGS)
	@$(BIN)/mutmut results

lock: for-developers
	$(BIN)/uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-header \
		pyproject.toml -o requirements.txt
	$(BIN)/uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-header \
		-c requirements.txt --group dev pyproject.toml -o requirements-dev.txt

for-users: has-python
	@$(PYTHON) bootstrap.py requirements.txt

for-developers: has-python
	@$(PYTHON) bootstrap.py requirements-dev.txt

.PHONY: has-python
has-python:
	@test -n "$(PYTHON)" || { echo 'Python 3.11 or newer with venv is needed; on Debian and Ubuntu: apt install python3-venv'; exit 1; }
