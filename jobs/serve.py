"""A SQL endpoint over the published tables and views: Spark's Thrift server, for JDBC, ODBC and HiveServer2 clients.

Every query reads one published run, whole: the newest when it began. Whoever may connect may read what is published,
and nothing else (:mod:`jobs.serving`). It listens on this machine alone, unless the clients must prove who they are.
"""

import ipaddress
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from urllib.request import url2pathname

from pyspark.conf import SparkConf

from election_replay.jobs import JobError
from election_replay.jobs.serving.gate import SCHEMA, Gate
from election_replay.jobs.spark_views import SERVED, list_in, register_run
from election_replay.jobs.warehouse.warehouse import Warehouse

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

AUTHENTICATION = "spark.hadoop.hive.server2.authentication"
"""Hive's own setting: NONE (anybody), or LDAP, KERBEROS, PAM, CUSTOM with their settings beside it."""

SETTINGS = {
    "spark.sql.hive.thriftServer.singleSession": "false",  # what a client sets is its alone
    "spark.sql.catalogImplementation": "in-memory",
    "spark.sql.runSQLOnFiles": "false",
    "spark.sql.variable.substitute": "false",  # ${env:HOME} and the like
    "spark.sql.scripting.enabled": "false",
    "spark.sql.optimizer.disableHints": "true",  # REPARTITION(1000000)
    # A result comes to the driver one part after the other, and no part may fill it.
    "spark.sql.thriftServer.incrementalCollect": "true",
    "spark.driver.maxResultSize": "256m",
    "spark.executor.killOnFatalError.depth": "0",  # a task that wants too much memory fails alone
    "spark.scheduler.mode": "FAIR",  # each client has a pool
}
"""How it answers many clients that do not know each other."""

CLASS_PATH = "spark.driver.extraClassPath"
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
        }

    @property
    def url(self) -> str:
        """The address for JDBC clients."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"jdbc:hive2://{host}:{self.port}/election_replay"


def class_path() -> dict[str, str]:
    """The setting that puts Delta's own jars on the class path of the JVM itself.

    Hive closes Spark's loader of added jars when the first client leaves, and every later query would fail. Where the
    jars are is known once a session has resolved them, so one is started, in a process of its own, and asked. What
    Delta depends on stays behind: on the class path it would come before the versions that Spark brings.
    """
    asked = subprocess.run([sys.executable, "-c", ASK_FOR_JARS], capture_output=True, text=True, check=False)
    jars = asked.stdout.strip().rpartition("\n")[2]
    if asked.returncode or not jars:
        raise JobError("Spark did not start, so its jars are not known: `election-replay --debug run ...` shows why")
    paths = [url2pathname(urlsplit(jar).path) for jar in jars.split(",") if "io.delta_" in jar]
    configured = SparkConf().get(CLASS_PATH, "")
    return {CLASS_PATH: os.pathsep.join([configured, *paths] if configured else paths)}


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
        """Close all connections."""
        self._server.stop()
