"""What works where the package alone is installed, without extras and without Java."""

import json
import os
import re
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

import pytest

EXTRAS = ("pyspark", "delta", "py4j", "pandas", "great_expectations", "flask", "waitress", "apprise")
ROOT = Path(__file__).parents[3]
EXAMPLE = ROOT / "examples" / "landing" / "old-copy-497"

PROGRAM = """
import contextlib, io, json, sys
from election_replay.jobs.cli.app import main
for command in json.loads(sys.argv[1]):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(command)
    print(json.dumps({"code": code, "out": out.getvalue(), "err": err.getvalue()}))
print(json.dumps(sorted(name for name in sys.modules if "." not in name)))
"""


def done(site: Path, *commands: list[str]) -> tuple[list[dict[str, Any]], set[str]]:
    """What commands came to, one after the other in one process with the packages of ``site`` and nothing on its PATH;
    and the packages that were imported.
    """
    found = subprocess.run(
        [sys.executable, "-S", "-c", PROGRAM, json.dumps(commands)],
        env={"PATH": "/nonexistent", "HOME": "/nonexistent", "PYTHONPATH": f"{site}{os.pathsep}{ROOT}"},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "nanobind" not in found.stderr, "something keeps objects of DuckDB from being freed"
    *results, imported = [json.loads(line) for line in found.stdout.splitlines()]
    return results, set(imported)


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The installed packages, but for those that only extras bring."""
    site = tmp_path_factory.mktemp("site")
    for package in Path(sysconfig.get_path("purelib")).iterdir():
        if re.split(r"[-.]", package.name)[0].replace("_spark", "") not in EXTRAS:
            (site / package.name).symlink_to(package)
    return site


@pytest.fixture(scope="module")
def warehouse(alone: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The warehouse of a look that was kept."""
    path = tmp_path_factory.mktemp("look") / "kept"
    [looked], _ = done(alone, ["look", str(EXAMPLE), "--keep", str(path)])
    assert looked["code"] == 0, looked
    assert "SPLIT_BRAIN_SAME_TERM" in looked["out"]
    return path


def test_everything_but_spark_and_the_dashboard_works(alone: Path, warehouse: Path, tmp_path: Path) -> None:
    of, group = ["--warehouse", str(warehouse)], ["--cluster", "old-copy-497", "--group", "RaftNode04"]
    finding = ["sql", *of, "SELECT finding_id FROM findings WHERE severity = 'critical' ORDER BY ALL LIMIT 1"]
    [found], _ = done(alone, [*finding, "--format", "csv"])
    log = next(EXAMPLE.rglob("broker_default.log"))
    local = ["--warehouse", str(tmp_path / "w"), "--engine", "local"]
    commands = [
        ["explain", *of, found["out"].split()[1]],
        ["incident", *of, *group],
        ["report", *of, *group, "-o", str(tmp_path / "incident.html")],
        ["metrics", *of],
        ["inspect", str(log)],
        ["rules"],
        ["simulate", "--scenario", "dledger-isolated-leader", "--judge"],
        ["land", "--landing", str(EXAMPLE.parent), *local, "--cluster", "old-copy-497"],
        ["replay", *local, "--unpublished"],
        ["validate", *local[:2]],
        ["publish", *local[:2]],
        ["run", "--landing", str(EXAMPLE.parent), *local],
        ["upkeep", *local[:2]],
    ]
    for command, result in zip(commands, done(alone, *commands)[0], strict=True):
        assert result["code"] == 0, (command, result)
    assert (tmp_path / "incident.html").stat().st_size > 10_000


def test_what_needs_an_extra_says_which_in_one_line(alone: Path, warehouse: Path) -> None:
    of = ["--warehouse", str(warehouse)]
    asked = {
        "spark": ["run", "--landing", str(EXAMPLE), "--warehouse", "/nonexistent/w"],
        "dashboard": ["dashboard", *of],
        "chat": ["notify", *of, "--to", "json://127.0.0.1/"],
        "gates": ["validate", *of],
    }
    for extra, result in zip(asked, done(alone, *asked.values())[0], strict=True):
        said = result["err"] if extra != "gates" else result["out"]
        [line] = [line for line in said.splitlines() if "pip install" in line]
        assert f"'election-replay[{extra}]'" in line
        assert result["code"] == (0 if extra == "gates" else 1)


def test_reading_imports_no_spark_where_it_is_installed(warehouse: Path) -> None:
    """An import of Spark costs a quarter of a second, one of Great Expectations several."""
    of = ["--warehouse", str(warehouse)]
    commands = (["sql", *of, "SELECT 1"], ["validate", *of, "--no-docs"], ["publish", *of], ["upkeep", *of])
    results, imported = done(Path(sysconfig.get_path("purelib")), *commands)
    assert [result["code"] for result in results] == [0, 0, 0, 0], results
    assert not imported & {"pyspark", "py4j", "delta", "great_expectations", "flask", "waitress"}
