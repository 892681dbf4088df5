"""The ten wildest real clusters, as docs/cases.md tells them: every line of a story is what ``incident`` prints.

pytest tests/acceptance/test_wild_stories.py --rewrite     writes the stories anew; read the diff
"""

import re
from pathlib import Path

import pytest

from election_replay.jobs.cli.app import main
from tests.acceptance.published import Warehouse

PAGE = Path(__file__).parents[2] / "docs" / "cases.md"
STORY = re.compile(
    r"(?m)^    election-replay incident --warehouse WILD --cluster (\S+) --group (\S+)\n\n((?:    .*\n|\n(?=    ))*)"
)
"""A command on the page, its cluster and group, and the story below it."""


def told() -> dict[tuple[str, str], str]:
    """The stories of the page, by cluster and group."""
    return {(cluster, group): story for cluster, group, story in STORY.findall(PAGE.read_text("utf-8"))}


def what_happened(printed: str) -> str:
    """The story out of all that the command prints, as a block of the page."""
    lines = printed.split("What happened\n")[1].split("\nWho was what")[0].rstrip().splitlines()
    return "".join(f"    {line}".rstrip() + "\n" for line in ["What happened", *lines])


@pytest.mark.slow
def test_the_stories_of_the_page_are_what_incident_prints(
    compound: Warehouse, capsys: pytest.CaptureFixture[str], request: pytest.FixtureRequest
) -> None:
    page = PAGE.read_text("utf-8")
    assert len(told()) == 10
    for (cluster, group), story in told().items():
        capsys.readouterr()
        assert main(["incident", "--warehouse", str(compound.path), "--cluster", cluster, "--group", group]) == 0
        printed = what_happened(capsys.readouterr().out)
        if request.config.getoption("--rewrite"):
            page = page.replace(f" {cluster} --group {group}\n\n{story}", f" {cluster} --group {group}\n\n{printed}")
        else:
            assert story == printed, (cluster, group)
    PAGE.write_text(page, "utf-8")
