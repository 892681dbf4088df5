"""The Python processes in which Spark runs our code on an executor."""

import gc
import sys
from zipimport import zipimporter

from election_replay.jobs.warehouse.stores import adopt_spark_user


def prepare_worker() -> None:
    """Let this Python worker act for who submitted the job, and spare it a quarter of a second around every task.

    Spark puts its own jar on the path; nothing is imported from it, yet its whole directory is read anew each time.
    So is that of the archive that holds PySpark, once for each of its packages: what finds modules in an archive is
    forgotten here, and made again when something is imported. And after each task the garbage collector goes through
    all that was ever imported.
    """
    adopt_spark_user()
    sys.path[:] = [place for place in sys.path if not place.endswith(".jar")]
    for place in [place for place, finder in sys.path_importer_cache.items() if isinstance(finder, zipimporter)]:
        del sys.path_importer_cache[place]
    gc.freeze()
