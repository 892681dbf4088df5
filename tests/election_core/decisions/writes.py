"""What a broker decides about the answers to those who write."""

from tests.election_core.decisions import Decision

WRITES = (
    Decision(
        "answers",
        "an answer to a write is written to the connection on which the request came, as long as it lasts",
        "NettyRemotingAbstract#writeResponse",
        "WRITES_UNANSWERED",
    ),
    Decision(
        "takes-writes",
        "a broker that holds the role of a master or leader takes the writes that are sent to it",
        "SendMessageProcessor#sendMessage, DLedgerServer#handleAppend",
        "WRITES_REFUSED",
    ),
)
