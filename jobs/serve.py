"""A SQL endpoint over the published tables and views: Spark's Thrift server, for JDBC, ODBC and HiveServer2 clients.

Every query reads one published run, whole: the newest when it began. Whoever may connect may read what is published,
and nothing else (:mod:`jobs.serving`). It listens on this machine alone, unless the clients must prove who they are.
"""

import ipaddress
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from urllib.request import url2pathname

import pyspark
from pyspark.conf import SparkConf

from election_replay.jobs import JobError
from election_replay.jobs.engines.delta_jars import brought
from election_replay.jobs.engines.spark_session import master_of
from election_replay.jobs.serving.gate import SCHEMA, Gate
from election_replay.jobs.spark_views import SERVED, list_in, register_run
from election_replay.jobs.warehouse.warehouse import Warehouse

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

AUTHENTICATION = "spark.hadoop.hive.server2.authentication"
"""Hive's own setting: NONE (anybody), or LDAP, KERBEROS, PAM, CUSTOM with their settings beside it."""

WHILE_PLANNING = ("ConstantFolding", "ConvertToLocalRelation", "FoldablePropagation")
"""Rules of Spark's optimizer that work values out while a query is planned, in the process that answers everybody."""

SETTINGS = {
    "spark.sql.hive.thriftServer.singleSession": "false",  # what a client sets is its alone
    "spark.sql.catalogImplementation": "in-memory",
    "spark.sql.runSQLOnFiles": "false",
    "spark.sql.variable.substitute": "false",  # ${env:HOME} and the like
    "spark.sql.scripting.enabled": "false",
    "spark.sql.optimizer.disableHints": "true",  # REPARTITION(1000000)
    "spark.scheduler.mode": "FAIR",  # each client has a pool
    # Each task has a process of its own: one that wants too much memory, or cannot be interrupted, ends alone.
    "spark.executor.cores": "1",
    "spark.task.maxFailures": "2",
    "spark.task.reaper.enabled": "true",
    "spark.task.reaper.pollingInterval": "1s",
    "spark.task.reaper.killTimeout": "5s",
    "spark.deploy.maxExecutorRetries": "-1",
    "spark.executor.logs.rolling.strategy": "size",
    "spark.executor.logs.rolling.maxRetainedFiles": "2",
    "spark.sql.optimizer.excludedRules": ",".join(
        f"org.apache.spark.sql.catalyst.optimizer.{rule}" for rule in WHILE_PLANNING
    ),
    # A result comes to the driver one part after the other, and no part, nor what is broadcast, may fill it.
    "spark.sql.thriftServer.incrementalCollect": "true",
    "spark.driver.maxResultSize": "128m",
    "spark.sql.maxBroadcastTableSize": "128m",
    "spark.hadoop.hive.server2.idle.session.timeout": "3600000",
    "spark.hadoop.hive.server2.session.check.interval": "60000",
}
"""How it answers many clients that do not know each other."""

PROCESSES = (2, 4)
"""How many tasks run at once: more than one client has, and no more than fit a laptop unless a number is asked for."""
WORKER_MB = 1 << 20
"""What Spark's own book-keeping asks a worker to have; ``spark.executor.memory`` bounds each process."""

CLASS_PATHS = ("spark.driver.extraClassPath", "spark.executor.extraClassPath")
ASK_FOR_JARS = (
    "from election_replay.jobs.engines.spark_session import spark_session; "
    "print('\\n' + spark_session('jars', master='local[1]', quiet=True).conf.get('spark.jars'))"
)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where to listen.

    Raises :class:`JobError` for an address that others reach when they need not say who they are.
    """

    host: str
    port: int
    seconds: int = 300
    """How long a statement may take."""

    def __post_init__(self) -> None:
        authentication = SparkConf().get(AUTHENTICATION, "NONE") or "NONE"
        if not is_loopback(self.host) and authentication.upper() in {"NONE", "NOSASL"}:
            raise JobError(
                f"refused to listen on {self.host} without authentication: stay on 127.0.0.1, or set {AUTHENTICATION} "
                "(LDAP, KERBEROS or CUSTOM) and what belongs to it in spark-defaults.conf"
            )

    @property
    def settings(self) -> dict[str, str]:
        """Spark's settings for it."""
        return SETTINGS | {
            "spark.hadoop.hive.server2.thrift.bind.host": self.host,
            "spark.hadoop.hive.server2.thrift.port": str(self.port),
            "spark.sql.thriftServer.queryTimeout": str(self.seconds),
        }

    @property
    def url(self) -> str:
        """The address for JDBC clients."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"jdbc:hive2://{host}:{self.port}/election_replay"


def tasks_apart(master: str | None) -> str | None:
    """A master with which each task has a process of its own, in place of one with which all tasks are threads."""
    threads = re.fullmatch(r"local(?:\[(\d+|\*)(?:,\d+)?\])?", master_of(master))
    if threads is None:
        return master
    least, most = PROCESSES
    wanted = min(os.cpu_count() or 1, most) if threads[1] == "*" else int(threads[1] or 1)
    return f"local-cluster[{max(wanted, least)},1,{WORKER_MB}]"


@contextmanager
def home() -> Iterator[None]:
    """A home of Spark in which its workers may write, for as long as it is needed: links to the one that there is."""
    real = Path(os.environ.get("SPARK_HOME") or Path(pyspark.__file__).parent)
    before = os.environ.get("SPARK_HOME")
    with TemporaryDirectory(prefix="election-replay-serve-", ignore_cleanup_errors=True) as folder:
        for part in real.iterdir():
            if part.name != "work":
                Path(folder, part.name).symlink_to(part)
        os.environ["SPARK_HOME"] = folder
        try:
            yield
        finally:
            os.environ.pop("SPARK_HOME") if before is None else os.environ.update(SPARK_HOME=before)


def class_path(*, shipped: bool) -> dict[str, str]:
    """The settings that put Delta's own jars on the class path of the JVMs themselves.

    ``shipped``: Spark also sends them to its workers, since these are on other machines.

    Hive closes Spark's loader of added jars when the first client leaves, and every later query would fail.
    """
    configured = SparkConf()
    paths = brought(configured) or resolved()
    more = {} if shipped else {"spark.jars.packages": ""}
    return more | {key: os.pathsep.join([*filter(None, [configured.get(key, "")]), *paths]) for key in CLASS_PATHS}


def resolved() -> list[str]:
    """Delta's jars, as a session says where they are that is started for that, in a process of its own."""
    asked = subprocess.run([sys.executable, "-c", ASK_FOR_JARS], capture_output=True, text=True, check=False)
    jars = asked.stdout.strip().rpartition("\n")[2]
    if asked.returncode or not jars:
        raise JobError("Spark did not start, so its jars are not known: `election-replay --debug run ...` shows why")
    return [url2pathname(urlsplit(jar).path) for jar in jars.split(",") if "io.delta_" in jar]


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches ``host``; a name that is not ``localhost`` may be anybody's."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


class Server:
    """The Thrift server of one Spark session, before one warehouse. ``run_id``: the run that it answers from."""

    def __init__(self, spark: "SparkSession", warehouse: str) -> None:
        self._spark, self._warehouse = spark, warehouse
        self._gate = Gate(spark)
        self.run_id = ""
        self._versions: dict[str, int] = {}
        self.publish()
        self._gate.name_tables()
        list_in(spark, SCHEMA)
        self._gate.guard()
        self._server = self._gate.listen()

    def publish(self) -> bool:
        """Answer from the newest published run from now on, and with the newest reviews; whether it is another run.

        Queries that have begun go on with the run that they began with.
        """
        tables = Warehouse(self._warehouse)
        run = tables.last_run()
        versions = tables.published_versions(run)
        newer = bool(run["run_id"] != self.run_id)
        if newer or versions != self._versions:
            register_run(self._spark, tables, run)
            self._gate.publish(run["run_id"], {name: self._spark.table(name) for name in SERVED})
            self.run_id, self._versions = run["run_id"], versions
        return newer

    def follow(self, pause: float) -> Iterator[str]:
        """Look every ``pause`` seconds for a newer run; what there is to say of it."""
        trouble = ""
        while True:
            time.sleep(pause)
            try:
                if self.publish():
                    yield f"Serving run {self.run_id}."
                trouble = ""
            except Exception as error:  # noqa: BLE001 - whatever it is, the run that is served can still be read
                if trouble != (trouble := str(error).partition("\n")[0]):
                    yield f"Still serving run {self.run_id}, since no newer one can be read: {trouble}"

    def stop(self) -> None:
        """Close all connections, and end the processes of the tasks."""
        self._server.stop()
        self._spark.stop()
