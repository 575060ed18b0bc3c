# Set-up and the few commands everyone needs; all the science is in the Snakefile. `make help` lists the targets.
# Needs Python >= 3.11 (with venv and pip) and make. Every path is relative, so the clone may lie anywhere.

# The interpreter to make .venv with. Empty: the first fit one found on PATH.
PYTHON ?=
# Cores for Snakemake, workers for pytest, and anything to append to the command line of either.
CORES ?= all
WORKERS ?= auto
ARGS ?=

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help figures test test-slurm test-conda cuda coverage estimate cluster lint format docs schema lock clean distclean

# The scripts that Snakemake starts look for python on PATH.
in_venv := PATH="$$(pwd)/.venv/bin:$$PATH"
python := $(in_venv) .venv/bin/python

help:  ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' Makefile | while IFS='|' read -r name text; do \
	    printf '%-18s %s\n' "$$name" "$$text"; done

# ---------------------------------------------------------------------------------------------------- set-up
# A stamp carries a checksum of what decides the environment: the lock files, the package's metadata, and the
# place of the clone (a virtual environment cannot be moved). So a touched file sets up nothing again, and a
# changed one does. The lock files hold one another: runtime < cluster < dev < docs.

checksum = $(shell { pwd; cat envs/requirements-build.txt $(1) pyproject.toml; } 2>/dev/null | cksum | tr ' ' '-')
runtime := .venv/.runtime-$(call checksum,envs/requirements.txt)
cluster := .venv/.cluster-$(call checksum,envs/requirements-cluster.txt)
dev := .venv/.dev-$(call checksum,envs/requirements-dev.txt)
docs := .venv/.docs-$(call checksum,envs/requirements-docs.txt)

$(runtime): lock_file := envs/requirements.txt
$(runtime): stamps := $(runtime)
$(cluster): lock_file := envs/requirements-cluster.txt
$(cluster): stamps := $(runtime) $(cluster)
$(dev): lock_file := envs/requirements-dev.txt
$(dev): stamps := $(runtime) $(cluster) $(dev)
$(docs): lock_file := envs/requirements-docs.txt
$(docs): stamps := $(runtime) $(cluster) $(dev) $(docs)

# Sets $$py. 3.11 to 3.13 come first: one locked package has no ready-made file for later ones and would be compiled.
find_python = py=; \
	if [ -n "$(PYTHON)" ]; then set -- "$(PYTHON)"; \
	else set -- python3 python3.13 python3.12 python3.11 python python3.14; fi; \
	for below in 14 99; do for candidate in "$$@"; do \
	    if [ -z "$$py" ] && "$$candidate" -c "import sys, venv, ensurepip; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, $$below))" \
	        2>/dev/null; then py="$$candidate"; fi; \
	done; done; \
	if [ -z "$$py" ]; then \
	    echo "usaav needs Python 3.11 or newer with the modules venv and ensurepip; none of these is one: $$*." >&2; \
	    echo "Install it (on Debian and Ubuntu: python3 and python3-venv), or name one: make PYTHON=/path/to/python3.12" >&2; \
	    exit 1; fi

pip = PIP_USER=0 .venv/bin/python -m pip --quiet --disable-pip-version-check --no-input install

$(runtime) $(cluster) $(dev) $(docs):
	@set -e; \
	if [ -L .venv ]; then \
	    echo ".venv is a link to $$(readlink .venv): setting up here would clear the environment of another place." >&2; \
	    echo "Remove the link, then call make again." >&2; exit 1; fi; \
	if [ "$$(cat .venv/.place 2>/dev/null)" != "$$(pwd)" ] || ! .venv/bin/python -m pip --version >/dev/null 2>&1; then \
	    $(find_python); \
	    echo "Set-up: making .venv with $$("$$py" --version)."; \
	    "$$py" -m venv --clear .venv; \
	    pwd > .venv/.place; \
	fi; \
	rm -f .venv/.runtime-* .venv/.cluster-* .venv/.dev-* .venv/.docs-*; \
	echo "Set-up: installing what $(lock_file) pins (a minute or two, once)."; \
	$(pip) --require-hashes -r envs/requirements-build.txt; \
	$(pip) --require-hashes --no-build-isolation -r $(lock_file); \
	$(pip) --no-deps --no-build-isolation -e .; \
	.venv/bin/python -m usaav.flow.warm_up; \
	touch $(stamps)

# --------------------------------------------------------------------------------------------------- targets

figures: $(runtime)  ## the whole paper: simulations, metrics, figures, films and claims into results/
	@$(python) -m snakemake --cores $(CORES) $(ARGS)

test: $(dev)  ## the test suite
	@$(python) -m pytest -n $(WORKERS) $(ARGS)

# Slurm's programs are installed where that is possible (Debian and Ubuntu, as root); elsewhere the tests say that
# they are skipped. No running Slurm is needed or touched: the tests start one of their own and end it.
test-slurm: $(dev)  ## the workflow on a Slurm of its own, which needs root and the package slurm-wlm
	@if ! command -v slurmctld >/dev/null && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    echo "Installing slurm-wlm."; \
	    { apt-get -qq update && DEBIAN_FRONTEND=noninteractive \
	        apt-get -qq install -y --no-install-recommends slurm-wlm; } >/dev/null 2>&1 \
	        || echo "slurm-wlm can't be installed here."; \
	fi
	@USAAV_TEST_SLURM=1 $(python) -m pytest tests/slurm $(ARGS)

stand_in := .stand-in/.ready-$(shell { pwd; cat envs/requirements-stand-in.txt; } 2>/dev/null | cksum | tr ' ' '-')

$(stand_in): $(dev)
	@rm -rf .stand-in
	@.venv/bin/python -m venv .stand-in
	@.stand-in/bin/python -m pip --quiet --disable-pip-version-check --no-input install \
	    --require-hashes -r envs/requirements-stand-in.txt
	@touch $@

test-conda: $(dev) $(stand_in)  ## the workflow through Snakemake's conda code, on a local channel with a stand-in for conda
	@USAAV_STAND_IN="$$(pwd)/.stand-in" $(python) -m pytest tests/conda $(ARGS)

cuda := .cuda/.ready-$(shell { pwd; cat envs/requirements-cuda.txt; } 2>/dev/null | cksum | tr ' ' '-')

$(cuda): $(dev)
	@rm -rf .cuda
	@.venv/bin/python -m venv .cuda
	@.cuda/bin/python -m pip --quiet --disable-pip-version-check --no-input install \
	    --require-hashes -r envs/requirements-cuda.txt
	@touch $@

cuda: $(cuda)  ## .cuda with cupy and NVRTC, with which `make test` also compiles the kernels; needs no device

# The fuzzer is put into a folder of its own; where it does not exist, its test says that it is skipped.
fuzz := .fuzz/.ready-$(shell { pwd; cat envs/requirements-fuzz.txt; } 2>/dev/null | cksum | tr ' ' '-')

$(fuzz): $(dev)
	@rm -rf .fuzz
	@mkdir .fuzz
	@$(pip) --no-deps --require-hashes --target .fuzz -r envs/requirements-fuzz.txt \
	    || echo "The fuzzer can't be installed here: its test will be skipped."
	@touch $@

test-faults: $(dev) $(fuzz)  ## kills, damage, full disks, bad settings, fuzzing, repetition: all of it, with counts
	@USAAV_TEST_FAULTS=1 $(python) -m pytest -n $(WORKERS) -m faults $(ARGS)

audit_stamp := .audit/.ready-$(shell { pwd; cat envs/requirements-audit.txt; } 2>/dev/null | cksum | tr ' ' '-')

$(audit_stamp): $(runtime)
	@rm -rf .audit
	@.venv/bin/python -m venv .audit
	@.audit/bin/python -m pip --quiet --disable-pip-version-check --no-input install \
	    --require-hashes -r envs/requirements-audit.txt
	@touch $@

# Without a database of vulnerabilities in reach the rest is done all the same, and what is missing is said.
audit: $(audit_stamp)  ## bill of materials and licences of the locked packages into audit/, and known vulnerabilities
	@mkdir -p audit
	@.audit/bin/cyclonedx-py requirements envs/requirements.txt --pyproject pyproject.toml --output-reproducible \
	    --of JSON -o audit/sbom.cdx.json
	@.audit/bin/pip-licenses --python .venv/bin/python --from mixed --format csv --output-file audit/licences.csv
	@.audit/bin/pip-audit --require-hashes --disable-pip -r envs/requirements.txt --progress-spinner off --timeout 10 \
	    --format json --output audit/vulnerabilities.json 2> audit/vulnerabilities.log; status=$$?; \
	if [ -s audit/vulnerabilities.json ]; then \
	    cat audit/vulnerabilities.log; echo "The audit is in audit/."; exit $$status; \
	else \
	    echo "No database of vulnerabilities could be asked (audit/vulnerabilities.log): they are NOT checked." >&2; \
	    echo "Bill of materials and licences are in audit/."; \
	fi

coverage: $(dev)  ## the test suite with line coverage of src; fails below the bar set in pyproject.toml
	@$(python) -m pytest -n $(WORKERS) --cov --cov-report=term-missing:skip-covered $(ARGS)

snakefiles := $(wildcard Snakefile workflow/rules/*.smk)

cluster: $(cluster)  ## .venv with the executor plugins of the profiles slurm and cluster-generic

# make estimate CONFIG=config/sweep.yaml ARGS='seeds=3'
CONFIG ?= config.yaml

estimate: $(runtime)  ## jobs, core-hours and disk that CONFIG (config.yaml) will take, without running anything
	@$(python) -m usaav.estimate $(CONFIG) $(ARGS)

lint: $(dev)  ## formatting, style and types
	@$(python) -m ruff check .
	@$(python) -m ruff format --check .
	@$(python) -m mypy
	@$(if $(snakefiles),$(in_venv) snakefmt --check $(snakefiles))

format: $(dev)  ## rewrite the sources in the project's format
	@$(python) -m ruff check --fix .
	@$(python) -m ruff format .
	@$(if $(snakefiles),$(in_venv) snakefmt $(snakefiles))

docs: $(docs)  ## the documentation site, into docs/_build/html; a warning is an error
	@$(python) -m sphinx -q -W --keep-going -b html docs docs/_build/html
	@echo "The site is in docs/_build/html."

schema: $(runtime)  ## workflow/schemas/config.schema.json, from the models in src/usaav/config
	@$(python) -m usaav.config.schema

# The largest set is solved first and the others are held to it, so that the files agree on every version. Pins
# already there are kept where they still fit; UPGRADE=1 moves all of them to the newest.
lock:  ## the hash-locked files under envs/, from pyproject.toml (UPGRADE=1: to the newest versions)
	@set -e; \
	$(find_python); \
	trap 'rm -rf .lock' EXIT; \
	echo "Locking: fetching the solver."; \
	"$$py" -m venv --clear .lock; \
	.lock/bin/python -m pip --quiet --disable-pip-version-check --no-input install 'uv>=0.9'; \
	compile() { \
	    out="envs/$$1.txt"; shift; \
	    .lock/bin/uv --no-config pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	        --no-header --no-annotate --no-emit-index-url --no-emit-find-links $(if $(UPGRADE),--upgrade) \
	        --output-file "$$out" "$$@"; \
	    { echo '# Written by `make lock` from pyproject.toml: versions and hashes only.'; cat "$$out"; } > .lock/out; \
	    mv .lock/out "$$out"; \
	    echo "Locked $$out ($$(grep -c '==' "$$out") packages)."; \
	}; \
	compile requirements-docs pyproject.toml --group build --extra cluster --extra test --extra lint --extra docs; \
	compile requirements-dev pyproject.toml --group build --extra cluster --extra test --extra lint \
	    --constraint envs/requirements-docs.txt; \
	compile requirements-cluster pyproject.toml --group build --extra cluster --constraint envs/requirements-docs.txt; \
	compile requirements pyproject.toml --group build --constraint envs/requirements-docs.txt; \
	compile requirements-build --group build --constraint envs/requirements-docs.txt; \
	compile requirements-stand-in --group stand-in --constraint envs/requirements-docs.txt; \
	compile requirements-cuda --group cuda --constraint envs/requirements-docs.txt

clean:  ## remove results and everything else that is made, but not .venv
	@if [ -d results ]; then find results/ -mindepth 1 ! -path results/README.md -delete; fi
	@rm -rf .snakemake .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage .coverage.* htmlcov build dist docs/_build audit
	@find src tests workflow -type d -name __pycache__ -prune -exec rm -rf {} + 2>/dev/null || true

distclean: clean  ## the same, and .venv
	@rm -rf .venv .stand-in .cuda
