"""The decisions about acting masters: name servers, the smallest id, special services, coming online."""

from tests.election_core.decisions import Decision

_REGISTER = "RouteInfoManager#registerBroker"
_LEAVE = "RouteInfoManager#unRegisterBroker, BatchUnregistrationService"
_CHANGE = "BrokerController#updateMinBroker, #onMinBrokerChange"
_PRE_ONLINE = "BrokerPreOnlineService#prepareForBrokerOnline"

_NO_LINE = "no line says it, at either end"
_ROUTE = "answers to clients are not printed"
_POLLED = "a notice goes one way and is not repeated: brokers poll every second anyway"

ACTING_MASTER = (
    # who acts, and what it may do
    Decision(
        "smallest-live-id-acts",
        "the smallest live id acts while no id 0 is registered",
        f"{_CHANGE}; RIP-32",
        "ACTING_MASTER_NOT_MIN_ID",
    ),
    Decision(
        "services-follow-the-minimum",
        "a change of the minimum switches the special services on if it is the own id, else off",
        _CHANGE,
        "ACTING_MASTER_NOT_MIN_ID",
    ),
    Decision(
        "same-minimum-again",
        "the same minimum again: nothing",
        _CHANGE,
        "ACTING_MASTER_NOT_MIN_ID",
        never_conforms=_NO_LINE,
        never_violates=_NO_LINE,
    ),
    Decision(
        "master-does-not-react",
        "a master does not react to another minimum: cut off, it goes on beside the one that acts",
        _CHANGE,
        "ACTING_MASTER_OVERLAP",
    ),
    Decision(
        "copying-stops-and-starts",
        "a slave stops copying from the member that left and connects to the master that came",
        _CHANGE,
        "ACTING_MASTER_NOT_MIN_ID",
        never_conforms="master addresses change with registrations as well",
        never_violates="master addresses change with registrations as well",
    ),
    Decision(
        "read-only",
        "an acting master is read only: its topics lose the write permission",
        f"{_REGISTER}, #reduceTopicQueues; RIP-32",
        "ACTING_MASTER_WRITABLE",
    ),
    Decision(
        "begins-in-time",
        "it begins after a clean stop at once, else within time-out, scan and poll",
        "RouteInfoManager#scanNotActiveBroker, BrokerController#syncBrokerMemberGroup",
        "SPECIAL_SERVICE_GAP",
    ),
    Decision(
        "ends-when-the-master-is-back",
        "it ends when a smaller id is registered again, by notice or poll",
        f"{_CHANGE}; RIP-32",
        "ACTING_MASTER_OVERLAP",
    ),
    Decision(
        "two-acting-masters",
        "two slaves act at once for a poll's time, or as long as they see different name servers",
        "BrokerController#syncBrokerMemberGroup",
        "ACTING_MASTER_OVERLAP",
    ),
    # name servers
    Decision(
        "acting-flag-of-the-last",
        "whether a set may have an acting master says the last registration of any of its members",
        _REGISTER,
        "ACTING_MASTER_WRITABLE",
        never_conforms=_NO_LINE,
        never_violates=_NO_LINE,
    ),
    Decision(
        "smaller-id-came",
        "a smaller id than the smallest is a change; a first member and a role change of one address are none",
        _REGISTER,
        "ACTING_MASTER_NOT_MIN_ID",
        never_conforms=_POLLED,
        never_violates=_POLLED,
    ),
    Decision(
        "one-id-one-address",
        "of two addresses with one id the later one is kept, unless its state version is smaller",
        _REGISTER,
        "ACTING_MASTER_OVERLAP",
        never_conforms="that an id has one address only shows in nothing",
    ),
    Decision(
        "partial-registration",
        "a registration of one topic by an unknown id is refused",
        _REGISTER,
        "ACTING_MASTER_NOT_MIN_ID",
        never_conforms="it changes no member of a set",
        never_violates="it changes no member of a set",
    ),
    Decision(
        "member-leaves",
        "a member leaves when it says so, when its connection closes, or when it is silent for too long",
        _LEAVE,
        "SPECIAL_SERVICE_GAP",
    ),
    Decision(
        "name-servers-decide-alone",
        "each name server decides for itself: one may lose a master that another still has",
        "RouteInfoManager#scanNotActiveBroker",
        "ACTING_MASTER_OVERLAP",
        never_conforms="that name servers agree only shows in nothing",
    ),
    Decision(
        "notice",
        "a change is told to the members if notifyMinBrokerIdChanged is on",
        "RouteInfoManager#notifyMinBrokerIdChanged",
        "ACTING_MASTER_NOT_MIN_ID",
        never_violates=_POLLED,
    ),
    Decision(
        "route-shows-the-acting-one",
        "clients are shown the smallest id as master if the set has none and its queues are not writable",
        "RouteInfoManager#pickupTopicRouteData; RIP-32",
        "ACTING_MASTER_WRITABLE",
        never_conforms=_ROUTE,
        never_violates=_ROUTE,
    ),
    # coming online
    Decision(
        "pre-online-tries-again",
        "a pre-online that fails (no answer of the name servers, no connection, no metadata) is tried again",
        "BrokerPreOnlineService#run",
        "PRE_ONLINE_STUCK",
    ),
    Decision(
        "slave-with-master",
        "a slave connects to its master and serves, or serves at once if the master tells no address",
        _PRE_ONLINE,
        "PRE_ONLINE_STUCK",
        never_violates="a slave that waits for its master prints nothing",
    ),
)
