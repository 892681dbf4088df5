"""Retries of writes to HDFS while one of its machines is down.

The NameNode keeps assigning a dead DataNode: for ten minutes by default, for half a minute with
``dfs.namenode.avoid.write.stale.datanode`` and enough machines for all replicas. Java's client asks for another
DataNode; the client of delta-rs gives up. A write that gave up has left no commit: a commit is a file that is renamed
once it is complete.
"""

import re
import time
from collections.abc import Callable
from typing import TypeVar

from deltalake.exceptions import DeltaError

Answer = TypeVar("Answer")

NO_MACHINE = re.compile(
    r"IO error occurred while communicating with HDFS|RecoveryInProgressException|AlreadyBeingCreatedException"
)
"""Errors of the writer if a DataNode does not answer, and of the NameNode for a file that was being written there."""

TAKEN_BACK = re.compile(r"RecoveryInProgressException.*? CREATE_FILE (/\S+) ", re.DOTALL)
"""The path of a file whose lease the NameNode recovers after a writer was silent for a minute. Recovery may never end
if no machine has a byte of the file, and the next attempt creates a file of the same name."""

WAITS = (1, 2, 5, 10, 20, 30, 60)
"""Seconds to wait before each retry."""

PAUSE = 20
"""Seconds to wait before a task fails, so that Spark's next attempt at it comes later."""


def retry_hdfs(write: Callable[[], Answer], remove: Callable[[str], None] | None = None) -> Answer:
    """Call ``write``, again after each of :data:`WAITS` while an HDFS machine does not answer; return its result.

    The last error is raised. ``remove`` deletes a file whose lease the NameNode recovers from a writer that is gone.
    """
    for wait in WAITS:
        try:
            return write()
        except (DeltaError, OSError) as error:
            if not no_machine(error):
                raise
            if remove and (left := TAKEN_BACK.search(str(error))):
                remove(left[1])
            time.sleep(wait)
    return write()


def no_machine(error: BaseException) -> bool:
    """Return True if the error says that an HDFS machine did not answer; another one may."""
    return NO_MACHINE.search(str(error)) is not None
