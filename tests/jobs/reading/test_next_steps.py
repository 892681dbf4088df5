"""The commands of a finding name what is known of it, and nothing in them can become another command."""

import shlex
from dataclasses import fields
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from election_replay.election_core.model.catalogue import RuleId
from election_replay.election_core.model.facts import MemberAddress
from election_replay.election_core.model.rows import Finding
from election_replay.jobs.cli.app import main
from election_replay.jobs.reading.next_steps import Step, steps_of, with_warehouse
from election_replay.jobs.runbook.of_finding import KnownOfGroup, steps_of_finding
from election_replay.jobs.runbook.steps import ANY, Check, NextSteps, all_steps
from election_replay.jobs.showing.incident_text import command_lines
from tests.jobs.tables import blank, finding, next_steps, publish, put, role

OVERLAP = "SPLIT_BRAIN_OVERLAP"
SHELL = ("$(touch mine)", "`touch mine`", "a;touch mine", "$HOME", "a b", "-rf", "a\nb")
UNKNOWN = KnownOfGroup()
HOSTILE = (*SHELL, "TIME", "WAREHOUSE", "a'; DROP TABLE findings; --", 'a" ; touch mine; "')


def steps(warehouse: str = "/data/warehouse", *addresses: tuple[str, str], **row: Any) -> list[str]:
    """The commands of a finding of a broker set."""
    found = finding("f1", OVERLAP, 0, 5, **{"protocol": "controller", "replica_group": "broker-a"} | row)
    found["next_steps"] = next_steps(found, *addresses)
    return [step.command or step.text for step in steps_of(with_warehouse(found, warehouse))]


def commands(*commands: str, known: KnownOfGroup = UNKNOWN, **row: Any) -> list[str | None]:
    """These commands, as the steps of a finding have them."""
    checks = tuple(Check("Look", command) for command in (*commands, *["true"] * (3 - len(commands))))
    some = NextSteps(rule=RuleId.LEADERLESS, checks=checks, do_not="Do not", source="nowhere", system=ANY)
    return [step[2] or step[1] for step in steps_of_finding(some, core_finding(**row), known) if step[2] != "true"]


def core_finding(**row: Any) -> Finding:
    """A finding of the judge, a second after 1970."""
    names: dict[str, Any] = {"finding_id": "f1", "cluster": "payments", "replica_group": "g", "protocol": "dledger"}
    said: dict[str, Any] = {"rule": RuleId.LEADERLESS, "severity": "warning", "certainty": "definite", "summary": "."}
    more: dict[str, Any] = {"nodes": ("1",), "terms": (), "evidence": (), "start_time": 1_000_000, "end_time": None}
    return Finding(**names | said | more | row)


def test_what_is_known_of_a_finding_stands_in_its_commands() -> None:
    told = "\n".join(steps(cluster="payments", cause="lost"))
    assert "--warehouse /data/warehouse" in told
    assert "cluster = 'payments'" in told
    assert "mqadmin getBrokerEpoch -n NAMESRV:9876 -b broker-a" in told


TIMES = ("journalctl -k --since TIME", "sql \"SELECT * FROM events_around('CLUSTER', 'TIME')\"")


def test_times_are_those_of_the_finding_in_the_form_that_each_tool_reads() -> None:
    kernel, around, _ = commands(*TIMES)
    assert kernel == 'journalctl -k --since "1970-01-01 00:00:01 UTC"'
    assert around == "sql \"SELECT * FROM events_around('payments', '1970-01-01T00:00:01Z')\""


def test_where_a_clock_is_wrong_who_shows_a_finding_says_its_time() -> None:
    skew = core_finding(rule=RuleId.CLOCK_SKEW, clock_least_ms=80_000, clock_most_ms=90_000)
    judged = commands(*TIMES, known=KnownOfGroup.of([], [skew]))
    assert judged[:2] == [TIMES[0], TIMES[1].replace("CLUSTER", "payments")]
    row = finding("f1", OVERLAP, 0, 5)
    row["next_steps"] = [{"kind": "check", "text": "Look", "command": one, "source": None} for one in judged[:2]]
    kernel, around = [step.command or "" for step in steps_of(with_warehouse(row, "w"))]
    assert kernel == f'journalctl -k --since "{row["start_time"]:%Y-%m-%d %H:%M:%S} UTC"'
    assert around.endswith(f"events_around('payments', '{row['start_time']:%Y-%m-%dT%H:%M:%SZ}')\"")
    apart = core_finding(rule=RuleId.CLOCK_SKEW, nodes=("1", "2"), clock_most_ms=90_000)
    assert commands(*TIMES, known=KnownOfGroup.of([], [apart])) == commands(*TIMES)


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
    asked = "mqadmin haStatus -n NAMESRV:9876 -b BROKER:10911; nc -vz HOST PORT"
    told = [address(node, f"10.0.0.{node}:10911") for node in ("3", "1", "1")] + [address(None, "10.0.0.9:10911")]
    known = KnownOfGroup.of(told, [])
    assert commands(asked, known=known, nodes=("1",)) == [
        "mqadmin haStatus -n NAMESRV:9876 -b 10.0.0.1:10911; nc -vz 10.0.0.1 10911",
        "Do not",
    ]
    assert commands(asked, known=known, nodes=("1", "3")) == [
        asked,
        "Do not",
        "By the logs 1 is 10.0.0.1:10911, 3 is 10.0.0.3:10911",
    ]
    moved = KnownOfGroup.of([*told, address("1", "10.0.0.7:10911")], [])
    assert commands(asked, known=moved, nodes=("1",))[0] == asked


def address(node: str | None, of_it: str) -> MemberAddress:
    """The fact that a member has an address."""
    given = dict.fromkeys(field.name for field in fields(MemberAddress)) | {"node": node, "address": of_it}
    return MemberAddress(**given)  # type: ignore[arg-type]


def test_a_long_command_is_cut_where_a_shell_puts_it_together_again() -> None:
    for every in all_steps():
        row = finding("f" * 32, every.rule, 0, 5, cluster="a-cluster-with-a-long-name", cause=every.cause)
        for step in steps_of(with_warehouse(row, "/data/a long place/" + "x" * 40)):
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
    warehouse = blank(tmp_path / "my warehouse")
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
