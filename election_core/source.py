"""One source: the logs of one folder, folded into facts.

Lines of one stream are in program order; two streams of a machine share its clock and nothing else. Streams of
different processes on one machine (a name server beside a broker) have lives of their own.

A line rarely says for which replica group and member it speaks. The log itself does, elsewhere: votes name the
group, registrations name broker set and broker id. What the whole log says about itself is used for all its
lines.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from election_core import facts
from election_core.facts import Fact
from election_core.lives import SECOND, START_KINDS, START_SETTINGS, STOP_KINDS, Activity, Life
from election_core.logged import Logged
from election_core.protocols.controller.log import (
    BROKER_KINDS,
    CONTROLLER_KINDS,
    BrokerLog,
    ControllerLog,
)
from election_core.protocols.controller.log import (
    PROTOCOL as CONTROLLER,
)
from election_core.protocols.dledger.log import KINDS as DLEDGER_KINDS
from election_core.protocols.dledger.log import PROTOCOL as DLEDGER
from election_core.protocols.dledger.log import DledgerLog
from election_core.protocols.jraft import KINDS as JRAFT_KINDS
from election_core.protocols.jraft import PROTOCOL as JRAFT
from election_core.protocols.jraft import JraftLog
from election_core.roles import Span

CONTROLLER_GROUP = "controller"
"""The replica group that the controllers themselves form."""
UNIDENTIFIED = "unidentified"
"""The replica group of a node whose log never says to which group it belongs."""

INTERESTING = DLEDGER_KINDS | JRAFT_KINDS | BROKER_KINDS | CONTROLLER_KINDS | START_KINDS | STOP_KINDS
"""The kinds of events that the fold reads; all others are signs of life only."""

NodeAt = Callable[[int], str | None]
"""The name of the node that a source was at a time (microseconds, own clock)."""

_BROKER_PROCESS = "broker"
_CONTROLLER_PROCESS = "controller"
_NAMESERVER_PROCESS = "nameserver"


def process_of(stream: str) -> str:
    """Which process of a machine writes a file, by the file's name (RocketMQ's logback configurations)."""
    if stream.startswith("namesrv"):
        return _NAMESERVER_PROCESS
    if stream.startswith(("controller", "dledger", "jraft")):
        return _CONTROLLER_PROCESS
    return _BROKER_PROCESS


@dataclass(slots=True)
class SourceLog:
    """Everything that one source's logs say. Feed ``seen`` and ``on``, then take ``facts`` once."""

    cluster: str
    source_node: str
    bound_ms: int
    activity: dict[str, Activity] = field(default_factory=dict)
    dledger: dict[str, DledgerLog] = field(default_factory=dict)
    rafts: dict[str, JraftLog] = field(default_factory=dict)
    broker: BrokerLog = field(default_factory=BrokerLog)
    controllers: dict[str, ControllerLog] = field(default_factory=dict)
    settings: dict[str, str] = field(default_factory=dict)

    def seen(self, stream: str, time: int) -> None:
        """A line of ``stream`` was written at ``time`` (microseconds UTC, own clock)."""
        self._activity(stream).seen(time)

    def _activity(self, stream: str) -> Activity:
        process = process_of(stream)
        if process not in self.activity:
            self.activity[process] = Activity()
        return self.activity[process]

    def on(self, event: Logged) -> None:
        """Take an event of one of :data:`INTERESTING`."""
        self._note_life(event)
        if event.kind in DLEDGER_KINDS:
            self.dledger.setdefault(event.stream, DledgerLog()).on(event)
        if event.kind in JRAFT_KINDS:
            self.rafts.setdefault(process_of(event.stream), JraftLog()).on(event)
        if event.kind in BROKER_KINDS and process_of(event.stream) == _BROKER_PROCESS:
            self.broker.on(event)
        if event.kind in CONTROLLER_KINDS:
            self.controllers.setdefault(event.stream, ControllerLog()).on(event)

    def _note_life(self, event: Logged) -> None:
        activity = self._activity(event.stream)
        if event.kind in STOP_KINDS:
            activity.stopping(event.at, event.event_id)
        if event.kind == "CFG_ITEM":
            if event.setting in START_SETTINGS:
                activity.marker(event.at, f"{event.stream} {event.setting}", event.event_id)
            if event.setting and event.value:
                self.settings[event.setting] = event.value
        elif event.kind in START_KINDS:
            activity.marker(event.at, f"{event.stream} {event.kind}", event.event_id)

    def facts(self) -> Iterator[Fact]:
        """All facts of this source, after its last event."""
        lives = {process: activity.lives() for process, activity in self.activity.items()}
        for stream, log in sorted(self.dledger.items()):
            yield from self._dledger_facts(stream, log, lives[process_of(stream)])
        for process, raft in sorted(self.rafts.items()):
            yield from self._raft_facts(raft, lives[process])
        if self.broker.group is not None:
            yield from self._broker_facts(self.broker.group, lives[_BROKER_PROCESS])
        for _, controller in sorted(self.controllers.items()):
            yield from self._decision_facts(controller)

    # -- one protocol after the other ---------------------------------------------------------------------

    def _dledger_facts(self, stream: str, log: DledgerLog, lives: list[Life]) -> Iterator[Fact]:
        if not log.steps and not log.campaigns:
            return
        group = log.group or self.settings.get("dLegerGroup") or self.broker.group or UNIDENTIFIED
        if process_of(stream) != _BROKER_PROCESS:
            group = CONTROLLER_GROUP
        node = log.node
        yield from self._role_facts(group, DLEDGER, lambda _: node, log.role_spans(lives))
        yield from self._life_facts(group, DLEDGER, lambda _: node, lives)
        for grant in log.grants.values():
            yield self._fact(
                group,
                DLEDGER,
                facts.GRANT,
                grant.candidate,
                grant.at,
                grant.by,
                grant.event_id,
                peer=grant.voter,
                term=grant.term,
                evidence=(grant.event_id,),
            )
        for campaign in log.campaigns:
            yield self._fact(
                group,
                DLEDGER,
                facts.CAMPAIGN,
                campaign.node,
                campaign.at,
                campaign.by,
                campaign.first_event,
                until=campaign.ended_at,
                until_by=campaign.ended_by,
                until_event=campaign.last_event,
                term=campaign.term,
                result=_outcome(campaign.outcome, campaign.last_result),
                cause=campaign.cause,
                members=tuple(sorted(campaign.voters)),
                granted=max(campaign.granted, len(campaign.voters)),
                needed=campaign.needed,
                count=campaign.rounds,
            )
        for raised in log.raised:
            yield self._fact(
                group,
                DLEDGER,
                facts.TERM_RAISED,
                node,
                raised.at,
                raised.by,
                raised.event_id,
                term=raised.term,
            )
        for meeting in log.two_leaders:
            yield self._fact(
                group,
                DLEDGER,
                facts.TWO_LEADERS,
                node,
                meeting.at,
                meeting.by,
                meeting.event_id,
                term=meeting.term,
                peer=meeting.other,
                result=meeting.known,
            )
        for progress in log.progress:
            yield self._fact(
                group,
                DLEDGER,
                facts.COMMITTED,
                node,
                progress.after,
                progress.by,
                progress.event_id,
                term=progress.term,
                start_offset=progress.from_index,
                end_offset=progress.to_index,
            )
        for heard in log.heard:
            yield self._fact(group, DLEDGER, facts.LAST_HEARD, heard.leader, heard.at, heard.by, heard.event_id)
        for cut in log.truncated:
            yield self._fact(
                group,
                DLEDGER,
                facts.CUT,
                node,
                cut.at,
                cut.by,
                cut.event_id,
                peer=cut.peer,
                start_offset=cut.start_offset,
                end_offset=cut.max_offset,
                flag=True,
                evidence=(cut.event_id,),
            )

    def _raft_facts(self, log: JraftLog, lives: list[Life]) -> Iterator[Fact]:
        yield from self._role_facts(CONTROLLER_GROUP, JRAFT, lambda _: log.node, log.role_spans(lives))
        yield from self._life_facts(CONTROLLER_GROUP, JRAFT, lambda _: log.node, lives)

    def _broker_facts(self, group: str, lives: list[Life]) -> Iterator[Fact]:
        log = self.broker
        if not log.steps and not log.replication and not log.ids:
            return
        yield from self._role_facts(group, CONTROLLER, lambda time: log.id_at(time, lives), log.role_spans(lives))
        yield from self._life_facts(group, CONTROLLER, lambda time: log.id_at(time, lives), lives)
        for (node, address), event in sorted(log.members.items()):
            yield self._fact(group, CONTROLLER, facts.MEMBER, node, event.at, event.by, event.event_id, address=address)
        for cut in log.cuts:
            yield self._fact(
                group,
                CONTROLLER,
                facts.CUT,
                log.id_at(cut.at, lives),
                cut.at,
                cut.by,
                cut.evidence[-1],
                term=cut.epoch,
                start_offset=cut.common,
                end_offset=cut.log_end,
                flag=cut.done,
                evidence=cut.evidence,
            )
        for term, event in sorted(log.starts_of_epoch.items()):
            yield self._fact(
                group,
                CONTROLLER,
                facts.EPOCH_START,
                log.id_at(event.at, lives),
                event.at,
                event.by,
                event.event_id,
                term=term,
                start_offset=event.start_offset,
            )
        for code, event in sorted(log.codes.items()):
            yield from self._code_fact(group, code, event, accepted=False)
        if log.all_ack is not None:
            event = log.all_ack
            yield self._fact(
                group,
                CONTROLLER,
                facts.ALL_ACK,
                log.id_at(event.at, lives),
                event.at,
                event.by,
                event.event_id,
                flag=event.value == "true",
            )

    def _decision_facts(self, log: ControllerLog) -> Iterator[Fact]:
        for made in log.decisions:
            yield self._fact(
                made.group,
                CONTROLLER,
                facts.DECISION,
                made.node,
                made.at,
                made.by,
                made.event_id,
                term=made.term,
                result=made.decision,
                members=made.members,
                set_epoch=made.set_epoch,
                raft_index=made.raft_index,
                flag=made.committed,
                address=made.address,
            )
            if made.register_code is not None:
                yield from self._code_fact(made.group, made.register_code, made, accepted=True)
        for lost in log.lost:
            yield self._fact(lost.group, CONTROLLER, facts.LAST_HEARD, lost.node, lost.at, lost.by, lost.event_id)
        for (group, node, address), event in sorted(log.members.items()):
            yield self._fact(group, CONTROLLER, facts.MEMBER, node, event.at, event.by, event.event_id, address=address)

    # -- the shapes they share ------------------------------------------------------------------------------

    def _code_fact(self, group: str, code: str, event: Any, *, accepted: bool) -> Iterator[Fact]:
        """``registerCheckCode`` is ``address;epoch ms`` (RocketMQ ReplicasManager#createTempMetadataFile)."""
        made_at = code.rpartition(";")[2]
        if made_at.isdigit() and len(made_at) <= 15:
            yield self._fact(
                group,
                CONTROLLER,
                facts.REGISTER_CODE,
                None,
                event.at,
                event.by,
                event.event_id,
                address=code,
                count=int(made_at),
                flag=accepted,
            )

    def _role_facts(self, group: str, protocol: str, node_at: NodeAt, role_spans: Iterator[Span]) -> Iterator[Fact]:
        for span in role_spans:
            step = span.step
            yield self._fact(
                group,
                protocol,
                facts.ROLE,
                step.node or node_at(step.at),
                step.at,
                step.by,
                step.event_id,
                until=span.until,
                until_by=span.until_by,
                until_event=span.until_event,
                role=step.role,
                term=step.term,
                peer=step.leader,
                cause=step.cause,
                result=span.end_cause,
                address=step.address,
            )

    def _life_facts(self, group: str, protocol: str, node_at: NodeAt, lives: list[Life]) -> Iterator[Fact]:
        for life in lives:
            yield self._fact(
                group,
                protocol,
                facts.ALIVE,
                node_at(life.first_seen),
                life.first_seen,
                life.first_seen,
                life.start_event,
                until=life.last_seen,
                until_by=life.last_seen + SECOND,
                until_event=life.stop_event,
                flag=life.stop is not None,
            )
            for last_before, first_after in life.silences:
                yield self._fact(
                    group,
                    protocol,
                    facts.SILENCE,
                    node_at(last_before),
                    last_before,
                    last_before + SECOND,
                    None,
                    until=first_after,
                    until_by=first_after + SECOND,
                )

    def _fact(
        self,
        group: str,
        protocol: str,
        kind: str,
        node: str | None,
        since: int,
        since_by: int,
        since_event: str | None,
        **more: Any,
    ) -> Fact:
        return Fact(
            cluster=self.cluster,
            replica_group=group,
            protocol=protocol,
            kind=kind,
            node=node,
            source_node=self.source_node,
            since=since,
            since_by=since_by,
            since_event=since_event,
            bound_ms=self.bound_ms,
            **more,
        )


def _outcome(outcome: str, last_result: str | None) -> str:
    """How a campaign ended, in one word; an open one is described by its last round."""
    return (last_result or outcome).lower() if outcome == "open" else outcome
