"""Exports of log stores in which lines are no lines: arrays, answers of searches, tables, objects glued together."""

import json

import pytest

from election_replay.jobs.landing.exports import LOOKED_AT, may_be_rewritten, rewritten
from election_replay.jobs.landing.listing import LogFile

LINES = ["2026-03-01 10:00:01 INFO main - one", '{"level":"info","msg":"two, \\"quoted\\""}']
LINE = {"level": "info", "ts": "2026-03-01T10:00:00Z", "msg": "three"}


def rewritten_logs(text: str, name: str = "export.json") -> tuple[dict[str, list[str]], list[str]]:
    """The logs in the text of a file, by their paths, and what is assumed; none where it is a log itself."""
    file = LogFile(name, "c", "n", len(text), None, settled=True)
    if not may_be_rewritten(text[:LOOKED_AT], file):
        return {}, []
    parts, assumed = rewritten(text, file)
    return dict(parts), assumed


def written(text: str, name: str = "export.json") -> list[str] | None:
    """The lines that are made of a file; ``None`` where it is none."""
    found, _ = rewritten_logs(text, name)
    assert found.keys() <= {name}
    return found.get(name)


EXPORTS = {
    "Grafana": [{"line": line, "timestamp": "1748428740000000000", "fields": {"pod": "p0"}} for line in LINES],
    "Elasticsearch": {"took": 1, "hits": {"hits": [{"_source": {"message": line, "host": "p0"}} for line in LINES]}},
    "Loki": {"status": "success", "data": {"result": [
        {"stream": {"pod": "p0"}, "values": [["1748428740000000000", line] for line in LINES]}]}},
    "CloudWatch": {"events": [{"logStreamName": "p0", "timestamp": 1748428740000, "message": line} for line in LINES]},
    "Splunk": {"results": [{"_raw": line, "_time": "2026-03-01T10:00:00Z", "host": "p0"} for line in LINES]},
}  # fmt: skip


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize("store", EXPORTS)
def test_what_stores_answer_is_an_object_a_line(store: str, indent: int | None) -> None:
    found = written(json.dumps(EXPORTS[store], indent=indent))
    assert found is not None
    rows = [json.loads(line) for line in found]
    inner = [row.get("_source", row) for row in rows]
    assert [row["message"] for row in inner] == LINES
    assert {row["host"] for row in inner} == {"p0"}


def test_an_array_that_is_longer_than_what_is_looked_at_is_read_whole() -> None:
    found = written(json.dumps(3_000 * EXPORTS["Grafana"]))
    assert found is not None
    assert len(found) == 6_000


def test_a_table_is_one_by_its_columns() -> None:
    quoted = LINES[1].replace('"', '""')
    text = f'@timestamp,kubernetes.pod.name,message\n"May 28, 2025 @ 10:40:40.520",p0,"{quoted}"\n,p1,{LINES[0]}\n'
    found = written(text, "export.csv")
    assert found is not None
    assert [json.loads(line) for line in found] == [
        {"host": "p0", "message": LINES[1]},
        {"host": "p1", "message": LINES[0]},
    ]


def test_objects_that_are_lines_stay_what_they_are() -> None:
    found = written(json.dumps([LINE, LINE], indent=2))
    assert found is not None
    assert [json.loads(line) for line in found] == [LINE, LINE]
    assert found[0].startswith('{"level":"info","ts"')


def test_objects_in_one_line_are_parted() -> None:
    whole = json.dumps(LINE, separators=(",", ":"))
    assert written(f'ticks: 4)"}}{whole}{whole}\n', "a.log") == ['ticks: 4)"}', whole, whole]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("topics.json", '{\n\t"dataVersion":{\n\t\t"counter":1\n\t},\n\t"topicConfigTable":{}\n}\n'),
        ("settings.json", '[\n {"a": 1}\n]\n'),
        ("table.csv", "name,age\nx,1\n"),
        ("a.log", "[2026-03-01 10:00:01,000] INFO message, line\n"),
        ("etcd.log", f"{json.dumps(LINE)}\n{json.dumps(LINE)}\n"),
    ],
)
def test_nothing_else_is_touched(name: str, text: str) -> None:
    assert written(text, name) is None


ROUND = '{{"level":"info","ts":"2026-03-01T10:00:{:02}Z","msg":"raft.node: a1 elected leader b2 at term {}, {}"}}'
ROUNDS = [ROUND.format(number, number, "as it was before that " * number) for number in range(1, 30)]
TIMED = [
    f"2026-03-01 10:00:{number:02}.000000 I | raft: a1 {'does this and that ' * number}" for number in range(1, 30)
]


@pytest.mark.parametrize("lines", [ROUNDS, TIMED])
@pytest.mark.parametrize("columns", [80, 120])
def test_lines_that_a_screen_broke_are_joined(lines: list[str], columns: int) -> None:
    broken = [line[at : at + columns] for line in lines for at in range(0, len(line), columns)]
    assert written("\n".join(broken), "terminal.txt") == lines


def test_lines_that_are_as_long_as_another_by_chance_stay_apart() -> None:
    failed = (
        "2026-03-01 10:00:01,000 - WARN  [main:QuorumCnxManager@1] - Cannot open channel to 2 at election address z"
    )
    text = "".join(f"{failed}\njava.net.ConnectException: Connection refused\n" for _ in range(20))
    assert written(text, "zookeeper.txt") is None


def test_the_few_lines_of_a_short_file_that_all_begin_as_its_first_stay_apart() -> None:
    line = "2026-03-01 10:00:01 INFO main - instrumented a special java.util.Set into: sun.nio.ch.EPollSelectorImpl@{}"
    lines = [line.format(identity) for identity in ("16ec5519", "43195e5a", "333291ed", "479d31fc")]
    assert written("\n".join([*lines, "2026-03-01 10:00:02 WARN main - Unknown option"]), "a.log") is None


def test_a_page_of_html_is_what_it_shows() -> None:
    text = "<html><body><pre>\n{&quot;level&quot;:&quot;info&quot;,<b>&quot;msg&quot;</b>:&quot;a &lt; b&quot;}\n</pre></body></html>"
    assert written(text, "page.html") == ["", '{"level":"info","msg":"a < b"}']


def test_tags_end_lines_of_a_page() -> None:
    text = "<html><p>the log:</p><pre><code>a &lt;-&gt; b<br/>c<br>\nd</code></pre><div><b>e</b></div><div>f</div>\n"
    assert written(text, "page.html") == ["the log:", "a <-> b", "c", "d", "e", "f"]


@pytest.mark.parametrize("margin", ["    ", "\t", "> ", "> > "])
def test_a_quotation_has_no_margin(margin: str) -> None:
    text = f"{margin}Apr 29 16:39:38 m1 etcd[1188]: 91d2 became leader at term 12290\n{margin}  at x\n{margin}\nend\n"
    found = written(text, "issue.md")
    assert found is not None
    assert [line.partition("T")[2] for line in found[:1]] == [
        "16:39:38+00:00 m1 etcd[1188]: 91d2 became leader at term 12290"
    ]
    assert found[1:] == ["  at x", "", "end"]


def test_the_newest_line_of_a_stream_of_loki_may_come_first() -> None:
    def stream(pod: str, times: range) -> dict[str, object]:
        return {"stream": {"pod": pod}, "values": [[f"{at}000000000", f"line {at}"] for at in times]}

    answer = {"data": {"result": [stream("m1", range(9, 6, -1)), stream("m2", range(7, 10))]}}
    found = written(json.dumps(answer), "loki.json")
    assert found is not None
    assert [json.loads(line)["message"] for line in found] == 2 * ["line 7", "line 8", "line 9"]


def test_a_table_in_a_cell_of_a_table_is_text() -> None:
    cell = "see\n| a | log |\n|---|---|\n| b | c |"
    found = written(f'pod,message\np0,{LINES[0]}\np1,"{cell}"\n', "export.csv")
    assert found is not None
    assert [json.loads(line)["message"] for line in found] == [LINES[0], cell]


def test_a_table_of_an_issue_has_lines_in_a_column() -> None:
    text = f"We lost it:\n\n| pod | log |\n|-----|:----|\n| zk-0 | {LINES[0]} |\n| zk-1 | a \\| b |\n\nThanks\n"
    found = written(text, "issue.md")
    assert found is not None
    assert [json.loads(line) for line in found] == [
        {"host": "zk-0", "message": LINES[0]},
        {"host": "zk-1", "message": "a | b"},
    ]


@pytest.mark.parametrize(
    "heading", ["==> /srv/{}/logs/controller.log <==", "===== {} =====", "### {}", "{}:", "### logs of {}", "From {}:"]
)
def test_logs_below_headings_in_one_file_are_read_apart(heading: str) -> None:
    own = {node: [f"[2026-03-01 10:00:0{at},000] INFO {node}" for at in range(3)] for node in ("ctl-1", "ctl-2")}
    text = "".join("\n".join(["", heading.format(node), *lines, ""]) for node, lines in own.items())
    found, assumed = rewritten_logs(text, "all.txt")
    assert assumed == ["its headings name 2 logs: each is read apart"]
    name = "srv/{}/logs/controller.log" if heading[0] == "=" and ">" in heading else "{}/all.txt"
    assert {path: [line for line in lines if line] for path, lines in found.items()} == {
        name.format(node): lines for node, lines in own.items()
    }


def test_a_line_like_a_heading_in_one_log_is_none() -> None:
    lines = [f"[2026-03-01 10:00:0{at},000] INFO members\nnode{at}:\n" for at in range(5)]
    assert written("".join(lines), "server.log") is None


def test_what_was_pasted_into_messages_of_a_chat_is_lines() -> None:
    pasted = "of zk3:\n```" + "\n".join(f"2026-03-01 10:00:0{second} INFO main - a &lt;b&gt;" for second in range(4))
    messages = [{"type": "message", "ts": "1763717000.000100", "text": pasted}, {"type": "message", "text": "thanks"}]
    found = written(json.dumps(messages, indent=4))
    assert found is not None
    assert found[2] == "2026-03-01 10:00:01 INFO main - a <b>"


def test_commas_behind_all_lines_are_taken_off() -> None:
    lines = [f"1:X 12 Nov 2019 04:25:{second:02d}.916 # +new-epoch {second}" for second in range(30)]
    assert written("".join(f"{line},\n" for line in lines), "redis.log") == lines
    assert written("".join(f"{line}\n" for line in lines), "redis.log") is None


@pytest.mark.parametrize("heading", ["Zeit\tRechner\tMeldung", "时间\t主机\t消息"])
def test_a_table_with_headings_in_any_language_is_known_by_what_its_columns_hold(heading: str) -> None:
    rows = "".join(f'03.01.2026 10:00:0{at},5\tzk-{at % 2}\t"{LINES[0]}"\n' for at in range(6))
    found = written(f"{heading}\n{rows}", "export.tsv")
    assert found is not None
    assert [json.loads(line) for line in found][:2] == [
        {"host": "zk-0", "message": LINES[0]},
        {"host": "zk-1", "message": LINES[0]},
    ]


def test_a_log_that_begins_with_words_is_no_table() -> None:
    assert written(f"Alpha, beta\n{LINES[0]}, and more, and more\n{LINES[0]}, and more\n", "x.log") is None


@pytest.mark.parametrize(("source", "host"), [("zk-1", {"host": "zk-1"}), ("/var/log/zk.log", {})])
def test_graylog_calls_the_node_source_and_splunk_the_file(source: str, host: dict[str, str]) -> None:
    found = written(f'"timestamp","source","message"\n"x","{source}","{LINES[0]}"\n', "export.csv")
    assert found is not None
    assert json.loads(found[0]) == {**host, "message": LINES[0]}
