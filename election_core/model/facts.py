"""Facts: what one node's own log proves, as plain data that can cross machines and nights.

The fold of a node's log makes facts; the judge of a group reads them. A fact names the group and member it is
about, so that facts of one group may come from many logs: the brokers', the controllers', the name servers'.
Facts are values: merging two collections of them is set union, which no order of arrival can change.

``ordinal`` numbers facts that one log noted one after the other: within a second, that order is all there is.

A fact has a beginning and, where it lasts, an end. Each is an interval on the clock of the machine that
logged it, in microseconds UTC: the true moment lies in ``[since, since_by]``. ``bound_ms`` is how far
that clock may be off; it is added only where clocks of different machines meet.
"""

from dataclasses import dataclass

ROLE = "ROLE"
"""A node was in ``role`` of ``term`` under the leader ``peer``; ``cause`` begins it, ``result`` ended it."""
ALIVE = "ALIVE"
"""One life of a process, first to last sign; ``flag``: a clean shutdown began in it."""
BALLOT = "BALLOT"
"""``node`` went into an election with its own epoch ``set_epoch`` and last zxid ``end_offset``, and left it under the
leader ``peer``, in the epoch ``term`` where it says so."""
LAST_HEARD = "LAST_HEARD"
"""The source heard of ``node`` for the last time in ``[since, since_by]``: it was gone, or cut off, after that."""
SILENCE = "SILENCE"
"""A hole in all logs of a process: last line before it to first line after it; ``flag``: a time in which the process,
by its own word, did not run."""
QUIET = "QUIET"
"""The source's log has no periodic lines: nothing follows from its silence (:mod:`election_core.judge.silent_logs`)."""
CONTACT_LOST = "CONTACT_LOST"
"""The source lost contact with ``node`` in ``[since, since_by]``, until it had it again (``None``: not in its life);
``flag``: the other side closed the connection."""
GRANT = "GRANT"
"""``peer`` voted for ``node`` in ``term``, as the candidate heard it."""
VOTE_REFUSED = "VOTE_REFUSED"
"""``peer`` told ``node`` ``count`` times that its vote of ``term`` is another's (``result``)."""
STRANGER = "STRANGER"
"""``node`` was asked by ``peer``, which is no member of its group (``cause``), or bears its own id."""
CAMPAIGN = "CAMPAIGN"
"""The ``count`` voting rounds of ``node`` in ``term``; ``result`` says how they ended, ``cause`` why they began."""
CHECKED = "CHECKED"
"""The rule ``cause`` was checked ``count`` times on this node's own lines with the verdict ``result``; ``value`` is
the reason of an undecidable one."""
VIOLATION = "VIOLATION"
"""A line of ``node`` (of the kind ``value``) breaks the rule ``cause``; ``result`` is what it says, with its ``term``,
the term before or wanted (``end_offset``) and counts."""
TERM_WENT_BACK = "TERM_WENT_BACK"
"""``node`` was in term or epoch ``end_offset`` and later, by its own word, in the smaller ``term``."""
EPOCH_AHEAD = "EPOCH_AHEAD"
"""``node`` refused a role of epoch ``term`` since its store knows the later epoch ``end_offset``."""
KEPT_ROLE = "KEPT_ROLE"
"""As leader of ``term`` a node printed ``count`` rounds of heartbeats without quorum and stayed leader, the last
``granted`` ms after its last quorum."""
SENT = "SENT"
"""``node`` sent ``peer`` a message of the election ``term``: ``cause`` is ``election`` or ``result``, ``value`` the ids
in it. No line says that it did not arrive."""
RECEIVED = "RECEIVED"
"""``node`` got such a message from ``peer``."""
STILL_LEADS = "STILL_LEADS"
"""``node``, which led already, announced itself again."""
TERM_RAISED = "TERM_RAISED"
"""``node`` raised its own term to ``term``."""
TWO_LEADERS = "TWO_LEADERS"
"""``node`` heard of the leader ``peer`` (null: of one that it was not told) while it knew the leader ``result`` in the
same ``term``."""
COMMITTED = "COMMITTED"
"""As leader of ``term`` a node's commit index grew for the last time between ``since`` and ``since_by``, from
``start_offset`` to ``end_offset`` (entry indexes)."""
CUT = "CUT"
"""A replica's log ended at ``end_offset`` and was cut back to ``start_offset`` (``flag``: the cut worked);
``term`` is its own last epoch."""
DECISION = "DECISION"
"""The controllers decided ``result``: winner ``node``, epoch ``term``, set ``members`` with ``set_epoch``;
``flag``: committed, not confirmed in time, or (null) not said; ``value``: whether this controller led."""
SET_REFUSED = "SET_REFUSED"
"""The master of epoch ``term`` wanted the SyncStateSet ``members`` and was refused with the code ``count``, or got no
answer (null)."""
MEMBER = "MEMBER"
"""The member ``node`` has the ``address``."""
REGISTER_CODE = "REGISTER_CODE"
"""``address`` holds a registerCheckCode, whose number (``count``, epoch ms) is the broker's own clock when it made
it; ``flag`` is true where a controller accepted it."""
FAILED = "FAILED"
"""The fold of the source's log failed with the error ``value``: a fault of this software, not of the log."""
ALL_ACK = "ALL_ACK"
"""The broker was configured with allAckInSyncStateSet (``flag``), by its settings or by what it waited for."""
LOCK_HOLD = "LOCK_HOLD"
"""The client ``peer`` held the lock of ``queue_id`` of ``topic`` for ``consumer_group`` at broker ``node``, surely
until ``sure_until``; ``cause`` began and ``result`` ended it. ``flag``: in strict mode, then ``needed`` of
``count`` configured replicas must grant; ``members``: addresses of peers that did not answer the request."""
LOCK_GIVEN_UP = "LOCK_GIVEN_UP"
"""The client ``peer`` told broker ``node`` that it gives the queue's lock back; ``result``: what the broker found."""
LOCK_LATE = "LOCK_LATE"
"""The client ``peer`` wanted to give back a lock that had expired and gone to ``address``, another client."""
IDENTITY_STEP = "IDENTITY_STEP"
"""A broker's registration reached the step ``result`` with the id ``node`` and the register code ``value``;
``count``: how often the controllers refused, ``cause``: their code."""
OWN_ID = "OWN_ID"
"""One life of a broker under the id ``node``, from the first line that says so to its last sign of life."""
OLD_IDENTITY = "OLD_IDENTITY"
"""The speaker knows brokers by their address (RocketMQ 5.0.0 to 5.1.0; ``flag``) or by a persistent id (later);
``role``: broker or controller."""
ACTING_ENABLED = "ACTING_ENABLED"
"""The broker was configured with enableSlaveActingMaster."""
SMALLEST_ID = "SMALLEST_ID"
"""``node`` learned that ``peer`` is the smallest live id of its set, until it learned of another."""
AGAINST_MINIMUM = "AGAINST_MINIMUM"
"""``node`` switched its special services on right after it had learned that the smaller id ``peer`` lives; ``flag``:
its next line about that says that it knew no other meanwhile."""
PRE_ONLINE = "PRE_ONLINE"
"""A start of pre-online: its ``count`` failures from the first to the last (or to its success), the last one's kind
(``cause``) and error (``value``), its end (``result``); ``flag``: only a master prints such lines."""
REGISTERED = "REGISTERED"
"""The name server that speaks had ``address`` in its table of live brokers; ``result`` is how it left, ``count``
after how much silence (ms). Without an address: ``node`` itself says that it registered."""
PERMISSION = "PERMISSION"
"""The name server that speaks showed topics of the set as writable (``flag``) or not, in ``count`` lines."""
RELEASE = "RELEASE"
"""The process says that it is the release ``value`` of the system ``cause``; without them its log never says one."""
CLAIM = "CLAIM"
"""From here on the process (``role``) calls itself ``value`` by ``cause``, a setting or a kind of name."""
SPEAKS_FOR = "SPEAKS_FOR"
"""One life of a process that speaks as the member ``node``, by the protocol ``cause``."""
LISTED = "LISTED"
"""The inventory lists the source as the member ``peer`` of the group ``result``; ``flag``: its log says so too."""
COPIED = "COPIED"
"""The source holds the same log of ``node`` as the folder ``peer``; its facts are counted once, as that folder's."""
CLOCK_STEP = "CLOCK_STEP"
"""The clock went back by ``count`` ms between two lines of ``value``; ``flag``: the source is a member of the group."""
META_VERSION = "META_VERSION"
"""A metadata file (``value``: its table) bore this DataVersion when it was looked at."""
META_TABLE = "META_TABLE"
"""A metadata file around a moment at which something happened to its broker; ``members``: its names, where it has
names."""
META_OFFSET = "META_OFFSET"
"""One entry of such a file: ``end_offset`` is the next message of a queue, or of the delay level ``queue_id``."""
META_ACTING = "META_ACTING"
"""The slave had the smallest id of its set and acted; ``peer`` is the smaller id that ended it."""
META_RETURN = "META_RETURN"
"""The broker began to serve; ``cause``: what it had done before, null where its log does not say."""
META_REVERSE = "META_REVERSE"
"""Before it served, a returning master read the metadata of the member at ``address`` and took over ``members``."""
META_DROPPED = "META_DROPPED"
"""A slave dropped ``topic`` or ``consumer_group``, since its master did not have it."""


@dataclass(slots=True, unsafe_hash=True)
class Fact:
    """One thing that a node's log proves. ``kind`` is one of the ``FACT_*`` names of its protocol.

    Nobody changes one; it is not frozen because a frozen one takes eight times as long to make, and very many are made.
    """

    cluster: str
    replica_group: str
    protocol: str
    kind: str
    node: str | None
    source_node: str
    since: int
    since_by: int
    since_event: str | None
    until: int | None = None
    until_by: int | None = None
    until_event: str | None = None
    bound_ms: int = 0
    role: str | None = None
    term: int | None = None
    peer: str | None = None
    address: str | None = None
    result: str | None = None
    cause: str | None = None
    members: tuple[str, ...] | None = None
    granted: int | None = None
    needed: int | None = None
    set_epoch: int | None = None
    raft_index: int | None = None
    start_offset: int | None = None
    end_offset: int | None = None
    count: int | None = None
    flag: bool | None = None
    value: str | None = None
    ordinal: int = 0
    consumer_group: str | None = None
    topic: str | None = None
    queue_id: int | None = None
    sure_until: int | None = None
    state_version: int | None = None
    version_timestamp: int | None = None
    counter: int | None = None
    evidence: tuple[str, ...] = ()
