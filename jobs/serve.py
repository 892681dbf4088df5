"""A SQL endpoint over the published tables and views: Spark's Thrift server, for JDBC, ODBC and HiveServer2 clients.

It serves the run that was published when it started, whole. A newer one is served after a restart, which it asks for:
views are replaced one by one, and no query may meet half a night. Whoever may connect may do what Spark may do on this
machine, so it listens on this machine alone, unless the clients must prove who they are.
"""

import ipaddress
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

from pyspark.conf import SparkConf

from jobs import JobError
from jobs.spark_views import register
from jobs.warehouse.warehouse import Warehouse

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

AUTHENTICATION = "spark.hadoop.hive.server2.authentication"
"""Hive's own setting: NONE (anybody), or LDAP, KERBEROS, PAM, CUSTOM with their settings beside it."""


CLASS_PATH = "spark.driver.extraClassPath"
ASK_FOR_JARS = (
    "from jobs.engines.spark_session import spark_session; "
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
        """Spark's settings for it; all connections share one session, which knows the views."""
        return {
            "spark.sql.hive.thriftServer.singleSession": "true",
            "spark.hadoop.hive.server2.thrift.bind.host": self.host,
            "spark.hadoop.hive.server2.thrift.port": str(self.port),
            "spark.sql.catalogImplementation": "in-memory",
        }

    @property
    def url(self) -> str:
        """The address for JDBC clients."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"jdbc:hive2://{host}:{self.port}/default"


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
    """The Thrift server of one Spark session."""

    def __init__(self, spark: "SparkSession", warehouse: str) -> None:
        self.run: dict[str, Any] = register(spark, warehouse)
        jvm: Any = spark._jvm  # the server has no Python interface
        server = jvm.org.apache.spark.sql.hive.thriftserver.HiveThriftServer2
        self._server = server.startWithContext(spark._jsparkSession.sqlContext())

    def stop(self) -> None:
        """Close all connections."""
        self._server.stop()


def newer_runs(warehouse: Warehouse, run_id: str, pause: float = 60) -> Iterator[str]:
    """The ids of the runs that are published after ``run_id``, each when it is: look every ``pause`` seconds."""
    while True:
        time.sleep(pause)
        newest = warehouse.last_run()["run_id"]
        if newest != run_id:
            run_id = newest
            yield run_id
