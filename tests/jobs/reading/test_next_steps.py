"""The commands of a finding name what is known of it, and nothing in them can become another command."""

import shlex
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from election_replay.election_core.model.next_steps import NEXT_STEPS
from election_replay.jobs.cli.app import main
from election_replay.jobs.reading.next_steps import Step, filled, steps_of
from election_replay.jobs.showing.incident_text import command_lines
from election_replay.jobs.warehouse.warehouse import Warehouse
from tests.jobs.tables import finding, publish, put, role

OVERLAP = "SPLIT_BRAIN_OVERLAP"
SHELL = ("$(touch mine)", "`touch mine`", "a;touch mine", "$HOME", "a b", "-rf", "a\nb")
HOSTILE = (*SHELL, "a'; DROP TABLE findings; --", 'a" ; touch mine; "')


def steps(warehouse: str = "/data/warehouse", addresses: Any = (), **row: Any) -> list[str]:
    """The commands of a finding of a broker set."""
    given = {"protocol": "controller", "replica_group": "broker-a", "nodes": ["1", "3"]} | row
    found = filled(finding("f1", OVERLAP, 0, 5, **given), warehouse, addresses)
    return [step.command or step.text for step in steps_of(found)]


def test_what_is_known_of_a_finding_stands_in_its_commands() -> None:
    told = "\n".join(steps(cluster="payments", cause="lost"))
    assert "--warehouse /data/warehouse" in told
    assert "cluster = 'payments'" in told
    assert "mqadmin getBrokerEpoch -n NAMESRV:9876 -b broker-a" in told


def test_times_are_those_of_the_finding_in_the_form_that_each_tool_reads() -> None:
    row = finding("f1", OVERLAP, 0, 5, cluster="payments")
    commands = ["journalctl -k --since TIME", "sql \"SELECT * FROM events_around('CLUSTER', 'TIME')\""]
    row["next_steps"] = [{"kind": "check", "text": "Look", "command": one, "source": None} for one in commands]
    kernel, around = [step.command or "" for step in steps_of(filled(row, "w"))]
    assert kernel == f'journalctl -k --since "{row["start_time"]:%Y-%m-%d %H:%M:%S} UTC"'
    assert around.endswith(f"events_around('payments', '{row['start_time']:%Y-%m-%dT%H:%M:%SZ}')\"")


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_that_is_not_plain_stays_a_word_to_fill_in(name: str) -> None:
    told = "\n".join(steps(cluster=name, replica_group=name))
    assert name not in told
    assert "cluster = 'CLUSTER'" in told
    assert "-b BROKER_NAME" in told


@pytest.mark.parametrize("path", ["/data/my warehouse", "/data/$(touch mine)", "/data/it's here", "s3://tables/w"])
def test_the_path_of_the_warehouse_is_one_word_of_the_shell(path: str) -> None:
    commands = [command for command in steps(path, cause="lost") if command.startswith("election-replay")]
    assert commands
    for command in commands:
        words = shlex.split(command)
        assert words[words.index("--warehouse") + 1] == path


def test_addresses_are_filled_in_for_one_node_and_listed_for_several() -> None:
    addresses = [{"node": "1", "address": "10.0.0.1:10911"}, {"node": "3", "address": "10.0.0.3:10911"}]
    row = finding("f1", OVERLAP, 0, 5, nodes=["1"])
    command = "mqadmin haStatus -n NAMESRV:9876 -b BROKER:10911; nc -vz HOST PORT"
    row["next_steps"] = [{"kind": "check", "text": "Look", "command": command, "source": None}]
    [alone] = steps_of(filled(row, "w", addresses))
    assert alone.command == "mqadmin haStatus -n NAMESRV:9876 -b 10.0.0.1:10911; nc -vz 10.0.0.1 10911"
    [several, known] = steps_of(filled(row | {"nodes": ["1", "3"]}, "w", addresses))
    assert several.command == command
    assert known.text == "By the logs 1 is 10.0.0.1:10911 and 3 is 10.0.0.3:10911"


def test_a_long_command_is_cut_where_a_shell_puts_it_together_again() -> None:
    for every in NEXT_STEPS:
        row = finding("f" * 32, every.rule, 0, 5, cluster="a-cluster-with-a-long-name", cause=every.cause)
        for step in steps_of(filled(row, "/data/a long place/" + "x" * 40)):
            lines = command_lines(step, " " * 15)
            assert all(line.endswith(" \\") for line, _ in pairwise(lines))
            joined = "".join(line.removesuffix("\\").removeprefix(" " * 15) for line in lines)
            assert joined == (step.command or "")
            if "'" not in (step.command or "") and '"' not in (step.command or ""):
                assert all(len(line) <= 100 for line in lines)


def test_a_path_with_a_quote_is_not_cut() -> None:
    [line] = command_lines(Step("Check", "Look", f"run {shlex.quote(chr(39) + ' ' * 200)}"), "  ")
    assert shlex.split(line) == ["run", "'" + " " * 200]


@pytest.mark.parametrize("command", ["explain", "incident", "report"])
def test_every_reader_shows_them_filled(command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    warehouse = Warehouse(str(tmp_path / "my warehouse"))
    warehouse.create()
    put(warehouse, "findings", finding("f1", OVERLAP, 0, 5, cluster="c1", protocol="controller", nodes=["1"]))
    put(warehouse, "role_intervals", role("1", "leader", 0, None))
    publish(warehouse)
    group = ["--cluster", "c1", "--group", "g1"]
    more = {"explain": ["f1"], "incident": group, "report": [*group, "--output", str(tmp_path / "report.html")]}[
        command
    ]
    assert main([command, "--warehouse", warehouse.root, *more]) == 0
    told = (tmp_path / "report.html").read_text("utf-8") if command == "report" else capsys.readouterr().out
    assert "BROKER_NAME" not in told
    assert "my warehouse" in told
