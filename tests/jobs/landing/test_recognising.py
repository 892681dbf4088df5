"""A file is known by its name, or by what stands in it; the log of another program is let alone."""

import pytest

from election_replay.election_core.dialects import NAMED
from election_replay.jobs.landing.recognising import dialect_of, texts_of
from election_replay.jobs.landing.understanding import Understanding
from tests.election_core.dialects.lines import entries

CORPUS = {
    "rocketmq": [record.text for record, _ in entries("rocketmq_lines.txt")],
    **{name: [record.text for record, _ in entries(f"{name}_lines.txt")] for name in ("zookeeper", "etcd")},
}

NGINX = '10.0.0.1 - - [01/Mar/2026:10:00:00 +0000] "GET /brokers HTTP/1.1" 200 612 "-" "curl/8.5.0"\n' * 50

ZOOKEEPER_CLIENT = """\
2026-03-01 10:00:00,001 INFO  [main] o.a.zookeeper.ZooKeeper - Client environment:zookeeper.version=3.8.0
2026-03-01 10:00:00,002 INFO  [main] o.a.zookeeper.ZooKeeper - Initiating client connection, connectString=zk1:2181
2026-03-01 10:00:00,100 INFO  [main-SendThread(zk1:2181)] o.a.zookeeper.ClientCnxn - Opening socket connection to zk1
2026-03-01 10:00:00,200 INFO  [main-SendThread(zk1:2181)] o.a.zookeeper.ClientCnxn - Session establishment complete
2026-03-01 10:00:01,200 INFO  [main-EventThread] o.a.z.ClientCnxn - EventThread shut down for session: 0x1000
2026-03-01 10:00:02,200 WARN  [main] c.e.shop.Leader - LOOKING for a leader among 3 nodes
2026-03-01 10:00:03,200 ERROR [main] c.e.shop.Orders - Unexpected exception causing shutdown
"""

APPLICATION = (
    """\
2026-03-01 10:00:00 INFO main - Started ShopApplication in 3.2 seconds
2026-03-01 10:00:01 INFO http-nio-8080-exec-1 - order 17 was paid
2026-03-01 10:00:02 WARN http-nio-8080-exec-1 - broker changed, leader changed, state changed
2026-03-01 10:00:03 ERROR scheduler-1 - exception
"""
    * 20
)

GO_PROGRAM = (
    """\
{"level":"info","ts":"2026-03-01T10:00:00Z","caller":"shop/main.go:7","msg":"serving on :8080"}
2026/03/01 10:00:00 http: TLS handshake error from 10.0.0.7:1234: EOF
"""
    * 20
)


@pytest.mark.parametrize("system", CORPUS)
@pytest.mark.parametrize("stream", ["0.log", "app.txt", "console", "log"])
def test_a_file_with_any_name_is_known_by_its_texts(system: str, stream: str) -> None:
    data = "\n".join([*["Starting up"] * 300, *CORPUS[system]]).encode()
    found = dialect_of(stream, data)
    assert found is not None
    assert found.name == system


@pytest.mark.parametrize("text", [NGINX, ZOOKEEPER_CLIENT, APPLICATION, GO_PROGRAM, "", "\n", "x" * 100_000])
@pytest.mark.parametrize("stream", ["0.log", "app.log", "access.log"])
def test_the_log_of_another_program_has_no_dialect(text: str, stream: str) -> None:
    assert dialect_of(stream, text.encode()) is None


def test_bytes_of_any_kind_have_no_dialect() -> None:
    assert dialect_of("0.log", bytes(range(256)) * 1000) is None


def test_half_a_line_at_the_end_of_what_is_looked_at_is_left_out() -> None:
    assert texts_of(b"one\ntw") == ["one"]
    assert texts_of(b"\xef\xbb\xbfone\r\n") == ["one"]


def test_lines_of_the_program_around_etcd_are_no_lines_that_are_not_understood() -> None:
    etcd = [record.text for record, _ in entries("etcd_lines.txt") if record.text.startswith("{")][:20]
    around = [
        'I1121 09:22:21.020756 1326491 trace.go:205] Trace[909]: "Get" url:/api/v1/namespaces (total time: 3304ms):',
        'time="2026-11-21T09:22:22Z" level=error msg="Failed to get etcd status" error="context deadline exceeded"',
    ]
    for lines, problem in ((around, False), (["21.11.2026 09:22:23 a shop is open", "09:22:23 it closes"], True)):
        understood = Understanding("k3s.log", NAMED["etcd"])
        understood.take_all([*etcd, *(lines * 40)])
        assert (understood.problem(str) is not None) == problem
