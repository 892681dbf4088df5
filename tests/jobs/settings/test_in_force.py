"""Where settings come from: it is always said, and nobody goes without where nobody looks on."""

import json
from pathlib import Path

import pytest

from election_replay.jobs import JobError, WrongCommand
from election_replay.jobs.cli.app import main
from election_replay.jobs.settings.config import Config
from election_replay.jobs.settings.in_force import InForce, in_force

CLUSTERS = ("yarn", "k8s://https://HOST:6443", "spark://HOST:7077")


@pytest.fixture(autouse=True)
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory without settings, and an environment that names none."""
    for name in ("ELECTION_REPLAY_CONFIG", "ELECTION_REPLAY_CONFIG_REQUIRED"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def file(nowhere: Path) -> Path:
    """A file of settings somewhere else."""
    path = nowhere / "etc" / "pipeline.yaml"
    path.parent.mkdir()
    path.write_text("clock_bound_ms: 50\n")
    return path


def test_without_a_file_there_are_the_defaults_and_it_is_said() -> None:
    found = in_force(master="local[4]")
    assert found.config == Config()
    assert found.line == "Settings: defaults (no file was named and ./conf/pipeline.yaml does not exist)"
    assert found.source == "defaults"


def test_the_file_of_a_checkout_is_found_where_a_person_types(nowhere: Path) -> None:
    (nowhere / "conf").mkdir()
    (nowhere / "conf/pipeline.yaml").write_text("clock_bound_ms: 50\n")
    found = in_force()
    assert found.config == Config(clock_bound_ms=50)
    assert found.line == f"Settings: {nowhere}/conf/pipeline.yaml"


def test_a_named_file_goes_before_that_of_the_environment(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ELECTION_REPLAY_CONFIG", str(file))
    assert in_force().config == Config(clock_bound_ms=50)
    assert in_force("none").line == "Settings: defaults (as asked for by the name none)"
    monkeypatch.setenv("ELECTION_REPLAY_CONFIG", "")
    assert in_force().config == Config()


def test_what_is_in_force_has_a_name_however_it_is_written(file: Path) -> None:
    first = in_force("etc/pipeline.yaml")
    assert first.source == f"{file} {first.version}"
    file.write_text("# the same\nclock_bound_ms: 50\nshuffle_partitions: null\n")
    assert in_force(str(file)) == first
    file.write_text("clock_bound_ms: 51\n")
    assert in_force(str(file)).version != first.version


@pytest.mark.parametrize("named", ["nope.yaml", "", ".", "x" * 5000, "a\0b"])
def test_a_named_file_that_cannot_be_read_is_an_error(named: str) -> None:
    with pytest.raises(WrongCommand, match="settings"):
        in_force(named)


@pytest.mark.parametrize("master", CLUSTERS)
def test_on_a_cluster_settings_are_named_or_declined(master: str, nowhere: Path, file: Path) -> None:
    (nowhere / "conf").mkdir()
    (nowhere / "conf/pipeline.yaml").write_text("clock_bound_ms: 50\n")
    with pytest.raises(
        WrongCommand, match=f"no settings are named, and Spark's master is {master}: give --config FILE"
    ):
        in_force(master=master)
    assert in_force(str(file), master).file == file
    assert in_force("none", master) == InForce(Config(), why="as asked for by the name none")


@pytest.mark.parametrize("place", ["the container image", "Airflow"])
def test_so_they_are_where_the_environment_asks_for_it(place: str, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ELECTION_REPLAY_CONFIG_REQUIRED", place)
    with pytest.raises(WrongCommand, match=rf"ELECTION_REPLAY_CONFIG_REQUIRED is set \({place}\)"):
        in_force()
    monkeypatch.setenv("ELECTION_REPLAY_CONFIG", str(file))
    assert in_force().file == file


@pytest.mark.parametrize(
    "command", ["run --landing L --warehouse W", "land --landing L --warehouse W", "replay --warehouse W"]
)
@pytest.mark.parametrize("more", [(), ("--dry-run",)])
def test_every_command_with_settings_refuses_to_guess_on_a_cluster(
    command: str, more: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*command.split(), "--master", "yarn", *more]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1
    assert said.err.startswith("error: no settings are named, and Spark's master is yarn: give --config FILE or set")


def test_serve_does_so_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("election_replay.jobs.warehouse.warehouse.Warehouse.last_run", lambda _: {})
    assert main(["serve", "--warehouse", "W", "--master", "yarn"]) == 2


def test_a_missing_file_is_said_and_the_exit_code_is_that_of_a_wrong_command(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["config", "check", "--config", "nope.yaml"]) == 2
    assert capsys.readouterr().err == "error: cannot read the settings nope.yaml: No such file or directory\n"


def test_machines_are_told_where_settings_come_from(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["--log-format", "json", "land", "--landing", "L", "--warehouse", "W", "--config", str(file)])
    first = json.loads(capsys.readouterr().err.splitlines()[0])
    assert first["message"] == f"Settings: {file}"
    assert first["settings"] == in_force(str(file)).source


def test_a_wrong_setting_is_no_wrong_command(file: Path) -> None:
    file.write_text("clock_bound_ms: 1.0e+23\n")
    with pytest.raises(JobError) as error:
        in_force(str(file))
    assert error.value.exit_code == 1
