"""A broker's id as a machine: the broker's registration steps, and the controllers' record of ids.

It is the part of a broker of the controller mode (:mod:`election_core.simulate.controller.broker_machine`) that works
until the broker is registered. Each step writes a file or asks the controller, and the process may die between them.

Source: RocketMQ ``ReplicasManager#register``, ``ReplicasInfoManager#applyBrokerId``, ``#getNextBrokerId``,
``#registerBroker``, ``#cleanBrokerData``; ``BrokerMetadata``, ``TempBrokerMetadata``.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Protocol

from election_replay.election_core.protocols.controller.tables import ID_INVALID, NOT_REGISTERED, SUCCESS
from election_replay.election_core.simulate.machine import Turn

IDENTITY_FILE, TEMP_FILE = "brokerIdentity", "brokerIdentity-temp"

INITIAL = "INITIAL"
TEMP_DONE = "CREATE_TEMP_METADATA_FILE_DONE"
FILE_DONE = "CREATE_METADATA_FILE_DONE"
REGISTERED = "REGISTERED"

REQUEST_MS = 3000
TRIES = 5
"""The tries of one series, up to a second apart."""
TRY, APPLY, WRITE, TELL = "register", "apply id", "write identity", "register address"
"""Timers: the next try, and the pauses of a disk between two steps."""
DISK_MS = (5, 60)


# -- files and messages -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Identity:
    """The identity file."""

    cluster: str
    group: str
    broker_id: int


@dataclass(frozen=True, slots=True)
class Temporary:
    """The temporary identity file: a proposed id, and the code with which the broker applies for it."""

    cluster: str
    group: str
    broker_id: int
    code: str


@dataclass(frozen=True, slots=True)
class NextId:
    """A broker asks for the next id."""


@dataclass(frozen=True, slots=True)
class NextIdReply:
    """The next id, which is not reserved; ``code`` is not 0 if the controllers do not know the request."""

    code: int
    broker_id: int


@dataclass(frozen=True, slots=True)
class ApplyId:
    """A broker applies for an id."""

    broker_id: int
    code: str


@dataclass(frozen=True, slots=True)
class ApplyReply:
    """0, or the code of a refusal."""

    code: int


@dataclass(frozen=True, slots=True)
class Register:
    """A broker that owns an id reports its address."""

    broker_id: int
    address: str


@dataclass(frozen=True, slots=True)
class RegisterReply:
    """0, or the code of a refusal; the master, if one is recorded and alive."""

    code: int
    master: int | None = None
    master_address: str | None = None
    epoch: int = 0
    members: tuple[int, ...] = ()
    set_epoch: int = 0


# -- the controllers' record ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Owner:
    """An id with its broker's address and register code."""

    broker_id: int
    address: str
    code: str


@dataclass(frozen=True, slots=True)
class Ids:
    """All ids of a broker set; ``following`` is the next one and never goes back."""

    following: int = 1
    owners: tuple[Owner, ...] = ()

    def of(self, broker_id: int | None) -> Owner | None:
        """Return the owner of an id; None without one."""
        return next((owner for owner in self.owners if owner.broker_id == broker_id), None)

    @property
    def registered(self) -> frozenset[int]:
        """All ids that are taken."""
        return frozenset(owner.broker_id for owner in self.owners)


def applied(ids: Ids, wanted: ApplyId, *, check_code: bool = True) -> tuple[int, Ids]:
    """Return the code and the ids after ``applyBrokerId``: the id must be free, or its owner's. The address is the
    first part of the code. A faulty controller does not check the code."""
    owner = ids.of(wanted.broker_id)
    if not ids.owners and wanted.broker_id != 1:
        return ID_INVALID, ids
    if owner is not None and owner.code == wanted.code:
        return SUCCESS, ids
    if owner is not None and check_code:
        return ID_INVALID, ids
    others = tuple(known for known in ids.owners if known.broker_id != wanted.broker_id)
    added = (*others, Owner(wanted.broker_id, wanted.code.partition(";")[0], wanted.code))
    return SUCCESS, Ids(max(ids.following, wanted.broker_id + 1), added)


def registered(ids: Ids, request: Register) -> tuple[int, Ids]:
    """Return the code and the ids after ``registerBroker``: a known id, possibly at a new address."""
    if ids.of(request.broker_id) is None:
        return NOT_REGISTERED, ids
    return SUCCESS, replace(ids, owners=tuple(_at(owner, request) for owner in ids.owners))


def _at(owner: Owner, request: Register) -> Owner:
    return replace(owner, address=request.address) if owner.broker_id == request.broker_id else owner


def cleaned(ids: Ids, removed: Iterable[int]) -> Ids:
    """Return the ids after ``cleanBrokerData``; without any id left the set is forgotten, and its ids restart."""
    gone = set(removed)
    left = tuple(owner for owner in ids.owners if owner.broker_id not in gone)
    return replace(ids, owners=left) if left else Ids()


# -- the broker -----------------------------------------------------------------------------------------------------


class Broker(Protocol):
    """The parts of a broker's configuration that the registration needs."""

    @property
    def cluster(self) -> str:
        """``brokerClusterName``."""

    @property
    def group(self) -> str:
        """``brokerName``."""

    @property
    def address(self) -> str:
        """Address and port."""

    @property
    def controller(self) -> str:
        """The controller's process."""


@dataclass(frozen=True, slots=True)
class Registration:
    """A broker's progress, with the ``tries`` of the present series. The files are on disk."""

    identity: Identity | None = None
    temporary: Temporary | None = None
    step: str = INITIAL
    tries: int = 0


Registering = Turn[Any, Any]
"""A turn whose state holds a :class:`Registration` as ``registration``, and whose member is a :class:`Broker`."""


def attempt(turn: Registering) -> bool:
    """Continue the registration by the files (``register``); return False if they are of another broker set."""
    of = turn.state.registration
    if of.identity is not None:
        of = replace(of, step=FILE_DONE)
    elif of.temporary is not None:
        of = replace(of, step=TEMP_DONE)
    turn.change(registration=of)
    turn.say("BRK_REG_STATE", value=of.step)
    if _of_another(turn, of.identity if of.step == FILE_DONE else of.temporary):
        turn.say("BRK_REG_FILE_INVALID")
        return False
    if of.step == INITIAL:
        turn.send(turn.member.controller, NextId(), REQUEST_MS)
    elif of.step == TEMP_DONE:
        turn.wait(APPLY, *DISK_MS)
    else:
        turn.wait(TELL, *DISK_MS)
    return True


def _of_another(turn: Registering, names: Identity | Temporary | None) -> bool:
    """Return True when the files do not name the configured broker set (``checkMetadataValid``)."""
    if names is None:
        return False
    file = "FILE" if isinstance(names, Identity) else "TEMP"
    if names.cluster != turn.member.cluster:
        turn.say(f"BRK_REG_{file}_CLUSTER", value_before=names.cluster, value=turn.member.cluster)
        return True
    if names.group != turn.member.group:
        turn.say(f"BRK_REG_{file}_NAME", value_before=names.group, value=turn.member.group)
        return True
    return False


def on_next_id(turn: Registering, reply: NextIdReply) -> bool:
    """Write the proposed id and a new code to the temporary file; return False without a proposed id."""
    if reply.code != SUCCESS:
        turn.say("BRK_REG_NEXT_ERR", code=reply.code)
        return False
    member = turn.member
    temporary = Temporary(member.cluster, member.group, reply.broker_id, f"{member.address};{turn.now_ms}")
    _registration(turn, temporary=temporary, step=TEMP_DONE)
    turn.store(TEMP_FILE, temporary)
    turn.say("BRK_REG_TEMP", value=TEMP_DONE, identity=temporary)
    turn.wait(APPLY, *DISK_MS)
    return True


def on_apply(turn: Registering) -> None:
    """Apply for the id of the temporary file."""
    temporary = turn.state.registration.temporary
    turn.send(turn.member.controller, ApplyId(temporary.broker_id, temporary.code), REQUEST_MS)


def on_applied(turn: Registering, code: int | None) -> bool:
    """Take the answer to an application; None, no answer, counts as a refusal: return False and start over."""
    if code == SUCCESS:
        turn.wait(WRITE, *DISK_MS)
        return True
    turn.say("BRK_REG_APPLY_ERR", value=turn.state.registration.temporary.broker_id, code=code)
    _registration(turn, temporary=None, step=INITIAL)
    turn.store(TEMP_FILE, None)
    turn.say("BRK_REG_RESET", value=INITIAL)
    return False


def on_own(turn: Registering) -> None:
    """Write the identity file; the temporary one is deleted a moment later, if the process lives."""
    temporary = turn.state.registration.temporary
    identity = Identity(temporary.cluster, temporary.group, temporary.broker_id)
    _registration(turn, identity=identity, step=FILE_DONE)
    turn.store(IDENTITY_FILE, identity)
    turn.wait(TELL, *DISK_MS)


def on_tell(turn: Registering) -> None:
    """Register the address."""
    of = turn.state.registration
    if of.temporary is not None:
        _registration(turn, temporary=None)
        turn.store(TEMP_FILE, None)
        turn.say("BRK_REG_APPLIED", value=FILE_DONE, identity=of.identity)
    turn.send(turn.member.controller, Register(of.identity.broker_id, turn.member.address), REQUEST_MS)


def on_registered(turn: Registering, reply: RegisterReply | None) -> bool:
    """Return True when the registration was accepted; False when it was refused or unanswered (``reply`` is None)."""
    if reply is None or reply.code != SUCCESS:
        turn.say("BRK_REG_SEND_ERR", code=reply.code if reply else None)
        turn.say("BRK_REG_ERR")
        return False
    _registration(turn, step=REGISTERED)
    return True


def failed(turn: Registering) -> bool:
    """Wait for the next try after a failed one and return True; give up after the last one and return False."""
    tries = turn.state.registration.tries + 1
    _registration(turn, tries=tries % TRIES)
    if tries < TRIES:
        turn.wait(TRY, 1, 1000)
        return True
    turn.say("BRK_REG_GAVE_UP")
    return False


def _registration(turn: Registering, **values: Any) -> None:
    turn.change(registration=replace(turn.state.registration, **values))
