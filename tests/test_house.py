"""What a stranger trusts before reading any code: pins, bundled logs, the first error message."""

import os
import re
import subprocess
import xml.etree.ElementTree as ElementTree
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


@pytest.mark.parametrize("target", ["demo", "test"])
def test_a_missing_jdk_gives_one_sentence(target: str) -> None:
    done = make(target, JAVA_HOME="/nonexistent")
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
    assert f"found: {version}." in make("demo", JAVA_HOME=str(tmp_path)).stderr


def test_every_link_in_the_documents_leads_somewhere() -> None:
    documents = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *ROOT.glob("examples/*.md")]
    for document in documents:
        prose = re.sub(r"```.*?```|`[^`]*`", "", document.read_text(), flags=re.DOTALL)
        for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", prose):
            assert (document.parent / target).exists(), f"{document.name} links to {target}"


def test_the_picture_is_well_formed() -> None:
    root = ElementTree.parse(ROOT / "docs" / "architecture.svg").getroot()  # noqa: S314 - our own file
    assert root.tag.endswith("svg")
