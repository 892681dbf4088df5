"""What a source's logs say about themselves: the release that wrote them, the clock, and the member they speak for. A
source is judged in the group that its process is a member of, by the facts of the other protocols. A name server, which
is no member, and a process of an unknown group are judged only where there is something to report."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from election_replay.election_core.fold.declared import SYSTEMS, Deed, systems_by_kind
from election_replay.election_core.fold.fact_writer import FactWriter, Speaker
from election_replay.election_core.fold.identity import (
    BROKER,
    CONTROLLER,
    ETCD,
    NAMESERVER,
    SNAPSHOTS,
    UNIDENTIFIED,
    ZOOKEEPER,
    NamedId,
    process_of,
)
from election_replay.election_core.fold.members import interleaved_names, set_in_one_log, slave_of_itself
from election_replay.election_core.fold.process_runs import LogGap
from election_replay.election_core.fold.program_order import Timeline
from election_replay.election_core.fold.versions import RELEASE_CLAIMS, release_claim
from election_replay.election_core.model.facts import CONTROLLER_GROUP, Alive, ClockSteppedBack, Fact
from election_replay.election_core.model.fold_event import FoldEvent
from election_replay.election_core.model.timing import US_PER_MS
from election_replay.election_core.protocols.log_quality.facts import Claim, ListedAs, PassedOver, Release, SpeaksFor

PROTOCOL = "sources"

BROKER_SET, BROKER_ID, ADDRESS, DLEDGER_GROUP = "broker set", "broker id", "address", "DLedger group"
DLEDGER_MEMBER = "DLedger member"
JOINED = "member of joined logs"
"""The kind of name by which the members of logs that stand one behind the other are told apart."""
_IDENTITY_SETTINGS = {
    "brokerName": BROKER_SET,
    "controllerDLegerSelfId": DLEDGER_MEMBER,
    "dLegerGroup": DLEDGER_GROUP,
    "dLegerSelfId": DLEDGER_MEMBER,
}


def _itself(name_kind: str) -> Callable[[FoldEvent], tuple[str | None, str | None]]:
    return lambda event: (name_kind, event.node)


CLAIMS: Mapping[str, Callable[[FoldEvent], tuple[str | None, str | None]]] = {
    "CFG_ITEM": lambda event: (_IDENTITY_SETTINGS.get(event.setting or ""), event.value),
    "BRK_BOOT": lambda event: (BROKER_SET, event.replica_group),
    **dict.fromkeys(("DL_TO_CANDIDATE", "DL_TO_FOLLOWER", "DL_TO_LEADER"), lambda event: (DLEDGER_MEMBER, event.node)),
    **{kind: _itself(system.member) for kind, system in systems_by_kind(Deed.NAMES_ITSELF).items()},
}
"""Kinds of lines in which a process names itself, with the kind of name. An etcd member that is added again gets
another id, and a broker under controllers may get one: those are no contradictions, so they are left out."""

MEMBER_NAMES = {DLEDGER_MEMBER, *(system.member for system in systems_by_kind(Deed.NAMES_ITSELF).values())}
"""Kinds of names by which members of one log are separated; between separated members they may differ."""

KINDS = frozenset(RELEASE_CLAIMS) | frozenset(CLAIMS)
"""The kinds of events that this fold reads."""

STREAM_OF = {
    BROKER: "broker.log",
    CONTROLLER: "controller.log",
    NAMESERVER: "namesrv.log",
    ETCD: "etcd.log",
    ZOOKEEPER: "zookeeper.log",
}
"""A file name of each process."""

OF_MANY_GROUPS = frozenset(spoken.protocol for system in SYSTEMS for spoken in system.protocols if spoken.many_groups)
"""Protocols in which one process is a member of thousands of groups: its identity is reported in another protocol."""

NAMED_BY_OTHERS = frozenset({"controller", "metadata", "order_lock"}) | OF_MANY_GROUPS
"""Protocols whose members have a broker id, which ``BROKER_ID_CONFLICT`` judges, or else their folder's name."""


@dataclass(slots=True)
class SourcesLog:
    """The fold of one source about itself. Feed ``on`` in program order, then take ``facts``."""

    releases: dict[tuple[str, str, str], FoldEvent] = field(default_factory=dict)
    claims: list[tuple[str, str, str, FoldEvent]] = field(default_factory=list)

    def on(self, event: FoldEvent) -> None:
        """Take an event of one of :data:`KINDS`."""
        process = process_of(event.stream)
        release = release_claim(event)
        if release is not None:
            self.releases.setdefault((process, *release), event)
        if event.kind in CLAIMS:
            subject, value = CLAIMS[event.kind](event)
            if subject is not None and value is not None:
                self._claim(process, subject, value, event)

    def _claim(self, process: str, subject: str, value: str, event: FoldEvent) -> None:
        last = next((claim for claim in reversed(self.claims) if claim[:2] == (process, subject)), None)
        if last is None or last[2] != value:
            self.claims.append((process, subject, value, event))

    def facts(
        self,
        speaker: Speaker,
        stated: list[tuple[str, Fact]],
        apart: Collection[str] = (),
        joined: Mapping[str, Sequence[NamedId]] = MappingProxyType({}),
    ) -> Iterator[Fact]:
        """Yield the facts about this source. ``stated`` are all its other facts, each with its stream. The members of
        the processes ``apart`` are read by themselves; ``joined`` are the first lines of those whose logs were joined,
        one behind the other."""
        self.claims = [claim for claim in self.claims if claim[0] not in apart or claim[1] not in MEMBER_NAMES]
        homes, mixed = _homes(stated), mixed_processes(speaker)
        spoken = {process_of(stream) for stream, _ in stated} | {process for process, _, _ in self.releases}
        for process in (*STREAM_OF, *sorted(spoken - set(STREAM_OF) - {SNAPSHOTS})):
            yield from self._of_process(process, homes.get(process), speaker, mixed.get(process, ()))
            emit = _about(speaker, process, _group_of(process, homes.get(process), speaker), homes.get(process))
            yield from _claims_of(process, joined.get(process, ()), emit, lambda *_: JOINED)
        yield from _members(speaker, stated)
        yield from _listed(speaker, stated)

    def _of_process(
        self, process: str, home: Alive | None, speaker: Speaker, mixed: Sequence[NamedId]
    ) -> Iterator[Fact]:
        of_process = [(key[1:], event) for key, event in self.releases.items() if key[0] == process]
        group = _group_of(process, home, speaker)
        emit = _about(speaker, process, group, home)
        for (system, release), event in of_process:
            yield Release(*emit.at(event), system=system, release=release, evidence=(event.event_id,))
        if home is not None and not of_process:
            yield Release(*emit.during(home.node, home.since, home.since_by, None))
        for number, (_, name_kind, name, event) in enumerate(claim for claim in self.claims if claim[0] == process):
            yield Claim(
                *emit.at(event, ordinal=number),
                process=process,
                name_kind=name_kind,
                name=name,
                evidence=(event.event_id,),
            )
        yield from _claims_of(process, mixed, emit, _kind_of_name)


def clock_steps(
    timeline: Timeline, gaps: Sequence[LogGap], speaker: Speaker, stated: list[tuple[str, Fact]]
) -> Iterator[Fact]:
    """Yield each step of a source's clock, in every group that the source has facts about. Yield also the ``gaps`` in
    its logs in which its clock may have been set forward as far."""
    if not timeline.steps:
        return
    homes, groups = _homes(stated), {fact.replica_group for _, fact in stated}
    home_groups = {home.replica_group for home in homes.values()}
    for step, begin in zip(timeline.steps, timeline.begins(), strict=True):
        if step.joined:
            continue
        process = process_of(step.stream)
        for group in sorted(groups | home_groups) or [_group_of(process, None, speaker)]:
            home = homes.get(process)
            during = (home.node if home else None, begin, begin + step.width, step.event_id)
            yield ClockSteppedBack(
                *_about(speaker, process, group, home).during(*during),
                least_ms=step.least // US_PER_MS,
                back_ms=step.size // US_PER_MS,
                of_member=group in home_groups or not home_groups,
                stream=step.stream,
                evidence=(step.before, step.event_id),
            )
    least = min((step.size for step in timeline.steps if not step.joined), default=1 << 62) // 2
    for gap in gaps:
        if gap.end_by - gap.begin >= least:
            for group in sorted(groups | home_groups):
                first, last = (gap.begin, gap.begin_by, gap.begin_event), (gap.end, gap.end_by, gap.end_event)
                yield PassedOver(*_about(speaker, BROKER, group, None).during(None, *first, *last))


def _homes(stated: Iterable[tuple[str, Fact]]) -> dict[str, Alive]:
    """Return the first run of each process as a member of its group."""
    homes: dict[str, Alive] = {}
    for stream, fact in stated:
        if isinstance(fact, Alive):
            homes.setdefault(process_of(stream), fact)
    return homes


def _group_of(process: str, home: Alive | None, speaker: Speaker) -> str:
    if home is not None:
        return home.replica_group
    controllers = CONTROLLER_GROUP if speaker.identity.controllers else None
    named = {BROKER: speaker.identity.broker_set, CONTROLLER: controllers}
    return named.get(process) or speaker.listed.replica_group or (NAMESERVER if process == NAMESERVER else UNIDENTIFIED)


def _about(speaker: Speaker, process: str, group: str, home: Alive | None) -> FactWriter:
    return speaker.about(group, PROTOCOL, STREAM_OF.get(process, process), home.node if home else None)


def mixed_processes(speaker: Speaker) -> dict[str, tuple[NamedId, ...]]:
    """Return the processes whose lines are several members', mostly unnamed, with lines that prove it."""
    identity, runs = speaker.identity, speaker.incarnations
    brokers, controllers = runs.get(BROKER, []), runs.get(CONTROLLER, [])
    found = {
        BROKER: interleaved_names(identity.ids, brokers)
        or slave_of_itself(identity, brokers)
        or set_in_one_log(identity, brokers),
        CONTROLLER: interleaved_names(identity.controllers, controllers),
    }
    return {process: lines for process, lines in found.items() if lines}


def _claims_of(
    process: str, named: Sequence[NamedId], emit: FactWriter, kind_of: Callable[[str, str], str]
) -> Iterator[Fact]:
    """Yield the names of a process that is several members; a new name after a start is no contradiction."""
    for number, line in enumerate(named):
        yield Claim(
            *emit.during(emit.node_at(line.at), line.at, line.by, line.event_id, ordinal=number),
            process=process,
            name_kind=kind_of(process, line.node),
            name=line.node,
            evidence=(line.event_id,),
        )


def _kind_of_name(process: str, name: str) -> str:
    return ADDRESS if process == CONTROLLER or ":" in name else BROKER_ID


def _members(speaker: Speaker, stated: list[tuple[str, Fact]]) -> Iterator[Fact]:
    """Yield the process runs of members under a name that only one member of the group may have."""
    for stream, run in stated:
        if not isinstance(run, Alive) or run.node is None or run.replica_group == UNIDENTIFIED:
            continue
        if run.protocol not in NAMED_BY_OTHERS:
            emit = speaker.about(run.replica_group, PROTOCOL, stream)
            end = (run.until, run.until_by, run.until_event)
            yield SpeaksFor(
                *emit.during(run.node, run.since, run.since_by, run.since_event, *end),
                member_of=run.protocol,
                evidence=_shown_by(run, stated),
                goes_on=run.goes_on,
            )


def _listed(speaker: Speaker, stated: list[tuple[str, Fact]]) -> Iterator[Fact]:
    """Yield whether the log agrees with the inventory, where both name a member or group."""
    listed = speaker.listed
    alive = [fact for _, fact in stated if isinstance(fact, Alive) and fact.replica_group != UNIDENTIFIED]
    if not alive or listed.replica_group is None:
        return
    of_group = [run for run in alive if run.replica_group == listed.replica_group]
    names = {run.node for run in of_group if run.node is not None}
    agrees = bool(of_group) and (listed.member is None or not names or listed.member in names)
    shown = next((run for run in of_group or alive if run.node is not None), (of_group or alive)[0])
    emit = speaker.about(shown.replica_group, PROTOCOL, "")
    yield ListedAs(
        *emit.during(shown.node, shown.since, shown.since_by, shown.since_event),
        listed_member=listed.member,
        listed_group=listed.replica_group,
        agrees=agrees,
        evidence=_shown_by(shown, stated),
    )


def _shown_by(run: Fact, stated: list[tuple[str, Fact]]) -> tuple[str, ...]:
    """Return the id of the first line of the source's facts about that group, if there is one."""
    about = (run.replica_group, run.protocol)
    lines = (fact.since_event for _, fact in stated if (fact.replica_group, fact.protocol) == about)
    return tuple(line for line in [next((line for line in lines if line), None)] if line)
