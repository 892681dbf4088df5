"""The next steps for findings: three checks in order, and one thing not to do."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from election_replay.election_core.model.catalogue import RuleId
from election_replay.election_core.model.facts import CONTROLLER_GROUP
from election_replay.jobs.runbook.texts import text_of

ROCKETMQ = "rocketmq"
ETCD = "etcd"
ZOOKEEPER = "zookeeper"
REDIS = "redis"
REDIS_CLUSTER = "redis_cluster"
KAFKA = "kafka"
ANY = "any"
"""Stands for every system, or for every cause."""

DIED = "died"
FROZEN = "frozen"
CUT_OFF = "cut_off"
REACHABLE = "reachable"
OVERLOADED = "overloaded"
MEMBERS_DIED = "members_died"
LARGER_TERM = "larger_term"
WAS_SET = "was_set"
LOST = "lost"
HASHICORP = "hashicorp"

CAUSES = {
    ANY: "whatever the cause",
    DIED: "the old leader's process died or was stopped",
    FROZEN: "the old leader was frozen: its log is silent over the change",
    CUT_OFF: "the old leader ran on, and the others did not reach it",
    OVERLOADED: "the old leader ran too slowly to be heard in time",
    MEMBERS_DIED: "so many of the other members had ended that no majority was left",
    LARGER_TERM: "a member that had stood alone came back with a larger term",
    REACHABLE: "the old leader was alive and could be reached",
    WAS_SET: "the clock was set",
    LOST: "messages or bytes were cut off",
}
"""The causes that need steps of their own, each with a phrase."""

SYSTEMS = {
    "dledger": ROCKETMQ,
    "controller": ROCKETMQ,
    "acting_master": ROCKETMQ,
    "broker_identity": ROCKETMQ,
    "order_lock": ROCKETMQ,
    "writes": ROCKETMQ,
    "metadata": ROCKETMQ,
    "zab": ZOOKEEPER,
    "raft": ETCD,
    "kraft": KAFKA,
    "partition": KAFKA,
    "redis": REDIS,
    "hashicorp_raft": HASHICORP,
}
"""The system whose tools apply, by protocol; other protocols have none."""


def system_of(protocol: str, replica_group: str) -> str:
    """The system of a group; controllers on JRaft keep the rules of ``raft``, and are no etcd."""
    return ROCKETMQ if (protocol, replica_group) == ("raft", CONTROLLER_GROUP) else SYSTEMS.get(protocol, ANY)


StepRow = tuple[str, str, str | None, str | None]
"""Kind, text, command and source of a step; the last two may be ``None``."""


@dataclass(frozen=True, slots=True)
class Check:
    """A thing to look at, and the command that shows it; names in capitals are placeholders."""

    look: str
    command: str

    def __str__(self) -> str:
        """Return the check as a sentence."""
        return f"{self.look}: `{self.command}`"


@dataclass(frozen=True, slots=True, kw_only=True)
class NextSteps:
    """The next steps for findings of a rule with this ``cause``, with the tools of ``system``.

    ``do_not`` is an action that makes things worse, and why; ``source`` is the source of that warning.
    """

    rule: RuleId
    checks: tuple[Check, ...]
    do_not: str
    source: str
    system: str
    cause: str = ANY

    @property
    def in_order(self) -> tuple[StepRow, ...]:
        """Return the steps as rows."""
        checks = (("check", check.look, check.command, None) for check in self.checks)
        return (*checks, ("do_not", self.do_not, None, self.source))


FILES = {
    ROCKETMQ: "rocketmq.yaml",
    ETCD: "etcd.yaml",
    ZOOKEEPER: "zookeeper.yaml",
    KAFKA: "kafka.yaml",
    REDIS: "redis.yaml",
    REDIS_CLUSTER: "redis_cluster.yaml",
    ANY: "anywhere.yaml",
}
"""The file with the steps of each system."""


@cache
def all_steps() -> tuple[NextSteps, ...]:
    """Return all next steps; there is one entry for each rule, system and cause."""
    return tuple(steps for system, file in FILES.items() for steps in _in_file(system, file))


def _in_file(system: str, file: str) -> Iterator[NextSteps]:
    """Yield the next steps of a system; in the file each check is the name of a command and what it shows."""
    commands: dict[str, str] = text_of("commands.yaml")
    for entry in text_of(file)["steps"]:
        yield NextSteps(
            rule=RuleId(entry["rule"]),
            system=system,
            cause=entry.get("cause", ANY),
            checks=tuple(Check(look, commands[name]) for check in entry["checks"] for name, look in check.items()),
            do_not=entry["do_not"],
            source=entry["source"],
        )


def steps_for(rule: str, system: str, cause: str = ANY) -> NextSteps | None:
    """Return the most specific next steps, or ``None``: a matching system counts more than a matching cause."""
    keys = ((system, cause), (system, ANY), (ANY, cause), (ANY, ANY))
    return next((found for key in keys if (found := _by_key().get((rule, *key)))), None)


@cache
def _by_key() -> dict[tuple[str, str, str], NextSteps]:
    return {(steps.rule.value, steps.system, steps.cause): steps for steps in all_steps()}
