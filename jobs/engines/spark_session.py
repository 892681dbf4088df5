"""The one Spark session builder."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from threading import Thread
from traceback import walk_tb

from delta import configure_spark_with_delta_pip
from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark.conf import SparkConf
from pyspark.core.context import SparkContext
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from election_replay.jobs import ARROW_MEMORY, ONE_THREAD, POLARS_THREADS, JobError

JAVA_WANTED = 17
PYTHON_PACKAGES = (".zip", ".egg")
"""Endings of files that Spark puts on Python's path. By default it adds fetched jars too, and then every task reads the
directories of all of them again, a third of a second each."""

OLD_VERSIONS = {"spark.databricks.delta.vacuum.enforceTimeTravelWithinDeletedFileRetentionDuration": "false"}
"""Let Delta read old versions. It refuses one that was superseded longer ago than deleted files are retained (7 days by
default) even if all its files exist; upkeep decides how long they stay."""

ON_ONE_MACHINE = {
    "spark.databricks.delta.snapshotPartitions": "2",  # 50 tiny tasks on every snapshot otherwise
    "spark.sql.sources.parallelPartitionDiscovery.parallelism": "4",
    "spark.sql.shuffle.partitions": "8",
    "spark.ui.enabled": "false",
}
"""Settings for one machine alone: on a cluster they would slow Spark down, or hide its UI."""

OWN_JARS = ("spark.jars", "spark.jars.packages", "spark.driver.extraClassPath")
"""Settings by which users bring jars of their own."""

OUTPUT_BYTES = 1 << 16
"""Bytes of the JVM's output that are kept, the last ones."""
OUTPUT_SECONDS = 5
"""Seconds to wait for the end of the output of a JVM that failed to start."""

SHORT_LIVED = {"spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN"}
"""Settings of a local session with little to do: compiling a query would take longer than interpreting it."""
SHORT_LIVED_JVM = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""Options of its JVM: compile fast, and start no garbage collector threads, as there is little garbage."""

LOG4J = Path(__file__).parents[2] / "conf" / "log4j2.properties"
INSTALL_JAVA = (
    f"install a JDK {JAVA_WANTED} or newer (for example `apt install openjdk-17-jdk-headless` "
    "or `brew install openjdk@17`) or point JAVA_HOME at one"
)


def spark_session(
    name: str,
    *,
    master: str | None = None,
    shuffle_partitions: int | None = None,
    quiet: bool = False,
    short_lived: bool = False,
    more: Mapping[str, str] | None = None,
) -> SparkSession:
    """Return a session that reads and writes Delta tables, in UTC.

    ``master`` applies unless one is configured already, as by ``spark-submit``; the default is this machine.
    ``shuffle_partitions`` is by default 8 on one machine, and on a cluster what its profile or Spark says.
    ``short_lived``: start fast on one machine, as there is little to do. ``more`` are settings of one job alone.
    ``quiet`` keeps the JVM's output off the terminal. Raises :class:`JobError` if Java is missing or too old, or if no
    session can be started.
    """
    require_java()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    configured = submitted()
    chosen = master_of(master, configured)
    if chosen.startswith("local"):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    builder = configure_spark_with_delta_pip(SparkSession.builder.appName(name).master(chosen))
    of_session = settings(chosen, shuffle_partitions, configured, short_lived) | quick_start(chosen, configured)
    for key, value in (of_session | dict(more or {})).items():
        builder = builder.config(key, value)
    try:
        SparkContext.PACKAGE_EXTENSIONS = PYTHON_PACKAGES
        with jvm_output(quiet) as output:
            return builder.getOrCreate()
    except KeyboardInterrupt as stopped:
        end_unfinished_jvm(stopped)
        raise
    except (PySparkException, Py4JError, OSError) as error:
        raise JobError(why_not_started(output.decode("utf-8", "replace"), chosen)) from error


def end_unfinished_jvm(stopped: KeyboardInterrupt) -> None:
    """Kill the JVM that was being started: it would wait for ever, as no process knows its port."""
    for frame, _ in walk_tb(stopped.__traceback__):
        for jvm in map(frame.f_locals.get, ("self", "proc")):
            if isinstance(jvm, subprocess.Popen):
                jvm.kill()


@contextmanager
def jvm_output(quiet: bool) -> Iterator[bytearray]:
    """If ``quiet``, redirect standard error into the bytes yielded while the JVM starts, and for as long as it lives.

    The JVM's errors also come as exceptions, except those before it can throw any.
    """
    output = bytearray()
    if not quiet:
        yield output
        return
    sys.stderr.flush()
    kept = os.dup(2)
    end, begin = os.pipe()
    reader = Thread(target=keep_end, args=(end, output), daemon=True)
    reader.start()
    failed = False
    try:
        os.dup2(begin, 2)
        yield output
    except Exception:  # not KeyboardInterrupt: that must not wait below
        failed = True
        raise
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(begin)
        if failed:
            reader.join(OUTPUT_SECONDS)  # a JVM that could not start has ended


def keep_end(source: int, output: bytearray) -> None:
    """Read a file descriptor to its end, and keep the last :data:`OUTPUT_BYTES` in ``output``."""
    while data := os.read(source, OUTPUT_BYTES):
        output += data
        del output[:-OUTPUT_BYTES]
    os.close(source)


def why_not_started(text: str, master: str) -> str:
    """Return the error message for a Spark that did not start; ``text`` is the JVM's output.

    The most frequent cause is that Delta's jars could not be downloaded at the first start.
    """
    if not (missing := re.search(r"(?<=:: )([\w.-]+)#([\w.-]+);([\w.-]+): not found", text)):
        return f"Spark did not start with master {master}; --debug shows why"
    reason = re.search(r"Server access error at url \S+ \((.*)\)", text)
    folder = re.search(r"Ivy Default Cache set to: (.*)/cache", text)
    here = f"~/.m2/repository or {folder[1] if folder else '~/.ivy2.5.2'}"
    why = f" ({reason[1]})" if reason else ""
    return (
        f"Spark did not start: the jars of {':'.join(missing.groups())} are not on this machine (in {here}) and could "
        f"not be fetched from the Maven repository{why}. Let Java reach it (a proxy: "
        "JDK_JAVA_OPTIONS='-Dhttps.proxyHost=HOST -Dhttps.proxyPort=PORT'; a mirror: spark.jars.ivySettings), or copy "
        "the second folder from a machine where Spark has started once"
    )


def submitted() -> SparkConf:
    """Return the configuration of ``spark-submit`` if it started this process; only its JVM knows that."""
    if "PYSPARK_GATEWAY_PORT" in os.environ:
        SparkContext._ensure_initialized()
    return SparkConf()


def master_of(master: str | None, configured: SparkConf | None = None) -> str:
    """Return the master: that of ``spark-submit``, else ``master``, else this machine."""
    return (configured or submitted()).get("spark.master", None) or master or "local[*]"


def settings(
    master: str, shuffle_partitions: int | None, configured: SparkConf, short_lived: bool = False
) -> dict[str, str]:
    """Return Spark's settings; those ``configured`` already take precedence."""
    chosen = {
        "spark.driver.memory": "3g",  # Spark's 1 GB is little for two sorts at once
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        "spark.sql.adaptive.enabled": "true",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",  # Arrow takes Spark's default for nanoseconds
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        # A limit in bytes makes Spark size up a whole batch after each of its rows; rows alone bound a batch.
        "spark.sql.execution.arrow.maxBytesPerBatch": str(2**31 - 1),
        "spark.sql.execution.arrow.maxRecordsPerBatch": "10000",
        "spark.sql.inMemoryColumnarStorage.batchSize": "2000",  # 10,000 of our wide rows need too much memory at once
        "spark.ui.showConsoleProgress": "false",
        f"spark.executorEnv.{ARROW_MEMORY}": os.environ[ARROW_MEMORY],
        f"spark.executorEnv.{POLARS_THREADS}": os.environ.get(POLARS_THREADS, ONE_THREAD),
        **OLD_VERSIONS,
    }
    if shuffle_partitions is not None:
        chosen["spark.sql.shuffle.partitions"] = str(shuffle_partitions)
    short_lived = short_lived and master.startswith("local") and not master.startswith("local-cluster")
    if master.startswith("local"):
        chosen = ON_ONE_MACHINE | (SHORT_LIVED if short_lived else {}) | chosen
    options = [SHORT_LIVED_JVM] if short_lived else []
    if LOG4J.is_file():
        options.append(f"-Dlog4j2.configurationFile={LOG4J.as_uri()}")
    if options:
        chosen["spark.driver.extraJavaOptions"] = " ".join(options)
    return {key: configured.get(key, value) or value for key, value in chosen.items()}


def quick_start(master: str, configured: SparkConf) -> dict[str, str]:
    """Return settings by which a local session uses Delta's cached jars instead of asking a repository.

    They are empty if no jars are cached, or if the user brings jars of his own.
    """
    in_process = master.startswith("local") and not master.startswith("local-cluster")
    if not in_process or "PYSPARK_GATEWAY_PORT" in os.environ or any(configured.contains(key) for key in OWN_JARS):
        return {}
    if not (jars := cached_jars(configured)):
        return {}
    return {"spark.jars.packages": "", "spark.driver.extraClassPath": os.pathsep.join(jars)}


def require_java() -> None:
    """Raise :class:`JobError` if Java is missing or too old."""
    home = os.environ.get("JAVA_HOME")
    java = shutil.which("java", path=f"{home}/bin") if home else shutil.which("java")
    if java is None:
        place = f"JAVA_HOME is {home}, but there is no Java" if home else "there is no Java on this machine"
        raise JobError(f"{place}: {INSTALL_JAVA}")
    output = subprocess.run([java, "-version"], capture_output=True, text=True, check=False)
    found = java_version(output.stderr + output.stdout)
    if found is None or found < JAVA_WANTED:
        raise JobError(f"{java} is Java {found or 'of an unknown version'}: {INSTALL_JAVA}")


def java_version(output: str) -> int | None:
    """Return the major version from the output of ``java -version``, 8 for ``1.8.0``; ``None`` if there is none."""
    match = re.search(r'version "(?:1\.)?(\d+)', output)
    return int(match[1]) if match else None


def cached_jars(configured: SparkConf) -> list[str]:
    """Return the paths of Delta's jars in the Ivy cache; none unless both are there exactly once.

    Jars that Delta depends on are left out: on the class path they would take precedence over Spark's versions.
    """
    try:
        folder = Path(configured.get("spark.jars.ivy", "") or Path.home() / ".ivy2.5.2", "jars")
    except RuntimeError:  # the user has no home folder
        return []
    jars = sorted(folder.glob(f"io.delta_*-{version('delta-spark')}.jar"))
    of_spark, of_storage = (
        sum(jar.name.startswith(f"io.delta_delta-{part}") for jar in jars) for part in ("spark_", "storage-")
    )
    return [str(jar) for jar in jars] if of_spark == of_storage == 1 else []
