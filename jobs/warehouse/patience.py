"""Writing to HDFS while one of its machines is down.

The NameNode goes on naming a DataNode that has died: for ten minutes where its settings are Hadoop's own, for half a
minute with ``dfs.namenode.avoid.write.stale.datanode`` and machines enough for all replicas. Java's client then asks
for another one; that of Delta's writer gives up. What it gave up has not been written: a commit is a file that is
renamed when all of it is there.
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
"""What the writer says when a DataNode does not answer it, and the NameNode of a file that was being written there."""

TAKEN_BACK = re.compile(r"RecoveryInProgressException.*? CREATE_FILE (/\S+) ", re.DOTALL)
"""The file that the NameNode takes back from a writer of which it has heard nothing for a minute. That may never end
where no machine has a byte of it, and the next attempt begins with a file of the same name."""

WAITS = (1, 2, 5, 10, 20, 30, 60)
"""Seconds before each new attempt."""

PAUSE = 20
"""Seconds before a task fails, so that Spark's next attempts at it come later."""


def retry_hdfs(write: Callable[[], Answer], remove: Callable[[str], None] | None = None) -> Answer:
    """Write, and once more where a machine of HDFS did not answer; what has failed to the end is raised.

    ``remove`` takes away a file that HDFS takes back from a writer that is gone.
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
    """Whether a machine of HDFS did not answer: another one may."""
    return NO_MACHINE.search(str(error)) is not None
