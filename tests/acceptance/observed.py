"""The oracle: what an independent observer heard from every node, and when something changed."""

import json
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

SETTLED = 15.0
"""Seconds from the nearest change after which the logs and the observer must agree."""

PASSIVE = {
    "seen",
    "not seen",
    "wait",
    "master is",
    "controller leader is",
    "observed leader",
    "run",
    "quiet",
    "note",
    "incident",
    "mark",
}
"""Rows of ``truth.jsonl`` that tell what was waited for or seen, not what was done."""

GONE = {"kill -9", "stop"}

NEVER_TOLD = -1
"""Slaves in sync of a broker that no controller has told a role yet: it has no SyncStateSet, and its HA service answers
"master" for want of another role."""

Json = dict[str, Any]


@dataclass(frozen=True)
class Sample:
    """One answer of a node. ``member`` is its name in its group.

    ``kind`` is dledger, controller, broker, etcd or zookeeper.
    """

    t: float
    node: str
    kind: str
    role: str
    member: str | None = None
    leader: str | None = None
    term: int | None = None


@dataclass(frozen=True)
class SetState:
    """What the leading controller holds about one broker set."""

    t: float
    group: str
    master: str | None
    master_epoch: int
    set_epoch: int
    members: tuple[str, ...]
    id_of: tuple[tuple[str, str], ...]


def _json_lines(path: Path) -> list[Json]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def _host(address: str) -> str:
    return address.rpartition(":")[0]


@dataclass(frozen=True)
class Observed:
    """The observer's and the experimenter's records of one run."""

    path: Path

    @cached_property
    def raw(self) -> list[Json]:
        return sorted(_json_lines(self.path / "observed.jsonl"), key=lambda row: row["t"])

    @cached_property
    def truth(self) -> list[Json]:
        return _json_lines(self.path / "truth.jsonl")

    @cached_property
    def run(self) -> Json:
        """What the run was: its system, and the nodes with their settings."""
        return dict(json.loads((self.path / "run.json").read_text()))

    @cached_property
    def member_at(self) -> dict[str, str]:
        """The id in its group of the node at each host, by the node's own settings."""
        settings = {host: node.get("config") or {} for host, node in self.run["nodes"].items()}
        ids = {host: config.get("myid", config.get("dLegerSelfId")) for host, config in settings.items()}
        return {host: str(member) for host, member in ids.items() if member is not None}

    @cached_property
    def set_states(self) -> list[SetState]:
        """The SyncStateSets as the leading controllers told them."""
        return [
            SetState(
                row["t"],
                group,
                None if state.get("masterBrokerId") is None else str(state["masterBrokerId"]),
                state["masterEpoch"],
                state["syncStateSetEpoch"],
                tuple(sorted(str(broker["brokerId"]) for broker in state["inSyncReplicas"])),
                tuple(
                    (_host(broker["brokerAddress"]), str(broker["brokerId"]))
                    for broker in state["notInSyncReplicas"] + state["inSyncReplicas"]
                ),
            )
            for row in self.raw
            if row.get("kind") == "controller" and row.get("role") == "leader"
            for group, state in row.get("sets", {}).get("replicasInfoTable", {}).items()
        ]

    def _set_state_of(self, host: str, t: float) -> SetState | None:
        """The newest state, not after ``t``, of the set that has a broker at ``host``."""
        found = [state for state in self.set_states if state.t <= t + 1 and host in dict(state.id_of)]
        return found[-1] if found else None

    def _broker(self, row: Json) -> Sample:
        """A broker's own answer; ids and epochs that it does not tell come from the leading controller.

        The epoch is the newest entry of the broker's epoch file, which misses epochs in which nothing was written.
        The controller's epoch replaces it where the controller names the same master; a slave that is not connected
        to its master tells none, nor does one while the controller names no master.
        """
        host = _host(row["addr"])
        state = self._set_state_of(host, row["t"])
        ids = dict(state.id_of) if state else {}
        if row.get("in_sync_slaves") == NEVER_TOLD:
            return Sample(row["t"], row["node"], "broker", "unsaid")
        is_master = row.get("role") == "master"
        master_address = row.get("ha_client", {}).get("masterAddr")
        leader = ids.get(host if is_master else _host(master_address) if master_address else "")
        member = ids.get(host) if is_master else str(row["broker_id"]) if row.get("broker_id") else None
        term = row.get("epoch")
        if state and leader is not None and leader == state.master:
            term = state.master_epoch
        elif not is_master and (leader is None or (state is not None and state.master is None)):
            term = None
        return Sample(row["t"], row["node"], "broker", row.get("role") or "unsaid", member, leader, term)

    @cached_property
    def samples(self) -> list[Sample]:
        """Every answer, and every failure to answer, of DLedger members, controllers and brokers."""
        return list(self._samples())

    def _samples(self) -> Iterator[Sample]:
        if self.run["system"] == "etcd":
            yield from map(_etcd, self.raw)
            return
        if self.run["system"] == "zookeeper":
            yield from (_zookeeper(row, self.member_at[row["node"]]) for row in self.raw)
            return
        host_of = {member: host for host, member in self.member_at.items()}
        for row in self.raw:
            if row.get("via") == "dledger":
                host = host_of.get(row["node"], row["node"])
                yield Sample(row["t"], host, "dledger", row["role"], row["node"], row.get("leader"))
            elif row.get("kind") == "controller":
                leader, leads = row.get("leader"), row["role"] == "leader"
                yield Sample(row["t"], row["node"], "controller", row["role"], leader if leads else None, leader)
            elif row.get("kind") == "broker":
                yield self._broker(row)

    def _actions_on(self, node: str) -> list[float]:
        """When something was done to it or to all; a peer's fate counts when this node notices it."""
        return [row["t"] for row in self.truth if row["action"] not in PASSIVE and row.get("node") in (node, None)]

    def _changes_seen(self, node: str, kind: str) -> list[float]:
        """The two samples around each change in what the observer heard from one node."""
        mine = [sample for sample in self.samples if (sample.node, sample.kind) == (node, kind)]
        pairs = [
            (before.t, after.t)
            for before, after in pairwise(mine)
            if (before.role, before.leader, before.term) != (after.role, after.leader, after.term)
        ]
        return sorted(t for pair in pairs for t in pair)

    def settled(self, margin: float = SETTLED) -> Iterator[Sample]:
        """The samples farther than so many seconds from every change."""
        changes = {
            (node, kind): sorted(self._actions_on(node) + self._changes_seen(node, kind))
            for node, kind in {(sample.node, sample.kind) for sample in self.samples}
        }
        for sample in self.samples:
            if far_from(changes[sample.node, sample.kind], sample.t, margin):
                yield sample

    def settled_sets(self) -> Iterator[SetState]:
        """The set states farther than :data:`SETTLED` from every change of their own set."""
        for group in {state.group for state in self.set_states}:
            mine = [state for state in self.set_states if state.group == group]
            changes = [
                t
                for before, after in pairwise(mine)
                if (before.master, before.master_epoch, before.set_epoch, before.members)
                != (after.master, after.master_epoch, after.set_epoch, after.members)
                for t in (before.t, after.t)
            ]
            yield from (state for state in mine if far_from(changes, state.t, SETTLED))

    def is_gone(self, node: str, t: float) -> bool:
        """Whether the node's process had been ended, and not started again, at ``t``."""
        done = [
            row for row in self.truth if row.get("node") == node and row["t"] <= t and row["action"] in GONE | {"start"}
        ]
        return not done or done[-1]["action"] in GONE


def _etcd(row: Json) -> Sample:
    """A member's own answer; leader 0 is nobody. A learner calls itself a follower."""
    leader = row.get("leader")
    return Sample(
        row["t"],
        row["node"],
        "etcd",
        "observer" if row.get("learner") and row["role"] == "follower" else row["role"],
        row.get("member"),
        leader if leader != "0" else None,
        row.get("term"),
    )


def _zookeeper(row: Json, server: str) -> Sample:
    """The own answer of the server with this id; a follower names no leader, and its zxid shows the epoch only after the first write."""
    role = "unsaid" if row["role"] == "not serving" else row["role"]
    leads = role == "leader"
    member = server if role in ("leader", "follower") else None
    return Sample(
        row["t"], row["node"], "zookeeper", role, member, member if leads else None, row["epoch"] if leads else None
    )


def far_from(times: list[float], t: float, margin: float) -> bool:
    """Whether no time of the sorted list is within ``margin`` seconds of ``t``."""
    at = bisect_left(times, t - margin)
    return at == len(times) or times[at] > t + margin
