"""The gate of the SQL endpoint, in the JVM: what clients may say, and the plans of the run that they then read."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]

from election_replay.jobs import JobError
from election_replay.jobs.serving import allowed
from election_replay.schemas.views import VIEWS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SCHEMA = "election_replay"
"""Where tables, views and functions stand in the served catalogue."""

SOURCE = Path(__file__).with_name("gate.java")

ALLOWED = {
    "statements": allowed.STATEMENTS,
    "operators": allowed.OPERATORS,
    "expressions": allowed.EXPRESSIONS,
    "functions": allowed.FUNCTIONS,
    "constants": allowed.CONSTANTS,
    "table functions": allowed.TABLE_FUNCTIONS | {view.name for view in VIEWS.values() if view.parameters},
    "settings": allowed.SETTINGS,
}
"""By the names that gate.java gives them."""


class Gate:
    """What stands between clients and ``spark``.

    It acts on sessions that begin after :meth:`name_tables` and :meth:`guard`.
    """

    def __init__(self, spark: "SparkSession") -> None:
        self._jvm: Any = spark._jvm  # Spark's parser, analyzer and Thrift server have no Python interface
        self._spark: Any = spark._jsparkSession
        gateway: Any = spark.sparkContext._gateway
        given = gateway.new_array(gateway.jvm.Object, 2)
        given[0], given[1] = SCHEMA, self._names()
        self._gate: Any = self._compiled().getConstructors()[0].newInstance(given)

    def publish(self, run_id: str, tables: "dict[str, DataFrame]") -> None:
        """Answer from these from now on; queries that have begun go on with what was published before."""
        plans = self._jvm.java.util.HashMap()
        for name, rows in tables.items():
            plans[name] = rows._jdf.queryExecution().analyzed()
        self._gate.publish(run_id, plans)

    def name_tables(self) -> None:
        """Let sessions that begin now read the published tables and views by their names."""
        self._gate.name(self._spark)

    def guard(self) -> None:
        """Let sessions that begin now read nothing else, and do nothing but read."""
        self._gate.guard(self._spark)

    def refusal(self, rows: "DataFrame") -> str:
        """Why the analyzed plan of ``rows`` is refused, whatever statement it comes from; empty where it is allowed."""
        return str(self._gate.refusal(rows._jdf.queryExecution().analyzed()))

    def listen(self) -> Any:
        """The Thrift server, listening."""
        return self._gate.listen(self._spark)

    def _compiled(self) -> Any:
        compiler = self._jvm.org.codehaus.janino.SimpleCompiler()
        compiler.setParentClassLoader(self._jvm.Thread.currentThread().getContextClassLoader())
        try:
            compiler.cook(SOURCE.read_text("utf-8"))
        except Py4JJavaError as error:
            raise JobError(f"this Spark is another than the endpoint knows: {error.java_exception}") from error
        return compiler.getClassLoader().loadClass("replay.serving.Gate")

    def _names(self) -> Any:
        names = self._jvm.java.util.HashMap()
        for kind, known in ALLOWED.items():
            of_kind = self._jvm.java.util.HashSet()
            for name in sorted(known):
                of_kind.add(name)
            names[kind] = of_kind
        return names
