"""What to do about a finding: three things to check, in their order, and one not to do."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from election_replay.election_core.fold.identity import CONTROLLER_GROUP
from election_replay.election_core.model.catalogue import RuleId
from election_replay.jobs.runbook.texts import text_of

ROCKETMQ = "rocketmq"
ETCD = "etcd"
ZOOKEEPER = "zookeeper"
REDIS = "redis"
KAFKA = "kafka"
ANY = "any"
"""What holds whatever the system, or the cause."""

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
"""The closed set of causes that ask for other steps, in words."""

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
"""The system whose tools are at hand, by protocol; of all others nothing is known."""


def system_of(protocol: str, replica_group: str) -> str:
    """The system of a group; controllers on JRaft keep the rules of ``raft``, and are no etcd."""
    return ROCKETMQ if (protocol, replica_group) == ("raft", CONTROLLER_GROUP) else SYSTEMS.get(protocol, ANY)


StepRow = tuple[str, str, str | None, str | None]
"""Kind, text, command and source of a step; those of no use are null."""


@dataclass(frozen=True, slots=True)
class Check:
    """Something to look at, and the command that shows it; names in capitals are to be filled in."""

    look: str
    command: str

    def __str__(self) -> str:
        """As a sentence."""
        return f"{self.look}: `{self.command}`"


@dataclass(frozen=True, slots=True, kw_only=True)
class NextSteps:
    """What to do about findings of a rule, with the tools of ``system``, where ``cause`` is why it came to that.

    ``do_not`` is what makes it worse, and why; ``source`` says where that is written.
    """

    rule: RuleId
    checks: tuple[Check, ...]
    do_not: str
    source: str
    system: str
    cause: str = ANY

    @property
    def in_order(self) -> tuple[StepRow, ...]:
        """The steps as rows."""
        checks = (("check", check.look, check.command, None) for check in self.checks)
        return (*checks, ("do_not", self.do_not, None, self.source))


FILES = {
    ROCKETMQ: "rocketmq.yaml",
    ETCD: "etcd.yaml",
    ZOOKEEPER: "zookeeper.yaml",
    KAFKA: "kafka.yaml",
    REDIS: "redis.yaml",
    ANY: "anywhere.yaml",
}
"""The steps of each system."""


@cache
def all_steps() -> tuple[NextSteps, ...]:
    """All of them; of one rule, system and cause there is one."""
    return tuple(steps for system, file in FILES.items() for steps in _in_file(system, file))


def _in_file(system: str, file: str) -> Iterator[NextSteps]:
    """The steps of a system; each check is the name of a command and what it shows."""
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
    """The steps that fit best: those of the system before those for any, and of the cause before those for any."""
    keys = ((system, cause), (system, ANY), (ANY, cause), (ANY, ANY))
    return next((found for key in keys if (found := _by_key().get((rule, *key)))), None)


@cache
def _by_key() -> dict[tuple[str, str, str], NextSteps]:
    return {(steps.rule.value, steps.system, steps.cause): steps for steps in all_steps()}
