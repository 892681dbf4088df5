"""Writes that a broker had stored and answered when nobody waited for the answer any more.

    a put that took 2.6 s    [==========]
    answers to writers                      x      x         the connection was closed: the writer had given up
    an episode               |<----------------->|

A broker without processor, disk or memory to work with, or with slow slaves, keeps its role and its connections for
long; those who write see it fail. An answer that refuses a write makes no episode: a leader without a majority gives it
late too; how many of them came in one is told with it. Nor does what a process answers that did not run and goes on:
``LOG_GAP`` tells that. Sources: RocketMQ ``NettyRemotingAbstract#writeResponse``,
``DefaultMessageStore#asyncPutMessage`` (a put of more than 500 ms is told).
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from election_replay.election_core.fold.fact_writer import Speaker
from election_replay.election_core.fold.identity import BROKER
from election_replay.election_core.fold.process_runs import Incarnation
from election_replay.election_core.model.facts import RefusedWrites
from election_replay.election_core.model.fold_event import FoldEvent
from election_replay.election_core.model.measures import Refusal
from election_replay.election_core.model.timing import US_PER_MS, Timeout
from election_replay.election_core.protocols.writes.facts import AnsweredTooLate

PROTOCOL = "writes"

UNANSWERED, SLOW = "BRK_WRITE_UNANSWERED", "STORE_PUT_SLOW"
DISK, APPEND, TRANSFER, ACKS = "STORE_DISK_FULL", "DL_APPEND_FAILED", "DL_TRANSFER_REQ", "HA_ACK_TIMEOUT"
KINDS = frozenset({UNANSWERED, SLOW, DISK, APPEND, TRANSFER, ACKS})
"""The events that this fold reads."""

_STORED = frozenset({0, 10, 11, 12})
"""``SUCCESS``, ``FLUSH_DISK_TIMEOUT``, ``SLAVE_NOT_AVAILABLE``, ``FLUSH_SLAVE_TIMEOUT`` (``ResponseCode``): the message
is in the broker's log."""
_UNCONFIRMED = _STORED - {0}
"""Those of them that say that the flush, or the slaves, did not come in time."""


@dataclass(slots=True)
class Episode:
    """Lines that follow each other closely, from ``begin`` to ``last``: ``count`` answers in vain, and slow puts.

    ``begin`` is when the first put of them began, or the first answer was given.
    """

    begin: int
    begin_by: int
    begin_event: str
    last: FoldEvent
    count: int = 0
    unconfirmed: int = 0
    slowest: FoldEvent | None = None

    def goes_on_with(self, other: "Episode") -> bool:
        """Whether an episode that begins no earlier is part of this one: it is not surely later than that."""
        return other.begin - self.last.by <= Timeout.WRITE_EPISODE.us

    def with_(self, other: "Episode") -> None:
        """Take an episode in that begins no earlier."""
        self.count += other.count
        self.unconfirmed += other.unconfirmed
        self.last = max(self.last, other.last, key=_when)
        some = [event for event in (self.slowest, other.slowest) if event is not None]
        self.slowest = max(some, key=lambda event: (event.duration_ms or 0, *_when(event)), default=None)


def _when(event: FoldEvent) -> tuple[int, str]:
    return event.at, event.event_id


def _of(event: FoldEvent) -> Episode | None:
    """The episode of one line, if it tells one. A put that took longer than a whole episode waited for something."""
    if event.kind == UNANSWERED and event.code not in _STORED:
        return None
    if event.kind == SLOW:
        took = (event.duration_ms or 0) * US_PER_MS
        if took > Timeout.WRITE_EPISODE.us:
            return None
        return Episode(event.at - took, event.by - took, event.event_id, event, slowest=event)
    return Episode(event.at, event.by, event.event_id, event, count=1, unconfirmed=int(event.code in _UNCONFIRMED))


def _joined(episodes: Iterable[Episode]) -> list[Episode]:
    joined: list[Episode] = []
    for episode in sorted(episodes, key=lambda known: (known.begin, known.begin_event)):
        if joined and joined[-1].goes_on_with(episode):
            joined[-1].with_(episode)
        else:
            joined.append(replace(episode))
    return joined


@dataclass(slots=True)
class Refused:
    """A time in which a broker refused writes: its lines from the ``first`` to the ``last``, and where it ended."""

    why: Refusal
    first: FoldEvent
    last: FoldEvent
    end: FoldEvent | None = None
    count: int = 1
    asked: FoldEvent | None = None

    def goes_on_with(self, event: FoldEvent) -> bool:
        """Whether a line of the same kind belongs to this time."""
        return event.kind == self.last.kind and event.at - self.last.by <= Timeout.WRITE_EPISODE.us


@dataclass(slots=True)
class WritesLog:
    """The state machine of one broker's answers to writes, whose kinds of lines come from several files."""

    episodes: list[Episode] = field(default_factory=list)
    refusals: list[int] = field(default_factory=list)
    refused: list[Refused] = field(default_factory=list)
    _asked: FoldEvent | None = None

    def on(self, event: FoldEvent) -> None:
        """Take the next line."""
        if event.kind == TRANSFER:
            self._asked = event
        elif event.kind == DISK:
            self._on_disk(event)
        elif event.kind in (APPEND, ACKS):
            self._on_failed(event)
        else:
            self._on_answer(event)

    def _on_disk(self, event: FoldEvent) -> None:
        """The disk became too full for writes (``DefaultMessageStore#isSpaceToDelete``), or is so no more."""
        full = [spell for spell in self.refused if spell.why == Refusal.DISK_FULL and spell.end is None]
        if event.flag is False:
            for spell in full:
                spell.end = event
        elif full:
            full[0].last, full[0].count = event, full[0].count + 1
        else:
            self.refused.append(Refused(Refusal.DISK_FULL, event, event))

    def _on_failed(self, event: FoldEvent) -> None:
        """A write failed: a leader that hands over refuses all (``DLedgerServer#handleAppend``), and who waits for
        acknowledgements in vain tells its client so."""
        why = Refusal.UNACKNOWLEDGED if event.kind == ACKS else Refusal.TRANSFERRING
        last = next((spell for spell in reversed(self.refused) if spell.why == why), None)
        if last is not None and last.goes_on_with(event):
            last.last, last.count = event, last.count + 1
        elif event.kind == ACKS or (self._asked is not None and event.at - self._asked.by <= Timeout.WRITE_EPISODE.us):
            asked = None if event.kind == ACKS else self._asked
            self.refused.append(Refused(why, event, event, asked=asked))

    def _on_answer(self, event: FoldEvent) -> None:
        line = _of(event)
        if line is None:
            if event.kind == UNANSWERED:
                self.refusals.append(event.at)
            return
        last = self.episodes[-1] if self.episodes else None
        if last is not None and last.begin <= line.begin and last.goes_on_with(line):
            last.with_(line)
        else:
            self.episodes.append(line)

    def facts(self, speaker: Speaker, stream: str) -> Iterator[AnsweredTooLate | RefusedWrites]:
        """The episodes in which answers found nobody, and the times in which it refused writes.

        Who waits for acknowledgements says that they did not come when it has waited for them in vain.
        """
        group = speaker.broker_set
        if group is None:
            return
        incarnations = speaker.incarnations.get(BROKER, [])
        emit = speaker.about(group, PROTOCOL, stream, lambda time: speaker.broker_id_at(time, incarnations))
        acknowledged_in = speaker.timing_of(group).us(Timeout.CONTROLLER_ACK)
        for spell in self.refused:
            last = spell.end or (spell.last if spell.why != Refusal.DISK_FULL else None)
            ends = (last.at, last.by, last.event_id) if last is not None else (None, None, None)
            first, waited = spell.first, acknowledged_in if spell.why == Refusal.UNACKNOWLEDGED else 0
            begin = first.at - waited, first.by - waited, first.event_id
            yield RefusedWrites(
                *emit.during(emit.node_at(first.at), *begin, *ends),
                why=spell.why.value,
                count=spell.count,
                peer=spell.asked.peer if spell.asked is not None else None,
                evidence=(spell.asked.event_id,) if spell.asked is not None else (),
            )
        refusals = sorted(self.refusals)
        for episode in _joined(self.episodes):
            if episode.count and not _after_a_hole(episode, incarnations):
                last = episode.last
                during = (episode.begin, episode.begin_by, episode.begin_event, last.at, last.by, last.event_id)
                yield AnsweredTooLate(
                    *emit.during(emit.node_at(last.at), *during),
                    count=episode.count,
                    slowest_ms=episode.slowest.duration_ms if episode.slowest else None,
                    unconfirmed=episode.unconfirmed,
                    refused=bisect_right(refusals, last.by) - bisect_left(refusals, episode.begin),
                    evidence=(episode.slowest.event_id,) if episode.slowest else (),
                )


def _after_a_hole(episode: Episode, incarnations: Iterable[Incarnation]) -> bool:
    """Whether the process did not run, or said nothing, just before an episode or when it began; where its log begins
    amid its run, that may be."""
    holes = [(hole.begin, hole.end) for run in incarnations for hole in run.silences]
    holes += [(episode.begin, run.first_seen) for run in incarnations if run.start is None]
    return any(begin <= episode.begin <= end + Timeout.WRITE_EPISODE.us for begin, end in holes)
