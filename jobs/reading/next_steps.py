"""What to do about findings, for whoever shows them, with what is known of a finding in the commands."""

import re
from collections.abc import Iterator, Sequence
from shlex import quote
from typing import NamedTuple

from election_replay.election_core.model.next_steps import ANY, CAUSES, NEXT_STEPS
from election_replay.jobs.reading.published import Published
from election_replay.jobs.reading.words import Row, listed

HEADINGS = ("Check first", "Check then", "Check last", "Do not", "Addresses")

PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]*")
"""A name that means itself in a shell and in SQL, inside quotes and outside; no other one is put into a command."""
ADDRESS = re.compile(r"([A-Za-z0-9][A-Za-z0-9.-]*):([0-9]+)")
PLACEHOLDER = re.compile(r"'TIME'|\b(?:W|FINDING_ID|CLUSTER|TIME|BROKER_NAME|BROKER:10911|HOST PORT|HOST)\b")
GROUP_IS_BROKER_NAME = ("acting_master", "broker_identity", "controller", "metadata")
"""Protocols whose groups bear the name of the broker set, which RocketMQ's tools ask for."""

ADDRESSES = (
    "SELECT DISTINCT node, address FROM facts WHERE cluster = ? AND replica_group = ? AND kind = 'MEMBER_ADDRESS' "
    "AND node IS NOT NULL AND address IS NOT NULL ORDER BY node, address"
)


class Step(NamedTuple):
    """One of the things to do: a heading, a sentence, and the command that shows it, if there is one."""

    heading: str
    text: str
    command: str | None


def steps_of(finding: Row) -> Iterator[Step]:
    """What to do about a finding; nothing where nobody knows."""
    for heading, step in zip(HEADINGS, finding["next_steps"] or (), strict=False):
        if step["kind"] == "do_not":
            yield Step(heading, f"{step['text'].removeprefix('Do not ')} ({step['source']})", None)
        else:
            yield Step(heading, step["text"], step["command"])


def urgent_steps(finding: Row) -> Iterator[Step]:
    """The same of a finding that somebody should act on: nothing where it is only worth knowing."""
    if finding["severity"] != "info":
        yield from steps_of(finding)


def with_commands(published: Published, findings: Sequence[Row]) -> list[Row]:
    """Findings of one group with what is known of each in its commands."""
    if not any(finding.get("next_steps") for finding in findings):
        return list(findings)
    group = [findings[0]["cluster"], findings[0]["replica_group"]]
    addresses = published.rows(ADDRESSES, group)
    return [filled(finding, published.place, addresses) for finding in findings]


def filled(finding: Row, warehouse: str, addresses: Sequence[Row] = ()) -> Row:
    """A finding whose commands name what is known of it.

    That is the warehouse, the cluster, the time, the finding, its broker set, and the address of its node, where its
    logs tell one (``addresses``: rows of ``node`` and ``address``). Names in capitals remain where a thing is not
    known, and where its name is not plain: logs and folders could bring words that a shell would run.
    """
    if not finding.get("next_steps"):
        return finding
    known = knowledge(finding, warehouse, addresses)

    def command(text: str | None) -> str | None:
        return text and PLACEHOLDER.sub(lambda found: known[found[0]] or found[0], text)

    steps = [step | {"command": command(step["command"])} for step in finding["next_steps"]]
    if addresses and any(re.search("BROKER:|HOST", step["command"] or "") for step in steps):
        named = [f"{row['node']} is {row['address']}" for row in addresses]
        steps.append({"kind": "known", "text": f"By the logs {listed(named)}", "command": None, "source": None})
    return finding | {"next_steps": steps}


def knowledge(finding: Row, warehouse: str, addresses: Sequence[Row]) -> dict[str, str | None]:
    """What stands for each name in capitals; ``None``: it remains."""
    nodes = finding.get("nodes") or []
    named = [row["address"] for row in addresses if row["node"] in nodes]
    where = ADDRESS.fullmatch(named[0]) if len(nodes) == len(named) == 1 else None
    began = finding["start_time"]
    return {
        "W": quote(warehouse),
        "CLUSTER": plain(finding["cluster"]),
        "FINDING_ID": plain(finding["finding_id"]),
        "'TIME'": began and f"'{began:%Y-%m-%dT%H:%M:%SZ}'",
        "TIME": began and f'"{began:%Y-%m-%d %H:%M:%S} UTC"',
        "BROKER_NAME": plain(finding["replica_group"]) if finding["protocol"] in GROUP_IS_BROKER_NAME else None,
        "BROKER:10911": where and where[0],
        "HOST PORT": where and f"{where[1]} {where[2]}",
        "HOST": where and where[1],
    }


def plain(name: str) -> str | None:
    """The name, if it is plain."""
    return name if PLAIN.fullmatch(name) else None


def steps_of_rule(rule: str) -> Iterator[tuple[str, str]]:
    """What to do about findings of a rule: for which system and cause, and the steps in one text."""
    for steps in NEXT_STEPS:
        if steps.rule == rule:
            where = "any system" if steps.system == ANY else steps.system
            cause = "" if steps.cause == ANY else f", where {CAUSES[steps.cause]}"
            checks = " ".join(f"{number}. {check}." for number, check in enumerate(steps.checks, 1))
            yield f"What to do ({where}{cause})", f"{checks} {steps.do_not}"
