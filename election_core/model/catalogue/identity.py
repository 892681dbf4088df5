"""Rules of broker identities and of the releases that know them."""

from election_replay.election_core.model.catalogue.rule import Rule, RuleId

IDENTITY: tuple[Rule, ...] = (
    Rule(
        id=RuleId.BROKER_ID_CONFLICT,
        severity="critical if two brokers surely had one id; warning otherwise",
        meaning=(
            "One broker id and two machines: an identity that was copied, allocated twice, or belongs to another set."
        ),
        source="RocketMQ ReplicasManager (brokerIdentity), ReplicasInfoManager#applyBrokerId, #registerBroker",
        needs="the controllers' answers, or the registration lines of both brokers",
        proven_by="both addresses are printed with the same id",
        refuted_by="One broker that changed its address: the first one's end before the second one's registration.",
    ),
    Rule(
        id=RuleId.BROKER_IDENTITY_RESET,
        severity="warning; info if an operator had removed the id",
        meaning=(
            "A broker and the controllers lost the identity that they had agreed on: the broker came back as a new "
            "replica and left a dead replica under its old id, or the controllers no longer know its id."
        ),
        source="RocketMQ ReplicasInfoManager#getNextBrokerId, #registerBroker (2010); persistent broker ids",
        needs="the registration lines of both runs of the broker",
        proven_by="the registration lines of both runs are printed",
        refuted_by="A second machine: then the broker is a new one, and the old id belongs to one that is gone.",
    ),
    Rule(
        id=RuleId.REGISTER_CODE_MISMATCH,
        severity="info",
        meaning=("A broker applied for an id that has another register code and was refused; it takes the next one."),
        source="RocketMQ ReplicasInfoManager#applyBrokerId (2014)",
        needs="the request with its code and the controllers' answer to it",
        proven_by="the refusal is printed with its code",
        refuted_by="Nothing but a forged line: both request and refusal are printed.",
    ),
    Rule(
        id=RuleId.INCOMPATIBLE_VERSIONS,
        severity="warning",
        meaning=(
            "Of the brokers and the controllers, one side knows persistent broker ids (5.1.1 and later) and the other "
            "does not."
        ),
        source="RocketMQ, design of persistent broker ids: table of compatible versions",
        needs="a line that only some versions print, of the broker and of the controllers",
        proven_by="each side printed a line that only its version has",
        refuted_by="An upgrade of one side between the two lines.",
    ),
)
