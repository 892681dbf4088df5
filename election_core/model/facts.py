"""Facts: what one node's own log proves, as plain data that can cross machines and nights.

The fold of a node's log makes facts; the judge of a group reads them. A fact names the group and member it is
about, so that facts of one group may come from many logs: the brokers', the controllers', the name servers'.
Facts are values: merging two collections of them is set union, which no order of arrival can change.

Each kind of fact is a class with fields of its own. Kinds that several protocols share stand here, those of one
protocol in ``protocols/<name>/facts.py``. A field that is ``None`` is not known; zero, empty and false are known.

``ordinal`` numbers facts that one log noted one after the other: within a second, that order is all there is.
``speaker`` is the member whose lines they are where the files of a source hold the lines of several members.

A fact has a beginning and, where it lasts, an end. Each is an interval on the clock of the machine that
logged it, in microseconds UTC: the true moment lies in ``[since, since_by]``. ``bound_ms`` is how far
that clock may be off; it is added only where clocks of different machines meet.
"""

import re
from dataclasses import dataclass
from typing import ClassVar, TypeVar


@dataclass(slots=True, unsafe_hash=True)
class Fact:
    """One thing that a node's log proves: whose it is, from which log, and when; a kind adds what it says.

    Nobody changes one; it is not frozen because a frozen one takes eight times as long to make, and very many are made.
    """

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
    """The name of the kind, its class's name in capitals: what a row says of its class."""
    BY_COPIER: ClassVar[bool] = False
    """Whether the times of the kind are those of whoever copied the machine's files, not those of its logs."""
    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ()
    """The kind's fields that a log has said when the fact begins, wherever the log itself begins or ends."""

    def __init_subclass__(cls) -> None:
        cls.kind = vars(cls).get("kind", re.sub(r"(?<!^)(?=[A-Z])", "_", cls.__name__).upper())

    @property
    def who(self) -> str:
        """Whom it is about: the member by its name, or the source whose log says no name."""
        return self.node or self.source_node

    @property
    def is_open(self) -> bool:
        """Whether the next line of the log may change it, though it says nothing new: it ``goes_on``, as some kinds
        say."""
        return bool(getattr(self, "goes_on", False))

    @property
    def moves(self) -> bool:
        """Whether the next line of the log moves its end, as long as the process lives on."""
        return self.is_open and self.until is not None

    @property
    def grows(self) -> bool:
        """Whether the next line of the log may tell of more, so that the fact moves as a whole."""
        return self.is_open and self.until is None


F = TypeVar("F", bound=Fact)
"""A kind of facts."""


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
    """One incarnation of a process, first to last sign; ``stopped``: a clean shutdown began in it.

    ``sure_until`` is the last line of an incarnation whose end others may move to a later sign (null: nobody does).
    ``goes_on``: the log ends with it.
    """

    stopped: bool
    sure_until: int | None = None
    goes_on: bool = False


@dataclass(slots=True, unsafe_hash=True)
class Written(Fact):
    """The source wrote lines from ``since`` to ``until`` into the ``stream`` in which it tells its roles: beyond that
    it shows none, although its process may have written other files. ``goes_on``: as every file, it may."""

    stream: str
    goes_on: bool = True


@dataclass(slots=True, unsafe_hash=True)
class Silence(Fact):
    """A hole in all logs of a process: last line before it to first line after it; ``noticed``: a time in which the
    process, by its own word, did not run."""

    noticed: bool = False


@dataclass(slots=True, unsafe_hash=True)
class QuietLog(Fact):
    """The source's log has no periodic lines: nothing follows from its silence
    (:mod:`election_core.judge.silent_logs`)."""


@dataclass(slots=True, unsafe_hash=True)
class LastHeard(Fact):
    """The source heard of ``node`` for the last time in ``[since, since_by]``: it was gone, or cut off, after that."""


@dataclass(slots=True, unsafe_hash=True)
class ContactLost(Fact):
    """The source lost contact with ``node`` in ``[since, since_by]``, until it had it again (``None``: no line says
    so); ``closed``: the other side closed the connection."""

    closed: bool


@dataclass(slots=True, unsafe_hash=True)
class Unreached(Fact):
    """The source lost most of those that decide about its group, the controllers, between ``since`` and ``until``."""


@dataclass(slots=True, unsafe_hash=True)
class QuorumLost(Fact):
    """As leader of ``term`` a node lost its majority in ``[since, since_by]`` and had none up to ``until``.

    ``rounds`` are those in which it asked all the others in vain (null: it does not count them); ``regained``: it had a
    majority again, as leader of the same term; ``closed``: some of the others had closed their connections to it, which
    it heard, so that it was not cut off from all.
    """

    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("term",)

    term: int
    rounds: int | None
    regained: bool
    closed: bool = False


@dataclass(slots=True, unsafe_hash=True)
class Committed(Fact):
    """As leader of ``term`` a node's commit index grew for the last time between ``since`` and ``since_by``, from
    ``from_index`` to ``to_index`` (indexes of entries; null: of no account). ``goes_on``: it leads as its log ends."""

    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("term",)

    term: int
    from_index: int | None
    to_index: int | None
    goes_on: bool = False


@dataclass(slots=True, unsafe_hash=True)
class LeaderLog(Fact):
    """The log of ``node`` ended at ``to_index`` when it was first seen as leader of ``term``, or as the candidate that
    became it (index of an entry)."""

    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("term",)

    term: int
    to_index: int


@dataclass(slots=True, unsafe_hash=True)
class KnownCommitted(Fact):
    """``node`` knew in ``term`` that the entries up to ``to_index`` were committed, in that term or earlier (index of
    an entry; ZooKeeper: a zxid). ``goes_on``: it follows in that term as its log ends."""

    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("term",)

    term: int
    to_index: int
    goes_on: bool = False


@dataclass(slots=True, unsafe_hash=True)
class Serving(Fact):
    """The process of ``node`` began in ``[since, since_by]`` to change its role to that of the leader of ``term``, and
    serves clients from ``until`` on (null: it failed, or its log knows no end of it)."""

    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("term",)

    term: int


@dataclass(slots=True, unsafe_hash=True)
class MemberAddress(Fact):
    """The member ``node`` has the ``address``; without a node: a member has it whose id the source does not say."""

    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("address",)

    address: str


@dataclass(slots=True, unsafe_hash=True)
class VotersStated(Fact):
    """From here on the source knows these voters to be in force; as leader of ``term``, where it says one.

    ``voters`` are all of them by name, and ``voters_before`` those of whom a majority is needed too while a change of
    members is in force. Where no line names all, there are ``voters_least`` to ``voters_most``, of which a majority
    decides, or a quorum of ``groups`` whose members no line says. Nothing but null: others vote now, and no line says
    who. ``learners`` have no vote.
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
    """``voter`` voted for ``node`` in ``term``, as the candidate heard it."""

    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("term", "voter")

    term: int
    voter: str


@dataclass(slots=True, unsafe_hash=True)
class Candidacy(Fact):
    """The voting rounds of ``node`` in ``term``; ``outcome`` says how they ended, ``cause`` why they began.

    ``voters`` are those that granted, as far as they are printed by name, ``granted`` counts them where only their
    number is, and ``electorate`` are all that voted in the election. ``begun``: its beginning was logged apart from its
    end. ``majority_answered``: so many members took part that one of them could have won (null: not known).
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
    """``node`` raised its own term to ``term``; it had heard of that from ``peer`` (``None``: nobody is named)."""

    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("term", "peer")

    term: int
    peer: str | None = None


@dataclass(slots=True, unsafe_hash=True)
class TermWentBack(Fact):
    """``node`` was in the term or epoch ``before`` and later, by its own word, in ``after``, which is smaller.

    A broker that takes two roles of one epoch is in that epoch ``before`` and ``after``. ``evidence``: the line that
    shows ``before``, where another one than that of the fact does.
    """

    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("after",)

    before: int
    after: int
    evidence: tuple[str, ...]


@dataclass(slots=True, unsafe_hash=True)
class RefusedWrites(Fact):
    """A broker or member refused writes from ``since`` to ``until`` (null: to the end of its log), by its own word.

    ``why`` is a :class:`~election_core.model.measures.Refusal`, ``count`` the lines that say so, ``peer`` who was to
    take over.
    """

    why: str
    count: int
    peer: str | None
    evidence: tuple[str, ...]


@dataclass(slots=True, unsafe_hash=True)
class MessageSent(Fact):
    """``node`` sent ``peer`` a ``message`` of the election or round ``term``, with these ``ids``. No
    line says that it did not arrive."""

    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("term", "peer", "message")

    term: int | None
    peer: str | None
    message: str
    ids: str | None


@dataclass(slots=True, unsafe_hash=True)
class MessageReceived(Fact):
    """``node`` got such a message from ``peer``."""

    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("term", "peer", "message")

    term: int | None
    peer: str | None
    message: str
    ids: str | None


@dataclass(slots=True, unsafe_hash=True)
class LogCut(Fact):
    """A replica's log ended at ``log_end`` and was cut back to ``cut_to`` (bytes; ``done``: the cut worked).

    ``term`` is its own last epoch, ``peer`` the member whose log it compared with its own.
    """

    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("term", "peer")

    term: int | None
    peer: str | None
    cut_to: int | None
    log_end: int | None
    done: bool
    evidence: tuple[str, ...]


@dataclass(slots=True, unsafe_hash=True)
class LogEndedEarlier(Fact):
    """``node`` started with a log that ended at the entry ``after`` (ZooKeeper: a zxid), though it had reached
    ``before``; no line says that a leader had cut it. ``evidence``: the line that shows ``before``."""

    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("before", "after")

    before: int
    after: int
    evidence: tuple[str, ...]


@dataclass(slots=True, unsafe_hash=True)
class RuleChecked(Fact):
    """The ``rule`` was checked ``count`` times on this node's own lines with one ``verdict``; ``why`` is the reason of
    an undecidable one."""

    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("rule",)

    verdict: str
    rule: str
    count: int
    why: str | None


@dataclass(slots=True, unsafe_hash=True)
class LineBrokeRule(Fact):
    """A line of ``node`` breaks the ``rule``; ``term`` is what it says of term or epoch. Protocols add the rest."""

    kind: ClassVar[str] = ""

    term: int | None
    rule: str


@dataclass(slots=True, unsafe_hash=True)
class ClockSteppedBack(Fact):
    """The clock went back between two lines of ``stream``, by ``least_ms`` or more; the timeline of its log is ahead
    by ``back_ms`` more from there on. ``of_member``: the source is a member of the group."""

    least_ms: int
    back_ms: int
    of_member: bool
    stream: str
    evidence: tuple[str, ...]


@dataclass(slots=True, unsafe_hash=True)
class SettingPrinted(Fact):
    """The source printed the setting ``name`` with this ``value``, for the first time; only settings that change a time
    of :class:`~election_core.model.timing.Timeout`. Milliseconds, or ticks."""

    name: str
    value: int


@dataclass(slots=True, unsafe_hash=True)
class TimeoutConfigured(Fact):
    """The settings of the pipeline give the group this ``value``, in milliseconds, for the time-out ``name``: the name
    of a :class:`~election_core.model.timing.Timeout`."""

    name: str
    value: int


@dataclass(slots=True, unsafe_hash=True)
class ReplayFailed(Fact):
    """What one protocol reads in the source's logs, or its rules in a group (then the source is empty), failed with
    this ``error``: a fault of this software, not of the log. ``failed_protocol`` is null where all of the source, or
    of the group, failed."""

    failed_protocol: str | None
    error: str
