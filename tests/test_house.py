"""What a stranger trusts before reading any code: pins, bundled logs, the first error message, the rooms."""

import ast
import os
import re
import subprocess
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "examples" / "landing"


def make(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs make as a person would, not as a part of the make that may run these tests."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    return subprocess.run(
        ["make", "--no-print-directory", *arguments],
        cwd=ROOT,
        env={**inherited, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_constraints_are_names_and_versions_only() -> None:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    assert all(re.fullmatch(r"[A-Za-z0-9_.-]+==[A-Za-z0-9.]+", line) for line in lines)


def test_an_installation_is_pinned_by_hashes_of_the_same_versions() -> None:
    """Each package for Linux on x86 and Pythons 3.11 to 3.13, whoever serves it."""
    pinned = {*(ROOT / "constraints.txt").read_text().lower().replace("_", "-").replace(".", "-").splitlines()}
    text = (ROOT / "requirements.txt").read_text()
    assert not re.search(r"://|^-", text, re.MULTILINE)
    found = re.findall(r"(?m)^(\S+)==(\S+?)((?: ;[^\\]*)?) \\\n((?: {4}--hash=sha256:[0-9a-f]{64}(?: \\)?\n)+)", text)
    assert text.count("==") - text.count(" == ") == len(found) > 40
    elsewhere = {name for name, _, marker, _ in found if "win32" in marker}
    versions = {f"{name}=={version}".replace(".", "-") for name, version, *_ in found if name not in elsewhere}
    assert versions <= pinned, "what is installed is what is tested"


def test_examples_are_real_runs_as_they_were_written(corpora: Path) -> None:
    files = [path for path in EXAMPLES.rglob("*") if path.is_file()]
    assert len({path.relative_to(EXAMPLES).parts[0] for path in files}) == 3
    for path in files:
        run, *rest = path.relative_to(EXAMPLES).parts
        [original] = corpora.glob(f"*/{run}")
        assert path.read_bytes() == original.joinpath(*rest).read_bytes(), path


def test_make_alone_lists_what_can_be_done() -> None:
    said = make().stdout
    for target in ("setup", "demo", "check", "test", "clean"):
        assert f"make {target}" in said


def test_a_missing_jdk_gives_one_sentence() -> None:
    """The demo runs without one: tests/test_makefile.py."""
    done = make("test", JAVA_HOME="/nonexistent")
    assert done.returncode != 0
    said = [line for line in done.stderr.splitlines() if not line.startswith("make")]
    assert len(said) == 1
    assert "JDK 17" in said[0]


@pytest.mark.parametrize("version", ["11.0.2", "1.8.0_392"])
def test_a_jdk_that_is_too_old_is_named(version: str, tmp_path: Path) -> None:
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2020-01-01' >&2\n")
    java.chmod(0o755)
    assert f"found: {version}." in make("java", JAVA_HOME=str(tmp_path)).stderr


def test_every_link_in_the_documents_leads_somewhere() -> None:
    documents = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("*/README.md")]
    for document in documents:
        prose = re.sub(r"```.*?```|`[^`]*`", "", document.read_text(), flags=re.DOTALL)
        for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", prose):
            assert (document.parent / target).exists(), f"{document.name} links to {target}"


@pytest.mark.parametrize("package", ["election_core", "jobs", "schemas", "conf", "airflow_dags", "proof", "texts"])
def test_a_package_says_what_it_is_and_names_what_it_holds(package: str) -> None:
    """A README of at most twenty lines; what it names in code type is there, so that it does not grow old."""
    text = (ROOT / package / "README.md").read_text("utf-8")
    assert len(text.splitlines()) <= 20
    if package in ("election_core", "jobs"):
        rooms = {folder.name for folder in (ROOT / package).iterdir() if (folder / "__init__.py").exists()}
        assert rooms <= set(re.findall(r"`([\w/]+)`", text))


def test_prose_of_the_documents_is_wrapped() -> None:
    """Rows of tables and code are as long as they are."""
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("examples/*.md"), *ROOT.glob("tests/**/*.md")]
    long = []
    for page in pages:
        prose = re.sub(r"(?ms)^ *```.*?^ *```|^    [^\n]*|^ *\|[^\n]*", "", page.read_text(encoding="utf-8"))
        long += [f"{page.relative_to(ROOT)}: {line}" for line in prose.splitlines() if len(line) > 120]
    assert long == []


def test_the_picture_is_well_formed() -> None:
    root = ElementTree.parse(ROOT / "docs" / "architecture.svg").getroot()
    assert root.tag.endswith("svg")


LONGEST_FILE = 600
"""Lines that a reader holds in the head."""

MOST_FIELDS = 20

MACHINE = "a protocol that runs: one member's whole behaviour, one function a message"
RULES = "the rules of one protocol, one function each, with what they share"
TEXTS = "one table of texts and their readings; each is a line or two"
LOG = "the fold of one protocol: what each kind of event means, one function each"

LONG_FILES = {
    "election_core/dialects/zookeeper/texts.py": TEXTS,
    "election_core/model/timing.py": "one table of every time that a rule counts with",
    "election_core/protocols/acting_master/log.py": LOG,
    "election_core/protocols/acting_master/rules.py": RULES,
    "election_core/protocols/dledger/log.py": LOG,
    "election_core/protocols/metadata/rules.py": RULES,
    "election_core/protocols/order_lock/rules.py": RULES,
    "election_core/protocols/raft/log.py": LOG,
    "election_core/protocols/zab/log.py": LOG,
    "election_core/simulate/acting_master/machine.py": MACHINE,
    "election_core/simulate/controller/broker_machine.py": MACHINE,
    "election_core/simulate/dledger/machine.py": MACHINE,
    "election_core/simulate/raft/machine.py": MACHINE,
    "election_core/simulate/zab/machine.py": MACHINE,
}
"""Files that are longer, each with the reason."""

ROW = "a row of a wide, sparse table: its fields are the columns"
MEMBER = "what one member keeps, in memory and on disk, field by field as in its protocol"

WIDE_CLASSES = {
    "election_core/model/events.py Event": ROW,
    "election_core/model/fold_event.py FoldEvent": ROW,
    "election_core/model/rows.py Finding": ROW,
    "election_core/model/rows.py LockHold": ROW,
    "election_core/simulate/controller/broker_machine.py State": MEMBER,
    "election_core/simulate/zab/machine.py State": MEMBER,
}
"""Classes with more fields, each with the reason."""


def modules() -> dict[str, Path]:
    """The modules of the core and the jobs, by name; a package bears that of its folder."""
    files = [path for top in ("election_core", "jobs") for path in sorted((ROOT / top).rglob("*.py"))]
    return {".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path for path in files}


INSTALLED_BELOW = "election_replay."


@cache
def parsed(path: Path) -> ast.Module:
    """A file as a tree."""
    return ast.parse(path.read_text(encoding="utf-8"))


def imported(name: str, path: Path, known: dict[str, Path]) -> Iterator[str]:
    """The modules that importing one of them imports, or that its types name.

    What a function imports when it is called is not among them, nor what a script imports when it is started.
    """
    waiting: list[ast.stmt] = list(parsed(path).body)
    while waiting:
        statement = waiting.pop()
        if isinstance(statement, ast.Import):
            names = [alias.name.removeprefix(INSTALLED_BELOW) for alias in statement.names]
            yield from (whole for whole in names if whole in known)
        elif isinstance(statement, ast.ImportFrom) and statement.module and not statement.level:
            module = statement.module.removeprefix(INSTALLED_BELOW)
            for alias in statement.names:
                inner = f"{module}.{alias.name}"
                if (found := inner if inner in known else module) in known and found != name:
                    yield found
        elif isinstance(statement, ast.Try) or (
            isinstance(statement, ast.If) and "__main__" not in ast.unparse(statement.test)
        ):
            waiting += [*statement.body, *statement.orelse]


def test_no_module_imports_itself_by_way_of_others() -> None:
    known = modules()
    graph = {name: set(imported(name, path, known)) for name, path in known.items()}
    assert sum(map(len, graph.values())) > 500
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(f"an import circle: {' <- '.join(error.args[1])}")


def test_rooms_of_the_jobs_do_not_import_one_another_in_circles() -> None:
    known = {name: path for name, path in modules().items() if name.startswith("jobs.")}

    def room(name: str) -> str:
        return name.split(".")[1]

    graph: dict[str, set[str]] = {}
    for name, path in known.items():
        graph.setdefault(room(name), set()).update(
            {room(other) for other in imported(name, path, known)} - {room(name)}
        )
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(f"rooms in a circle: {' <- '.join(error.args[1])}")


def test_a_file_that_is_long_has_a_reason() -> None:
    lines = {path.relative_to(ROOT).as_posix(): path.read_text().count("\n") for path in modules().values()}
    assert {path for path, count in lines.items() if count > LONGEST_FILE} == {*LONG_FILES}


def test_a_class_that_is_wide_has_a_reason() -> None:
    wide = {
        f"{path.relative_to(ROOT).as_posix()} {found.name}"
        for path in modules().values()
        for found in ast.walk(parsed(path))
        if isinstance(found, ast.ClassDef) and sum(isinstance(line, ast.AnnAssign) for line in found.body) > MOST_FIELDS
    }
    assert wide == {*WIDE_CLASSES}


EMPTY_NAMES = frozenset({"told", "own", "one", "what", "said", "thing", "things"})
"""Names that say nothing of what they hold."""

FORMER_NAMES = {
    "testimony": "fact writer",
    "witness": "identity, fact writer",
    "logged": "fold event",
    "lives": "incarnations; when members were alive",
    "remembered": "checkpoint",
}
"""Words that meant several things, each with the words that stand for them now: see docs/glossary.md."""

FORMER_NAMES_OF_JOBS = {
    "resting": "the hash of a source's facts",
    "shaken": "groups_to_judge",
    "source_ends": "source_watermarks",
    "lying": "table file",
    "anew": "rewrite plan; reread",
    "dealing": "partitioning",
    "dealt": "partitioning",
    "hand": "batch",
    "hands": "batches",
    "stretch": "file split",
    "news": "source delta; added",
    "due": "replay plan",
    "quoting": "evidence lines",
    "unquoted": "evidence lines",
    "sightings": "first seen; seen roles",
    "moved_on": "watermark",
    "lately": "recent ledger",
    "mailed": "inferred layout",
    "mail": "inferred layout",
    "hold_back": "revert_clusters",
    "tell": "log_event",
    "say": "log_event",
    "complain": "log_event",
    "stands": "unchanged_since",
    "unwatched": "pinned_snapshot",
    "exchange": "commit_rewrite",
    "patiently": "retry_hdfs",
    "expect": "prewarm",
    "rooms": "packages",
    "floors": "layers",
}
"""The same of the jobs."""

FORMER_MODULES = {
    "decisions": "tables",
    "decided": "decision_rules",
    "deciding": "controller_machine",
    "replica": "broker_machine",
    "logged": "fold_event",
    "source": "source_fold",
    "sources": "log_quality",
    "witness": "identity, fact_writer",
    "quiet": "silent_logs",
    "lives": "process_runs",
    "memory": "checkpoint",
    "states": "checkpoint",
    "copies": "duplicate_logs",
    "coordinator": "highest_id",
    "ranks": "highest_id.id_order",
    "found": "the finding of a group",
    "leadership": "one file a rule",
    "idle_sources": "judging",
    "held_back": "publishing.runs",
    "selection": "plan",
    "work": "plan",
    "news": "source_delta",
}
"""Rooms and files that had such names, each with where to look now."""


def bound(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """The names that a file gives to something, with their lines: of functions, classes, parameters, variables."""
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield node.lineno, name
            case ast.arg(arg=name) | ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                yield node.lineno, name
            case ast.alias(asname=str(name)):
                yield node.lineno, name
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                yield node.lineno, name


def test_a_name_says_what_it_holds() -> None:
    refused = EMPTY_NAMES | FORMER_NAMES.keys()
    assert [
        f"{path.relative_to(ROOT)}:{line} {name}"
        for top, more in (("election_core", ()), ("jobs", FORMER_NAMES_OF_JOBS), ("schemas", FORMER_NAMES_OF_JOBS))
        for path in sorted((ROOT / top).rglob("*.py"))
        for line, name in bound(parsed(path))
        if name.strip("_").lower() in refused.union(more)
    ] == []


def test_rooms_and_files_have_the_names_of_the_glossary() -> None:
    assert [name for name in modules() if not FORMER_MODULES.keys().isdisjoint(name.split("."))] == []
    tables = {path.parent.name for path in (ROOT / "election_core" / "protocols").glob("*/tables.py")}
    assert tables >= {"acting_master", "controller", "dledger", "raft", "zab"}


def test_causal_pairs_have_one_name() -> None:
    """Which line of one node another node's line follows from: not ``messages``, and in one file of each protocol."""
    named = {
        (path, node.name.strip("_"))
        for path in (ROOT / "election_core").rglob("*.py")
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.FunctionDef) and node.name.strip("_") in {"messages", "causal_pairs"}
    }
    assert {name for _, name in named} == {"causal_pairs"}
    rooms = ROOT / "election_core" / "protocols"
    assert {path.name for path, _ in named if path.is_relative_to(rooms)} == {"causality.py"}


def test_a_module_that_a_docstring_names_is_there() -> None:
    known = {*modules(), *(name.rpartition(".")[0] for name in modules()), "schemas"}
    named = {
        (name, f"{name.rpartition('.')[0]}{module}" if module.startswith(".") else module)
        for name, path in modules().items()
        for module in re.findall(r":mod:`([\w.]+)`", path.read_text(encoding="utf-8"))
    }
    assert len(named) > 20
    assert {(name, module) for name, module in named if module not in known} == set()


@pytest.mark.parametrize("top", ["election_core", "jobs"])
def test_the_page_on_architecture_names_every_room(top: str) -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    [block] = re.findall(rf"(?m)^    {top}/\n((?:      .+\n)+)", page)
    named = {*re.findall(r"(?m)^ {6}(\w+)/", block)}
    rooms = {path.parent.name for path in (ROOT / top).glob("*/__init__.py")}
    assert named == rooms


WHOLE_CORE = {"decisions", "test_decisions.py", "test_scenarios.py", "story.py"}
"""Tests of all rooms together: what the core makes of a few lines, and which decisions of the systems that covers."""


def test_tests_of_the_core_stand_in_its_rooms() -> None:
    """A test of a room is found under the room's name."""
    rooms = {path.parent.name for path in (ROOT / "election_core").glob("*/__init__.py")}
    here = {path.name for path in (ROOT / "tests" / "election_core").iterdir() if path.name != "__pycache__"}
    assert here == rooms | WHOLE_CORE


def test_the_guide_names_places_that_exist() -> None:
    """Every path that CONTRIBUTING.md names is there, and every search that it prints finds something."""
    guide = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`((?:election_core|jobs|schemas|tests|docs)/[\w./-]*)`", guide))
    assert named
    assert {path for path in named if not (ROOT / path).exists()} == set()
    for words, folders in re.findall(r'`grep -rn "?([^"`]+?)"? (election_core(?: tests)?)`', guide):
        files = [file for folder in folders.split() for file in (ROOT / folder).rglob("*.py")]
        assert any(words in file.read_text(encoding="utf-8") for file in files), words


def test_nobody_lets_delta_rs_rewrite_rows_by_itself() -> None:
    """Its DELETE, MERGE and UPDATE write the texts that stay as a type by which Arrow cannot filter any more."""
    called = {
        f"{path.relative_to(ROOT).as_posix()} {node.attr}"
        for path in sorted((ROOT / "jobs").rglob("*.py"))
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.Attribute) and node.attr in {"delete", "merge"}
    }
    assert called == {"jobs/warehouse/hdfs.py delete"}, "use Warehouse.erase"


def test_every_page_is_in_the_site() -> None:
    """A page that no list leads to is found by nobody."""
    listed = set(re.findall(r"(?<!/)\b[\w-]+\.md", (ROOT / "mkdocs.yml").read_text("utf-8")))
    assert listed == {page.name for page in (ROOT / "docs").glob("*.md")}
