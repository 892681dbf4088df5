"""Clients of ``serve`` read what is published, each run whole, and can do nothing else to it or to each other."""

import re
import signal
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

from election_replay.jobs.spark_views import SERVED
from election_replay.jobs.warehouse.warehouse import Warehouse
from election_replay.schemas import TABLES
from election_replay.schemas.views import VIEWS
from tests.jobs.served import Served, serving
from tests.jobs.tables import at, finding, publish, put, role, term
from tests.proving import amount

pytestmark = pytest.mark.slow

POLL = 1.0
LONGEST_S = 30
"""How long a statement may take."""
NEWER = amount((2, 3), (2, 3, 4))
"""The runs that are published while clients ask."""


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    """One published run: as many findings as terms."""
    tables = Warehouse(str(tmp_path_factory.mktemp("hostile") / "warehouse"))
    tables.create()
    put(tables, "role_intervals", role("n0", "leader", 0, None, term=1))
    put(tables, "findings", finding("f1", "LEADERLESS", 1, 2))
    put(tables, "terms", term(1, "n0", 0, 10))
    publish(tables)
    return tables


@pytest.fixture(scope="module")
def served(warehouse: Warehouse) -> Iterator[Served]:
    """The endpoint, looking for newer runs each second."""
    with serving(str(warehouse.root), "--poll", str(POLL), "--timeout", str(LONGEST_S)) as endpoint:
        assert "Serving run r1" in endpoint.said
        with endpoint.client() as first:  # the first answer of its JVMs takes longest
            answered(first, "SELECT finding_id FROM findings")
        yield endpoint


def answer(connection: Any, statement: str) -> list[Any]:
    """The rows that a statement gives."""
    cursor = connection.cursor()
    cursor.execute(statement)
    return list(cursor.fetchall())


def answered(connection: Any, statement: str) -> list[Any]:
    """The rows that a statement gives, at the latest when a process that had to be killed is there again."""
    from pyhive.exc import OperationalError

    begun = time.monotonic()
    while True:
        try:
            return answer(connection, statement)
        except OperationalError:
            if time.monotonic() - begun > 120:
                raise


def refusal(connection: Any, statement: str) -> str:
    """What the client is shown of the error."""
    from pyhive.exc import OperationalError

    with pytest.raises(OperationalError) as caught:
        answer(connection, statement)
    return str(caught.value.args[0].status.errorMessage)


ATTACKS = """
    CREATE TABLE mine (a INT) USING parquet LOCATION 'TARGET/table'
    CREATE TABLE mine USING parquet LOCATION 'TARGET/table' AS SELECT * FROM findings
    CREATE TABLE delta.`TARGET/table` (a INT) USING delta
    CREATE VIEW mine AS SELECT 1
    CREATE OR REPLACE VIEW election_replay.findings AS SELECT 1 AS finding_id
    CREATE TEMPORARY VIEW findings AS SELECT 1 AS finding_id
    CREATE TEMPORARY VIEW mine USING text OPTIONS (path '/etc/passwd')
    CREATE DATABASE mine LOCATION 'TARGET/database'
    CREATE FUNCTION mine AS 'java.lang.Runtime'
    CREATE TEMPORARY FUNCTION mine() RETURNS INT RETURN 1
    DROP VIEW findings
    DROP VIEW election_replay.findings
    DROP DATABASE election_replay CASCADE
    DROP FUNCTION election_replay.events_around
    ALTER VIEW findings AS SELECT 1
    ALTER VIEW findings RENAME TO lost
    ALTER DATABASE election_replay SET LOCATION 'TARGET/database'
    INSERT INTO findings SELECT * FROM findings
    INSERT INTO delta.`WAREHOUSE/gold/findings` SELECT * FROM findings
    INSERT OVERWRITE DIRECTORY 'TARGET/out' USING parquet SELECT * FROM findings
    INSERT OVERWRITE LOCAL DIRECTORY 'TARGET/out' SELECT 1
    FROM findings INSERT OVERWRITE DIRECTORY 'TARGET/out' USING csv SELECT finding_id
    UPDATE findings SET severity = 'info'
    DELETE FROM delta.`WAREHOUSE/gold/findings`
    MERGE INTO findings USING terms ON true WHEN MATCHED THEN DELETE
    TRUNCATE TABLE findings
    LOAD DATA LOCAL INPATH '/etc/passwd' INTO TABLE findings
    OPTIMIZE delta.`WAREHOUSE/gold/findings`
    VACUUM delta.`WAREHOUSE/gold/findings` RETAIN 0 HOURS
    RESTORE TABLE delta.`WAREHOUSE/gold/findings` TO VERSION AS OF 0
    CONVERT TO DELTA parquet.`TARGET`
    DESCRIBE HISTORY delta.`WAREHOUSE/gold/findings`
    DESCRIBE DETAIL delta.`WAREHOUSE/gold/findings`
    DESCRIBE TABLE delta.`WAREHOUSE/gold/findings`
    DESCRIBE DATABASE election_replay
    DESCRIBE other.findings
    SELECT * FROM parquet.`WAREHOUSE/gold/findings`
    SELECT * FROM delta.`WAREHOUSE/bronze/log_lines`
    SELECT * FROM text.`/etc/passwd`
    SELECT * FROM csv.`/etc/passwd`
    SELECT * FROM json.`WAREHOUSE/gold/findings/_delta_log/*.json`
    SELECT * FROM binaryFile.`/etc/passwd`
    SELECT * FROM spark_catalog.text.`/etc/passwd`
    SELECT (SELECT max(value) FROM text.`/etc/passwd`) FROM findings
    SELECT * FROM findings WHERE EXISTS (SELECT 1 FROM text.`/etc/passwd`)
    WITH stolen AS (SELECT * FROM text.`/etc/passwd`) SELECT * FROM stolen
    SELECT 1 UNION ALL SELECT count(*) FROM csv.`/etc/passwd`
    SELECT * FROM table_changes_by_path('WAREHOUSE/gold/findings', 0)
    SELECT * FROM table_changes('findings', 0)
    SELECT * FROM findings VERSION AS OF 0
    SELECT * FROM findings WITH (path = '/etc/passwd')
    SELECT * FROM IDENTIFIER('text.`/etc/passwd`')
    SELECT * FROM python_worker_logs()
    SELECT reflect('java.lang.System', 'getenv', 'PATH')
    SELECT java_method('java.lang.System', 'exit', 1)
    SELECT try_reflect('java.lang.System', 'getProperty', 'user.home')
    SELECT system.builtin.reflect('java.lang.System', 'getenv', 'PATH')
    SELECT IDENTIFIER('reflect')('java.lang.System', 'getenv', 'PATH')
    SELECT transform(array(1), x -> reflect('java.lang.System', 'getenv', 'PATH'))
    SELECT max(1) OVER w FROM findings WINDOW w AS (ORDER BY reflect('java.lang.System', 'getenv', 'PATH'))
    SELECT * FROM findings LATERAL VIEW reflect('java.lang.System', 'getenv', 'PATH') mine AS one
    SELECT * FROM events_around(reflect('java.lang.System', 'getenv', 'PATH'), current_timestamp())
    SELECT input_file_name() FROM findings
    SELECT xpath('<a/>', 'a')
    SELECT TRANSFORM(finding_id) USING 'touch TARGET/touched' AS (a STRING) FROM findings
    EXPLAIN SELECT * FROM text.`/etc/passwd`
    EXPLAIN EXTENDED INSERT OVERWRITE DIRECTORY 'TARGET/out' USING parquet SELECT 1
    DESCRIBE QUERY SELECT * FROM text.`/etc/passwd`
    EXECUTE IMMEDIATE 'DROP VIEW election_replay.findings'
    BEGIN DROP VIEW election_replay.findings; END
    DECLARE VARIABLE mine INT DEFAULT 1
    SET spark.sql.runSQLOnFiles = true
    SET spark.sql.catalog.mine = org.apache.spark.sql.execution.datasources.v2.jdbc.JDBCTableCatalog
    SET spark.sql.variable.substitute = true
    SET spark.driver.maxResultSize = 100g
    RESET
    RESET spark.sql.runSQLOnFiles
    USE mine
    USE CATALOG mine
    SHOW CATALOGS
    SHOW TABLES IN delta
    SHOW CREATE TABLE findings
    ADD JAR 'TARGET/mine.jar'
    ADD FILE '/etc/passwd'
    LIST FILES
    LIST JARS
    CACHE TABLE findings
    CACHE LAZY TABLE mine AS SELECT * FROM findings
    UNCACHE TABLE findings
    CLEAR CACHE
    REFRESH TABLE findings
    REFRESH 'WAREHOUSE'
    ANALYZE TABLE findings COMPUTE STATISTICS
    COMMENT ON DATABASE election_replay IS 'mine'
    MSCK REPAIR TABLE findings
    KILL QUERY 1
    GRANT ALL ON findings TO me
    dfs -ls /
    !touch TARGET/touched
"""


@pytest.mark.parametrize("attack", [line.strip() for line in ATTACKS.strip().splitlines()][:: amount(3, 1)])
def test_it_is_refused_in_one_line_and_does_nothing(
    attack: str,
    served: Served,
    warehouse: Warehouse,
    tmp_path: Path,
    record_property: Callable[[str, object], None],
) -> None:
    before = set(Path(warehouse.root).rglob("*"))
    statement = attack.replace("TARGET", str(tmp_path)).replace("WAREHOUSE", str(warehouse.root))
    with served.client() as hostile, served.client() as other:
        said = refusal(hostile, statement)
        assert re.fullmatch(r"(refused: |(\{LINE:1\} )?\[[A-Z_.]+\] )[^\n]{10,400}", said), said
        assert answer(other, "SELECT finding_id FROM findings") == [("f1",)]
        assert answer(hostile, "SELECT finding_id FROM findings") == [("f1",)]
    assert not list(tmp_path.iterdir())
    assert set(Path(warehouse.root).rglob("*")) == before
    record_property("attacks on the endpoint", 1)


def test_everything_is_still_listed_after_all_that(served: Served) -> None:
    with served.client() as client:
        assert {row[1] for row in answer(client, "SHOW TABLES IN election_replay")} == set(SERVED)
        assert {row[1] for row in answer(client, "SHOW TABLES")} == set(SERVED)
        functions = {row[0].rpartition(".")[2] for row in answer(client, "SHOW USER FUNCTIONS")}
        assert functions >= {
            view.name for view in VIEWS.values() if view.parameters
        }  # Delta has two, which are refused


def test_bi_tools_see_the_columns_with_types_and_comments(served: Served) -> None:
    with served.client() as client:
        for name in ("findings", "election_replay.findings", "default.findings"):
            described = {row[0]: row[1] for row in answer(client, f"DESCRIBE {name}")}
            assert tuple(described) == TABLES["findings"].names
            assert (described["start_time"], described["nodes"]) == ("timestamp", "array<string>")


def test_names_may_be_short_or_whole_and_shadowed_by_those_of_the_query(served: Served) -> None:
    with served.client() as client:
        for name in ("findings", "FINDINGS", "election_replay.findings", "spark_catalog.election_replay.findings"):
            assert answer(client, f"SELECT finding_id FROM {name}") == [("f1",)]  # noqa: S608 - names of our own
        assert answer(client, "SELECT election_replay.findings.finding_id FROM election_replay.findings") == [("f1",)]
        assert answer(client, "WITH findings AS (SELECT 7 AS a) SELECT a FROM findings") == [(7,)]
        shadowed = "WITH findings AS (SELECT * FROM findings WHERE false) SELECT count(*) FROM findings"
        assert answer(client, shadowed) == [(0,)]
        twice = "SELECT count(*) FROM findings AS a JOIN findings AS b ON a.finding_id = b.finding_id"
        assert answer(client, twice) == [(1,)]


def test_constants_are_worked_out_where_spark_has_to_know_them(served: Served) -> None:
    """Most of Spark's own working out is left out, since it happens in the process that answers everybody."""
    frame = "sum(id) OVER (ORDER BY id ROWS BETWEEN {} AND {}) FROM range(4)"
    with served.client() as client:
        for bounds, told in {
            ("1 PRECEDING", "CURRENT ROW"): [0, 1, 3, 5],
            ("UNBOUNDED PRECEDING", "1 PRECEDING"): [None, 0, 1, 3],
            ("1 + 1 PRECEDING", "1 FOLLOWING"): [1, 3, 6, 6],
        }.items():
            assert answer(client, f"SELECT {frame.format(*bounds)}") == [(total,) for total in told]
        assert answer(client, "SELECT count(*) FROM availability") == [(0,)]
        assert answer(client, "SELECT id FROM range(9) ORDER BY id LIMIT 1 + 1") == [(0,), (1,)]
        assert answer(client, "SELECT id FROM range(9) ORDER BY id LIMIT 1 OFFSET 3 + 1") == [(4,)]


def test_what_a_client_sends_when_it_connects_does_no_harm(served: Served) -> None:
    sent = {
        "set:hiveconf:spark.sql.runSQLOnFiles": "true",
        "set:hiveconf:spark.sql.defaultCatalog": "mine",
        "set:hiveconf:spark.sql.catalog.mine": "no.such.Class",
        "set:system:user.timezone": "Mars/Olympus",
        "set:hivevar:a": "b",
        "hive.server2.proxy.user": "root",
        "use:database": "default",
    }
    with served.client(configuration=sent) as client:
        assert answer(client, "SELECT finding_id FROM findings") == [("f1",)]
        assert "text" in refusal(client, "SELECT * FROM text.`/etc/passwd`")
        assert answer(client, "SELECT '${env:PATH}', '${system:user.home}'") == [("${env:PATH}", "${system:user.home}")]
        answer(client, "SET hive.exec.parallel = true")
        assert answer(client, "SET -v") == [("spark.sql.session.timeZone", "UTC")]


def test_what_one_client_sets_is_its_alone(served: Served) -> None:
    with served.client() as one, served.client() as other:
        answer(one, "SET spark.sql.session.timeZone = Asia/Shanghai")
        assert answer(one, "SELECT current_timezone()") == [("Asia/Shanghai",)]
        assert answer(other, "SELECT current_timezone()") == [("UTC",)]


def test_it_follows_publication_and_no_answer_mixes_two_runs(served: Served, warehouse: Warehouse) -> None:
    """Each newer run has one finding and one term more."""
    query = (
        "SELECT (SELECT count(*) FROM findings), (SELECT count(*) FROM election_replay.terms), "
        "(SELECT count(*) FROM findings_between(TIMESTAMP '2000-01-01', TIMESTAMP '2100-01-01'))"
    )
    seen: list[tuple[int, int, int]] = []
    over = Event()

    failed: list[Exception] = []

    def ask() -> None:
        try:
            with served.client() as client:
                while not over.is_set():
                    seen.extend(answer(client, query))
        except Exception as error:  # noqa: BLE001 - the test itself fails by it, below
            failed.append(error)

    askers = [Thread(target=ask) for _ in range(2)]
    for asker in askers:
        asker.start()
    try:
        for number in NEWER:
            put(warehouse, "findings", finding(f"f{number}", "LEADERLESS", number, number + 1))
            put(warehouse, "terms", term(number, "n0", number * 10, number * 10 + 10))
            versions = list(warehouse.versions().items())
            last = next(run for run in warehouse.runs() if run["run_id"] == f"r{number - 1}")
            times = {"started_at": at(60 * number), "published_at": at(60 * number)}
            put(warehouse, "runs", last | times | {"run_id": f"r{number}", "versions": versions, "counts": []})
            until = time.monotonic() + 240
            while (number, number, number) not in seen and time.monotonic() < until:
                time.sleep(0.1)
    finally:
        over.set()
        for asker in askers:
            asker.join()
    assert not failed
    assert {(n, n, n) for n in (1, *NEWER)} == set(seen)


ENDLESS = "SELECT aggregate(sequence(1, 100000), 0L, (a, x) -> a + aggregate(sequence(1, 100000), 0L, (b, y) -> b + x))"
"""Nothing interrupts it but the end of its process."""

BOMBS = (
    "SELECT repeat('x', 2000000000) FROM range(2)",
    "SELECT count(DISTINCT id), collect_list(repeat('x', 1000)) FROM range(10000000)",
    "SELECT * FROM VALUES (1) AS a(one) LEFT JOIN (SELECT id, repeat('x', 1000000) AS b FROM range(20000)) ON one < id",
    "SELECT repeat('x', 1000) FROM range(100000) AS a CROSS JOIN range(1000) AS b ORDER BY 1",
    "SELECT concat(repeat('a', 60), '!') RLIKE '^(a|aa)+$'",
    ENDLESS,
)


def test_who_takes_memory_or_time_without_end_is_ended_alone(served: Served) -> None:
    """Each of them asks twice, so that both processes of the endpoint are taken, and then is gone."""
    from pyhive.exc import Error

    with served.client() as other:
        for bomb in BOMBS[:: amount(3, 1)]:
            with served.client() as hostile:
                cursors = [hostile.cursor(), hostile.cursor()]
                for cursor in cursors:
                    cursor.execute(bomb, async_=True)
                time.sleep(5)
                for cursor in cursors:
                    with suppress(Error):  # it may have failed before
                        cursor.cancel()
            assert answered(other, "SELECT finding_id FROM findings WHERE finding_id = 'f1'") == [("f1",)], bomb
    assert served.process.poll() is None


LONG = "SELECT sum(hash(a.id, b.id)) FROM range(10000000) AS a CROSS JOIN range(1000000) AS b"
"""Work before the first row is there."""


def test_a_statement_that_takes_longer_than_it_may_is_ended_alone(served: Served) -> None:
    """Before its first row is there, or while its rows are fetched; others are answered meanwhile and afterwards."""
    with served.client() as other:
        assert answered(other, "SELECT finding_id FROM findings")
        for statement in amount((ENDLESS,), (LONG, ENDLESS)):
            asked, said = time.monotonic(), []
            with served.client() as waiting:
                waiter = Thread(target=lambda said=said, of=waiting, asked=statement: said.append(refusal(of, asked)))
                waiter.start()
                assert answer(other, "SELECT finding_id FROM findings")
                assert waiter.is_alive()
                waiter.join(60)
            assert said == [f"ended: it took longer than {LONGEST_S} seconds (--timeout)"]
            assert LONGEST_S <= time.monotonic() - asked + 1 < LONGEST_S + 20
            assert answered(other, "SELECT finding_id FROM findings")


def test_no_client_is_given_more_rows_at_once_than_fit(served: Served) -> None:
    with served.client() as greedy:
        cursor = greedy.cursor(arraysize=1 << 30)
        cursor.execute("SELECT repeat('x', 100000) AS a FROM range(2000)")
        given, most = 0, 0
        while cursor.fetchone() is not None:
            most = max(most, len(cursor._data) + 1)
            given += 1
        assert given == 2000
        assert most < 500


TWICE = "a{} AS (SELECT l.x FROM a{} AS l JOIN a{} AS r ON l.x = r.x)"
DOUBLED = ", ".join(
    [
        "WITH a0 AS (SELECT 1 AS x)",
        *(TWICE.format(n, n - 1, n - 1) for n in range(1, 40)),
        "last AS (SELECT 1) SELECT * FROM a39",
    ]
)
"""Forty short lines, and a plan of as many nodes as no machine has bytes."""


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        ("SELECT * FROM VALUES (repeat('x', 2000000000))", "VALUES"),
        ("SELECT 1 LIMIT aggregate(sequence(1, 1000000), 0, (a, x) -> a + 1)", "LIMIT"),
        ("SELECT * FROM range(length(repeat('x', 2000000000)))", "range"),
        (f"SELECT '{'x' * 100_000}'", "characters"),
        (f"SELECT {'(' * 40_000}1{')' * 40_000}", "deep"),
        (DOUBLED, "too long"),
    ],
    ids=["values", "limit", "range", "long", "deep", "doubled"],
)
def test_what_would_be_much_work_before_a_query_begins_is_refused(served: Served, statement: str, reason: str) -> None:
    with served.client() as client:
        assert re.search(reason, refusal(client, statement))
        assert answer(client, "SELECT finding_id FROM findings WHERE finding_id = 'f1'") == [("f1",)]


def test_the_endpoint_ends_when_it_is_interrupted_and_only_this_machine_reached_it(served: Served) -> None:
    others = {info[4][0] for info in socket.getaddrinfo(socket.gethostname(), served.port, socket.AF_INET)}
    for address in others - {"127.0.0.1"}:
        with pytest.raises(OSError, match="refused"):
            socket.create_connection((address, served.port), timeout=5).close()
    served.process.send_signal(signal.SIGINT)
    assert served.process.wait(timeout=60) == 0
