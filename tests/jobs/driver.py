"""A driver and its executors, in processes of their own so that a test can kill them.

For every line that it reads it runs a night, in a child that shares its session: a JVM for each would take seconds.
"""

import os
import sys
import threading
from pathlib import Path

from election_replay.jobs.engines.spark_engine import LITTLE_SETTING, SparkEngine
from election_replay.jobs.engines.spark_session import spark_session
from election_replay.jobs.warehouse.warehouse import Warehouse
from tests.jobs.nights import night

SETTINGS = {
    "spark.executor.memory": "512m",
    LITTLE_SETTING: "0",  # executors are to be killed, not the driver
    "spark.driver.host": "127.0.0.1",
    # Executors that are killed are no sign of a bad machine or of a bad task here.
    "spark.deploy.maxExecutorRetries": "-1",
    "spark.task.maxFailures": "20",
    "spark.stage.maxConsecutiveAttempts": "20",
    # What an executor held is gone with it: to ask again and again takes a quarter of a minute.
    "spark.shuffle.io.maxRetries": "1",
    "spark.shuffle.io.retryWait": "200ms",
    # To compile a query over a dozen rows costs more than to run it, and nights are many. The undisturbed run compiles.
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}


def main(landing: str, root: str) -> None:
    """Say ``ready``; for each line of standard input say the child that runs a night, and whether it was published."""
    spark = SparkEngine(
        spark_session("killed", master="local-cluster[2,1,512]", shuffle_partitions=2, quiet=True, more=SETTINGS)
    )
    print("ready", flush=True)
    for _ in sys.stdin:
        child = os.fork()
        if not child:
            alone(spark, Path(landing), Warehouse(root))
        print(child, flush=True)
        _, status = os.waitpid(child, 0)
        print("published" if status == 0 else "failed", flush=True)


def alone(spark: SparkEngine, landing: Path, warehouse: Warehouse) -> None:
    """One night and no more, in a thread of its own, which opens its own connection to the JVM."""
    done: list[bool] = []
    thread = threading.Thread(target=lambda: done.append(bool(night(spark, landing, warehouse))))
    thread.start()
    thread.join()
    os._exit(0 if done else 1)


if __name__ == "__main__":
    main(*sys.argv[1:])
