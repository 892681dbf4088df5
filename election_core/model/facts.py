"""Facts: what one node's own log proves, as plain data that can cross machines and nights.

The fold of a node's log makes facts; the judge of a group reads them. A fact names the group and member it is about, so
that facts of one group may come from many logs: the brokers', the controllers', the name servers'. Facts are values:
merging two collections of them is set union, which no order of arrival can change.

Each kind of fact is a class with fields of its own. Kinds that several protocols share are here, those of one protocol
in ``protocols/<name>/facts.py``. ``None`` means unknown; zero, empty and false are known values.

``ordinal`` numbers the facts of one log in their order: within a second, no time orders them. ``speaker`` is the member
that wrote the lines, where the files of a source hold the lines of several members.

A fact has a beginning and, where it lasts, an end. Each is an interval on the clock of the machine that logged it, in
microseconds UTC: the true moment lies in ``[since, since_by]``. ``bound_ms`` is how far that clock may be off; it is
added only where clocks of different machines are compared.
"""

import re
from dataclasses import dataclass
from typing import ClassVar, TypeVar

CONTROLLER_GROUP = "controller"
"""The replica group of RocketMQ's controllers themselves."""


@dataclass(slots=True, unsafe_hash=True)
class Fact:
    """One thing that a node's log proves: about whom, from which log, and when. A subclass adds what it says. Treat it
    as immutable; it is not frozen because a frozen one takes eight times as long to make, and very many are made."""

    cluster: str
    replica_group: str
    protocol: str
    node: str | None
    source_node: str
    since: int
    since_by: int
    since_event: str | None
    until: int | None
    until_by: int | None
    until_event: str | None
    bound_ms: int
    ordinal: int
    speaker: str | None

    kind: ClassVar[str] = ""
    """The name of the kind in rows: the class name in capitals."""
    BY_COPIER: ClassVar[bool] = False
    """True when the kind's times are by the clock that copied the machine's files, not by the clock of its logs."""
    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ()
    """Fields already known at ``since``; used to recognise two copies of one log."""

    def __init_subclass__(cls) -> None:
        cls.kind = vars(cls).get("kind", re.sub(r"(?<!^)(?=[A-Z])", "_", cls.__name__).upper())

    @property
    def who(self) -> str:
        """Return the member that the fact is about, by name, or the source if its log has no name."""
        return self.node or self.source_node

    @property
    def is_open(self) -> bool:
        """Return True when the next line of the log may change the fact, even a line that says nothing new."""
        return bool(getattr(self, "goes_on", False))

    @property
    def end_provisional(self) -> bool:
        """Return True when the next line of the log moves the fact's end, as long as its process runs."""
        return self.is_open and self.until is not None

    @property
    def value_provisional(self) -> bool:
        """Return True when the next line of the log may add to the fact, so that it changes as a whole."""
        return self.is_open and self.until is None


F = TypeVar("F", bound=Fact)
"""A kind of fact."""


@dataclass(slots=True, unsafe_hash=True)
class Role(Fact):
    """A node was in ``role`` of ``term`` under ``leader``; ``cause`` began it, ``end_cause`` ended it."""

    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("role", "term", "leader", "address", "cause")

    role: str
    term: int | None
    leader: str | None
    address: str | None
    end_cause: str | None
    cause: str | None


@dataclass(slots=True, unsafe_hash=True)
class Alive(Fact):
    """One run of a process, from its first sign to its last; ``stopped``: a clean shutdown began in it. ``sure_until``
    is the last line of a run whose end may be moved to a later sign (null: its end is not moved). ``goes_on``: the log
    ends with this run."""

    stopped: bool
    sure_until: int | None = None
    goes_on: bool = False


@dataclass(slots=True, unsafe_hash=True)
class Written(Fact):
    """The source wrote lines into ``stream``, in which it logs its roles, from ``since`` to ``until``. Beyond that it
    shows no role, although its process may have written other files. ``goes_on``: the file may grow."""

    stream: str
    goes_on: bool = True


@dataclass(slots=True, unsafe_hash=True)
class Silence(Fact):
    """A gap in all logs of a process, from the last line before it to the first line after it. ``noticed``: the process
    logged that it did not run in that time."""

    noticed: bool = False


@dataclass(slots=True, unsafe_hash=True)
class QuietLog(Fact):
    """The source's log has no periodic lines: its silence proves nothing (:mod:`election_core.judge.silent_logs`)."""


@dataclass(slots=True, unsafe_hash=True)
class OrderLost(Fact):
    """The source's lines do not stand as they were written: what rests on their order is not sure."""


@dataclass(slots=True, unsafe_hash=True)
class LastHeard(Fact):
    """The source last heard of ``node`` in ``[since, since_by]``: after that ``node`` was gone or cut off. ``line_at``:
    the time of the line from which that is reckoned back (null: as long before it as the interval is wide)."""

    line_at: int | None = None


@dataclass(slots=True, unsafe_hash=True)
class ContactLost(Fact):
    """The source lost contact with ``node`` in ``[since, since_by]``, and regained it at ``until`` (``None``: no line
    says). ``closed``: the other side closed the connection."""

    closed: bool


@dataclass(slots=True, unsafe_hash=True)
class Unreached(Fact):
    """The source could not reach most of the controllers that decide about its group from ``since`` to ``until``."""


@dataclass(slots=True, unsafe_hash=True)
class QuorumLost(Fact):
    """As leader of ``term`` a node lost its majority in ``[since, since_by]`` and had none up to ``until``. ``rounds``
    counts the rounds in which no quorum answered (null: not counted). ``regained``: it had a majority again as leader
    of the same term. ``closed``: some followers had closed their connections, so it was not cut off from all."""

    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("term",)

    term: int
    rounds: int | None
    regained: bool
    closed: bool = False


@dataclass(slots=True, unsafe_hash=True)
class Committed(Fact):
    """As leader of ``term`` a node's commit index last grew in ``[since, since_by]``, from ``from_index`` to
    ``to_index``. Indexes count entries (null where they do not matter). ``goes_on``: the node still leads at the end of
    its log."""

    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("term",)

    term: int
    from_index: int | None
    to_index: int | None
    goes_on: bool = False


@dataclass(slots=True, unsafe_hash=True)
class LeaderLog(Fact):
    """The log of ``node`` ended at entry ``to_index`` when it became leader of ``term``, or its candidate."""

    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("term",)

    term: int
    to_index: int


@dataclass(slots=True, unsafe_hash=True)
class KnownCommitted(Fact):
    """``node`` knew in ``term`` that the entries up to ``to_index`` were committed, in that term or an earlier one. An
    index of an entry; for ZooKeeper a zxid. ``goes_on``: the node still follows in that term at the end of its log."""

    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("term",)

    term: int
    to_index: int
    goes_on: bool = False


@dataclass(slots=True, unsafe_hash=True)
class Serving(Fact):
    """``node`` began in ``[since, since_by]`` to change its role to leader of ``term``, and serves clients from
    ``until`` on. ``until`` is null when the change failed, or no line ends it."""

    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("term",)

    term: int


@dataclass(slots=True, unsafe_hash=True)
class MemberAddress(Fact):
    """The member ``node`` has the ``address``; null ``node``: a member of unknown id has it."""

    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("address",)

    address: str


@dataclass(slots=True, unsafe_hash=True)
class VotersStated(Fact):
    """From ``since`` on the source knows these voters to be in force; as leader of ``term``, where a term is given.

    ``voters`` are all voters by name. ``voters_before`` are the voters of the former configuration, whose majority is
    needed too while a change of members is in force. Where no line names them, their number is ``voters_least`` to
    ``voters_most``, of which a majority decides, or there are ``groups`` of unknown members with a quorum each. All
    null: the voters changed, and no line says to whom. ``learners`` have no vote.
    """

    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("term", "voters", "voters_before", "learners")

    term: int | None = None
    voters: tuple[str, ...] | None = None
    voters_before: tuple[str, ...] | None = None
    learners: tuple[str, ...] | None = None
    voters_least: int | None = None
    voters_most: int | None = None
    groups: int | None = None


@dataclass(slots=True, unsafe_hash=True)
class VoteGranted(Fact):
    """``voter`` voted for ``node`` in ``term``, by the candidate's log."""

    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("term", "voter")

    term: int
    voter: str


@dataclass(slots=True, unsafe_hash=True)
class Candidacy(Fact):
    """The voting rounds of ``node`` in ``term``; ``outcome`` says how they ended, ``cause`` why they began.

    ``voters`` are the members that granted their vote, as far as they are printed by name; ``granted`` counts them
    where only a number is printed; ``electorate`` are all that voted in the election. ``begun``: a line of its own
    logged the beginning. ``majority_answered``: so many members took part that one could have won (null: not known).
    """

    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("term", "cause")

    term: int | None
    outcome: str
    cause: str | None
    voters: tuple[str, ...] = ()
    granted: int | None = None
    needed: int | None = None
    rounds: int = 1
    begun: bool | None = None
    electorate: tuple[str, ...] | None = None
    majority_answered: bool | None = None


@dataclass(slots=True, unsafe_hash=True)
class TermRaised(Fact):
    """``node`` raised its own term to ``term`` because of ``peer`` (``None``: nobody is named)."""

    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("term", "peer")

    term: int
    peer: str | None = None


@dataclass(slots=True, unsafe_hash=True)
class TermWentBack(Fact):
    """``node`` was in the term or epoch ``before``, and later logged the smaller one ``after``. A broker that takes two
    roles in one epoch has that epoch as ``before`` and ``after``. ``evidence``: the line that shows ``before``, where
    it is not the fact's own line."""

    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("after",)

    before: int
    after: int
    evidence: tuple[str, ...]


@dataclass(slots=True, unsafe_hash=True)
class RefusedWrites(Fact):
    """A broker or member logged that it refused writes from ``since`` to ``until`` (null: to the end of its log).
    ``why`` is a :class:`~election_core.model.measures.Refusal`, ``count`` the number of such lines, ``peer`` the member
    that was to take over. To have room, it deleted its commit log before ``end_offset`` (bytes), whatever its age."""

    why: str
    count: int
    peer: str | None
    evidence: tuple[str, ...]
    end_offset: int | None = None


@dataclass(slots=True, unsafe_hash=True)
class MessageSent(Fact):
    """``node`` sent ``peer`` a ``message`` of the election or round ``term``; it may not have arrived."""

    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("term", "peer", "message")

    term: int | None
    peer: str | None
    message: str
    ids: str | None


@dataclass(slots=True, unsafe_hash=True)
class MessageReceived(Fact):
    """``node`` received such a message from ``peer``."""

    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("term", "peer", "message")

    term: int | None
    peer: str | None
    message: str
    ids: str | None


@dataclass(slots=True, unsafe_hash=True)
class LogCut(Fact):
    """A replica's log ended at ``log_end`` and was truncated to ``cut_to`` (bytes); ``done``: the truncation worked.
    ``term`` is the replica's own last epoch, ``peer`` the member whose log it compared with its own."""

    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("term", "peer")

    term: int | None
    peer: str | None
    cut_to: int | None
    log_end: int | None
    done: bool
    evidence: tuple[str, ...]


@dataclass(slots=True, unsafe_hash=True)
class LogEndedEarlier(Fact):
    """``node`` started with a log that ended at entry ``after`` although it had reached ``before`` (ZooKeeper: zxids).
    No line shows that a leader truncated it. ``evidence``: the line that shows ``before``."""

    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("before", "after")

    before: int
    after: int
    evidence: tuple[str, ...]


@dataclass(slots=True, unsafe_hash=True)
class RuleChecked(Fact):
    """The ``rule`` was checked ``count`` times on the node's lines with one ``verdict``; ``why``: if undecidable."""

    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("rule",)

    verdict: str
    rule: str
    count: int
    why: str | None


@dataclass(slots=True, unsafe_hash=True)
class RuleBroken(Fact):
    """A line of ``node``, of the kind ``line``, breaks the ``rule``; ``why`` is a clause that says how.

    ``term`` is the term or epoch in that line, ``peer`` another member, ``start_offset`` a place in a log (bytes).
    """

    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("term", "peer", "rule")

    term: int | None
    rule: str
    line: str
    why: str
    peer: str | None
    start_offset: int | None


@dataclass(slots=True, unsafe_hash=True)
class ClockSteppedBack(Fact):
    """The clock went back between two lines of ``stream``, by ``least_ms`` or more. From there on the timeline of the
    log is ``back_ms`` further ahead of the readings. ``of_member``: the source is a member of the group."""

    least_ms: int
    back_ms: int
    of_member: bool
    stream: str
    evidence: tuple[str, ...]


@dataclass(slots=True, unsafe_hash=True)
class SettingPrinted(Fact):
    """The source printed the setting ``name`` for the first time, with this ``value`` in ms or ticks. Only settings
    that change a time of :class:`~election_core.model.timing.Timeout`."""

    name: str
    value: int


@dataclass(slots=True, unsafe_hash=True)
class TimeoutConfigured(Fact):
    """The pipeline's settings give the group's time-out ``name`` this ``value`` in ms."""

    name: str
    value: int


@dataclass(slots=True, unsafe_hash=True)
class ReplayFailed(Fact):
    """The fold of a source, or the rules of a group (empty source), failed with ``error``: a bug of this software.
    ``failed_protocol`` is null where all protocols of the source or group failed."""

    failed_protocol: str | None
    error: str
