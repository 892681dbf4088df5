"""What a broker decides about the answers to those who write."""

from tests.election_core.decisions import Decision

WRITES = (
    Decision(
        "answers",
        "an answer to a write is written to the connection on which the request came, as long as it lasts",
        "NettyRemotingAbstract#writeResponse",
        "WRITES_UNANSWERED",
    ),
)
