"""A broker's lines about answers to writes that came too late (``org.apache.rocketmq.remoting``, ``.store``).

An answer that cannot be written found its connection closed: the client had given up, or was gone. Of all answers only
those to writes are of interest (``SEND_MESSAGE``, ``SEND_MESSAGE_V2`` and ``SEND_BATCH_MESSAGE`` of ``RequestCode``).
"""

from election_replay.election_core.dialects.dialect import Text, under

SEND_MESSAGE, SEND_MESSAGE_V2, SEND_BATCH_MESSAGE = 10, 310, 320

ANSWERS = tuple(
    Text(
        "BRK_WRITE_UNANSWERED",
        f"Failed to write response[request code: {request}, response code: {{code:int}}, opaque: {{:int}}] "
        "to channel{:text}",
        "a write was answered, and the client's connection was closed by then (5.1 and later)",
    )
    for request in (SEND_MESSAGE, SEND_MESSAGE_V2, SEND_BATCH_MESSAGE)
)

PUTS = (
    Text(
        "STORE_PUT_SLOW",
        "DefaultMessageStore#putMessage: CommitLog#putMessage cost {duration_ms:int}ms, topic={topic}, "
        "bodyLength={:int}",
        "a message took more than half a second to be stored, with the slaves that it waited for",
    ),
    Text(
        "STORE_PUT_SLOW",
        "putMessage not in lock elapsed time(ms)={duration_ms:int}, bodyLength={:int}",
    ),
    Text("STORE_PUT_SLOW", "not in lock elapsed time(ms)={duration_ms:int}, bodyLength={:int}"),
    Text("STORE_PUT_SLOW", "not in lock eclipse time(ms)={duration_ms:int}, bodyLength={:int}"),
)

TEXTS = under("writes", (*ANSWERS, *PUTS))
