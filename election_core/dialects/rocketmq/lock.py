"""What a broker prints about order locks (``org.apache.rocketmq.broker.client.rebalance.RebalanceLockManager``).

In ``lock.log`` or, by a mistake in the logging configuration of 5.1.1 and later, in ``filter.log``; the lines of the
strict mode in ``broker.log``. A renewal prints nothing, and neither does an expiry.
"""

from election_replay.election_core.dialects.dialect import Text, signs, under


def from_lock_manager(_: str, stream: str) -> bool:
    """Return True in the files that hold lock lines."""
    return stream in ("lock.log", "filter.log")


LOCKS = (
    Text(
        "LOCK_NEW",
        "RebalanceLockManager#tryLockBatch: lock a message which has not been locked yet, group={consumer_group}, clientId={client_id}, mq={:queue}",
        "first lock of a queue on this broker since its start or since an unlock",
    ),
    Text(
        "LOCK_TAKEN_EXPIRED",
        "RebalanceLockManager#tryLockBatch: try to lock a expired message queue, group={consumer_group}, mq={:queue}, old client id={peer_client_id}, new client id={client_id}",
        "a lock older than a minute went to a client, perhaps to the same one",
    ),
    Text(
        "LOCK_REFUSED",
        "RebalanceLockManager#tryLockBatch: message queue has been locked by other client, group={consumer_group}, mq={:queue}, locked client id={peer_client_id}, current client id={client_id}",
        "a lock was refused: another client holds it",
    ),
    Text(
        "LOCK_RELEASED",
        "RebalanceLockManager#unlockBatch: unlock mq, group={consumer_group}, clientId={client_id}, mqs={:queue}",
        "a client gave its lock back",
    ),
    Text(
        "LOCK_RELEASE_REFUSED",
        "RebalanceLockManager#unlockBatch: mq locked by other client, group={consumer_group}, locked clientId={peer_client_id}, current clientId={client_id}, mqs={:queue}",
        "an unlock was refused: another client holds the lock",
    ),
    Text(
        "LOCK_RELEASE_NONE",
        "RebalanceLockManager#unlockBatch: mq not locked, group={consumer_group}, clientId={client_id}, mq={:queue}",
        "an unlock of a queue that nobody holds",
    ),
    Text(
        "LOCK_RELEASE_NO_GROUP",
        "RebalanceLockManager#unlockBatch: group not exist, group={consumer_group}, clientId={client_id}, mqs={:queues}",
        "an unlock of queues (members) by a client whose group never held a lock here since the start",
    ),
    Text(
        "LOCK1_NEW",
        "RebalanceLockManager#tryLock: lock a message queue which has not been locked yet, group={consumer_group}, clientId={client_id}, mq={:queue}",
        "first lock of a queue, asked for alone",
    ),
    Text(
        "LOCK1_TAKEN_EXPIRED",
        "RebalanceLockManager#tryLock: try to lock a expired message queue, group={consumer_group}, mq={:queue}, old client id={peer_client_id}, new client id={client_id}",
        "an expired lock, asked for alone, went to a client",
    ),
    Text(
        "LOCK1_REFUSED",
        "RebalanceLockManager#tryLock: message queue has been locked by other client, group={consumer_group}, mq={:queue}, locked client id={peer_client_id}, current client id={client_id}",
        "a lock asked for alone was refused",
    ),
    Text(
        "LOCK_PEER_ERR",
        "lockBatchMQAsync on {peer_address} failed, {value:text}",
        "strict mode: a member did not answer a lock call",
    ),
    Text(
        "LOCK_WAIT_ERR",
        "lockBatchMQ exception on {replica_group}, {value:text}",
        "strict mode: the wait for the members failed",
    ),
    Text(
        "LOCK_RELEASE_PEER_ERR",
        "unlockBatchMQ exception on {peer_address}, {value:text}",
        "strict mode: a member did not answer an unlock call",
    ),
)

BEFORE_5 = (
    Text(
        "LOCK_NEW",
        "tryLockBatch, message queue not locked, I got it. Group: {consumer_group} NewClientId: {client_id} {:queue}",
    ),
    Text(
        "LOCK_TAKEN_EXPIRED",
        "tryLockBatch, message queue lock expired, I got it. Group: {consumer_group} OldClientId: {peer_client_id} NewClientId: {client_id} {:queue}",
    ),
    Text(
        "LOCK_REFUSED",
        "tryLockBatch, message queue locked by other client. Group: {consumer_group} OtherClientId: {peer_client_id} NewClientId: {client_id} {:queue}",
    ),
    Text(
        "LOCK1_NEW",
        "tryLock, message queue not locked, I got it. Group: {consumer_group} NewClientId: {client_id} {:queue}",
    ),
    Text(
        "LOCK1_TAKEN_EXPIRED",
        "tryLock, message queue lock expired, I got it. Group: {consumer_group} OldClientId: {peer_client_id} NewClientId: {client_id} {:queue}",
    ),
    Text(
        "LOCK1_REFUSED",
        "tryLock, message queue locked by other client. Group: {consumer_group} OtherClientId: {peer_client_id} NewClientId: {client_id} {:queue}",
    ),
    Text("LOCK_RELEASED", "unlockBatch, Group: {consumer_group} {:queue} {client_id}"),
    Text(
        "LOCK_RELEASE_REFUSED",
        "unlockBatch, but mq locked by other client: {peer_client_id}, Group: {consumer_group} {:queue} {client_id}",
    ),
    Text("LOCK_RELEASE_NONE", "unlockBatch, but mq not locked, Group: {consumer_group} {:queue} {client_id}"),
    Text("LOCK_RELEASE_NO_GROUP", "unlockBatch, group not exist, Group: {consumer_group} {client_id}"),
)
"""The wordings of 4.x."""

SIGNS = (
    *signs(
        "LOCK_SIGN",
        "RebalanceLockManager#tryBatch: unexpected error, group={consumer_group}, mqs={:text}, clientId={client_id}",
        "RebalanceLockManager#unlockBatch: unexpected error, group={consumer_group}, mqs={:text}, clientId={client_id}",
        "RebalanceLockManager#tryLock: unexpected error, group={consumer_group}, mq={:queue}, clientId={client_id}",
    ),
    Text("LOCK_SIGN", "putMessage exception", when=from_lock_manager),
)

TEXTS = under("order_lock", (*LOCKS, *BEFORE_5, *SIGNS))
