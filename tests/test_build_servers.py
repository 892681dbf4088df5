"""The GitHub action and the GitLab template do what they say: their own commands are run on a real cluster."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from election_replay.jobs.cli.ending import FOUND

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / "examples" / "landing" / "master-cut-off"


def github() -> str:
    action = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
    assert not [step for step in action["runs"]["steps"] if "${{" in step["run"]], "what a caller gives is no code"
    return str(action["runs"]["steps"][-1]["run"])


def gitlab() -> str:
    [job] = yaml.safe_load((ROOT / "examples" / "ci" / "gitlab.yml").read_text("utf-8")).values()
    assert job["artifacts"]["reports"]["junit"] in job["script"][-1]
    return str(job["script"][-1])


@pytest.mark.parametrize("script", [github, gitlab])
def test_the_job_fails_on_a_split_brain(script: Callable[[], str], tmp_path: Path) -> None:
    given = {"LOGS": str(EXAMPLE), "FAIL_ON": "critical", "JUNIT": "verdict.xml", "SARIF": "verdict.sarif"}
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-ec", script()], cwd=tmp_path, env={**os.environ, **given, "PATH": path}, check=False
    )
    assert done.returncode == FOUND
    assert [*tmp_path.glob("*.xml")]
    assert [*tmp_path.glob("*.sarif")]
