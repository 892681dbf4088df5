"""Commands for clusters: each that a page prints is one that a test runs, as it is printed but for hosts."""

import re
from pathlib import Path

import pytest

from tests.printed import CLUSTERS, ROOT, in_comments, sections

RUN_BY = {
    "What comes to the machines": "tests/clusters/test_yarn.py",
    "YARN and HDFS": "tests/clusters/test_yarn.py",
    "Object stores": "tests/object_stores/test_s3.py",
    "Kubernetes": "tests/kubernetes/test_kubernetes.py",
    "Rights": "tests/clusters/test_yarn.py",
}
"""The test that takes its commands from a section of the page, and runs all of them."""

AT_HOME = ROOT / "conf/spark/local.conf"
PROFILES = sorted({*AT_HOME.parent.glob("*.conf")} - {AT_HOME})
CONTAINER = "In a container"
"""The section of the other page whose commands are those of the image."""

PAGES = sorted({*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("examples/*.md")} - {CLUSTERS})
FOR_A_CLUSTER = re.compile(
    r"^(podman|docker|buildah|kubectl|hdfs|yarn|make worker-archive|spark-submit (?!.*conf/spark/local\.conf))"
    r"|(hdfs|s3a?|abfss?|gs)://"
)


def printed() -> set[str]:
    """All commands of the page about clusters."""
    return {command for commands in sections().values() for command in commands}


def test_the_commands_of_every_section_are_run() -> None:
    assert set(sections()) == set(RUN_BY)
    for title, file in RUN_BY.items():
        assert f'section("{title}")' in (ROOT / file).read_text(encoding="utf-8"), f"{file} does not run: {title}"


@pytest.mark.parametrize("profile", PROFILES, ids=lambda one: one.stem)
def test_a_profile_prints_the_commands_of_the_page(profile: Path) -> None:
    commands = in_comments(profile)
    assert [one for one in commands if one.startswith("spark-submit ") and f"conf/spark/{profile.name}" in one]
    assert set(commands) - printed() == set()


def test_the_containerfile_prints_the_commands_of_the_page_about_containers() -> None:
    commands = in_comments(ROOT / "Containerfile")
    assert commands == sections(ROOT / "docs/operations.md")[CONTAINER]
    assert "sections(OPERATIONS)[CONTAINER]" in (ROOT / RUN_BY["Kubernetes"]).read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES, ids=lambda one: one.name)
def test_no_other_page_prints_a_command_for_a_cluster(page: Path) -> None:
    found = [one for title, lines in sections(page).items() if title != CONTAINER for one in lines]
    assert [one for one in found if FOR_A_CLUSTER.search(one) and one not in printed()] == []
