"""The decisions about broker ids: the controllers' answers, the broker's files, versions that fit."""

from tests.election_core.decisions import Decision

_NEXT = "ReplicasInfoManager#getNextBrokerId"
_APPLY = "ReplicasInfoManager#applyBrokerId"
_REGISTER = "ReplicasInfoManager#registerBroker"
_CLEAN = "ReplicasInfoManager#cleanBrokerData"
_BROKER = "ReplicasManager#register"
_DESIGN = "the design of persistent broker ids"

_NO_REASON = "a controller's refusal has no reason in its log"
_GIVEN = "what was given away before the logs begin is not known"

BROKER_IDENTITY = (
    # the controllers
    Decision("first-id", "an unknown set: the next id is 1", _NEXT, "BROKER_ID_CONFLICT", never_violates=_GIVEN),
    Decision(
        "next-id-is-not-reserved",
        "the next id is told and not reserved: of two brokers that were told the same one, one is refused",
        _NEXT,
        "REGISTER_CODE_MISMATCH",
    ),
    Decision(
        "free-id-is-given",
        "a free id is given to the code that applies",
        _APPLY,
        "REGISTER_CODE_MISMATCH",
        never_violates=_NO_REASON,
    ),
    Decision(
        "other-id-of-an-unknown-set",
        "an unknown set, and another id than 1: refused (2014)",
        _APPLY,
        "REGISTER_CODE_MISMATCH",
        never_conforms=_NO_REASON,
        never_violates=_NO_REASON,
    ),
    Decision(
        "same-code-again",
        "a taken id with the same code: accepted again",
        f"{_APPLY}; {_DESIGN}",
        "BROKER_IDENTITY_RESET",
    ),
    Decision(
        "another-code",
        "a taken id with another code: refused (2014)",
        f"{_APPLY}; {_DESIGN}",
        "BROKER_ID_CONFLICT",
    ),
    Decision(
        "unknown-broker-registers",
        "an unknown set or id: registration refused (2010)",
        _REGISTER,
        "BROKER_IDENTITY_RESET",
    ),
    Decision(
        "address-follows-the-id",
        "a registration under another address moves the id there",
        f"{_REGISTER}; {_DESIGN}",
        "BROKER_ID_CONFLICT",
    ),
    Decision(
        "replica-info",
        "the recorded master is told, living or not",
        "ReplicasInfoManager#getReplicaInfo",
        "BROKER_ID_CONFLICT",
        never_conforms="questions and their answers are not printed",
        never_violates="questions and their answers are not printed",
    ),
    Decision(
        "living-ids-are-not-removed",
        "ids are removed by an operator, and living ones are not (2009)",
        _CLEAN,
        "BROKER_IDENTITY_RESET",
    ),
    # the broker, and each crash between its steps
    Decision(
        "crash-before-temporary-file",
        "nothing is written: it asks for the next id again",
        f"{_BROKER}; {_DESIGN}",
        "BROKER_IDENTITY_RESET",
        never_violates="neither side has anything that could be lost",
    ),
    Decision(
        "crash-before-application",
        "the temporary file is written: it applies for the same id with the same code",
        f"{_BROKER}; {_DESIGN}",
        "BROKER_IDENTITY_RESET",
        never_violates="a lost temporary file looks like one that was never written",
    ),
    Decision(
        "application-fails",
        "refused, or no answer: the temporary file is deleted, a new id and code are taken",
        f"{_BROKER}; {_DESIGN}",
        "BROKER_IDENTITY_RESET",
    ),
    Decision(
        "crash-before-identity-file",
        "accepted, but the identity file is not written: it applies again and is accepted",
        f"{_BROKER}; {_DESIGN}",
        "BROKER_IDENTITY_RESET",
    ),
    Decision(
        "crash-before-temporary-file-is-gone",
        "both files are there: the identity file wins",
        f"{_BROKER}; {_DESIGN}",
        "BROKER_IDENTITY_RESET",
        never_violates="what files lie on the disk is not printed",
    ),
    Decision(
        "identity-stays",
        "with an identity file the broker registers only, whatever its address",
        f"{_BROKER}; {_DESIGN}",
        "BROKER_IDENTITY_RESET",
    ),
    Decision(
        "one-identity-one-machine",
        "one id is one machine's at a time",
        f"{_BROKER}; {_DESIGN}",
        "BROKER_ID_CONFLICT",
    ),
    Decision(
        "files-of-this-set",
        "names in the files must be those of the configuration, else the broker does not register",
        "ReplicasManager#checkMetadataValid",
        "BROKER_ID_CONFLICT",
    ),
    # versions
    Decision(
        "versions-fit",
        "brokers and controllers know ids by address (up to 5.1.0) or for good (5.1.1 and later), both the same way",
        f"{_DESIGN}: table of compatible versions",
        "INCOMPATIBLE_VERSIONS",
    ),
)
