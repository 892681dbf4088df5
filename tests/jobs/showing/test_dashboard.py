"""The dashboard: its pages and addresses, hostile text, strangers, and a real browser that asks nobody else."""

import re
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from deltalake import DeltaTable
from flask.testing import FlaskClient

from election_replay.jobs.cli.app import main
from election_replay.jobs.engines.local_engine import LocalEngine
from election_replay.jobs.reading.inbox import ROWS
from election_replay.jobs.reading.published import Published
from election_replay.jobs.showing import dashboard as shown
from election_replay.jobs.showing.dashboard_frame import SHOWN
from election_replay.jobs.warehouse.warehouse import Warehouse
from tests.acceptance.published import replay_in
from tests.conftest import Landing
from tests.jobs.browser import CHROMIUM, QUIET, Browser
from tests.jobs.showing.axe import AXE, violations
from tests.jobs.showing.test_report import Reader
from tests.jobs.tables import GROUP, at, blank, finding, log_line, name_published, publish, put, role, term
from tests.jobs.test_more_views import landed
from tests.proving import PROVING, amount

HOSTILE = "<img src=x onerror=alert(1)><b>\x1b[31m</b> & <a href='javascript:alert(2)'>x</a>"
PAGES = {
    "/": ["Inbox", "1 critical, 2 warning", "critical \u00b7 definite", "from it follows", "Leads now", "29 s to 31 s"],
    "/?severity=critical&rule=SPLIT_BRAIN_OVERLAP": ["1 to 1 of 1 findings"],
    "/fleet": ["Fleet", "c1 / bs-orders", "No leader, at least", "none found", "n9 (machine-9)"],
    "/group?cluster=c1&group=bs-orders": ["c1 / bs-orders", "n2 becomes leader", "SPLIT_BRAIN_OVERLAP", "LEADERLESS"],
    "/group?cluster=c1&group=bs-orders&from=2026-03-01T12:00:45&to=2026-03-01T12:00:50": ["see all times", "critical"],
    "/group?cluster=c1&group=bs-orders&bar=e1&votes=1": ["Why it begins", "hide votes", "onerror=alert(1)"],
    "/group?cluster=c1&group=bs-orders&lines=1&with=c1+/+clean": ["c1 / clean", "hide log lines", "none that is kept"],
    "/finding?id=f1": [
        "SPLIT_BRAIN_OVERLAP",
        "c1/nodes/n1/logs/broker.log:7",
        "onerror=alert(1)",
        "What would refute it",
        "What to do next",
        "From it follows",
        "1,234 bytes of messages were cut off",
    ],
    "/rules": ["Rules", "SPLIT_BRAIN_OVERLAP", "1 finding", "no finding"],
    "/runs": ["Runs and data quality", "What could not be judged", "a log just stops"],
}
"""Addresses, and what each page must say."""


def filled(root: Path) -> Warehouse:
    """Two leaders at once, proven by a line that would like to be markup."""
    tables = blank(root)
    group = GROUP | {"replica_group": "bs-orders"}
    put(tables, "terms", term(1, "n1", 0, 70) | group, term(2, "n2", 40, None, cause="heartbeat_timeout") | group)
    leader = role("n1", "leader", 0, 70, term=1, end_cause="larger_term", source_node=HOSTILE, start_event_id="e1")
    put(tables, "role_intervals", leader | group, role("n2", "leader", 40, None, term=2) | group)
    said: dict[str, Any] = {
        "terms": [1, 2],
        "overlap_min_ms": 29000,
        "overlap_max_ms": 31000,
        "summary": HOSTILE,
        "bytes_lost": 1234,
    }
    overlap = finding("f1", "SPLIT_BRAIN_OVERLAP", 40, 70, severity="critical", evidence=["e1"], **said)
    echo = finding("f3", "POSSIBLE_DATA_LOSS", 71, 72, implied_by="f1", bytes_lost=1234) | group
    put(tables, "findings", overlap | group, finding("f2", "LEADERLESS", 75, 80, duration_min_ms=4000) | group, echo)
    put(
        tables,
        "role_intervals",
        role("n9", "leader", 0, None, term=1, source_node="machine-9") | {"replica_group": "clean"},
    )
    vote = {"term": 2, "candidate": "n2", "outcome": "passed", "rounds": 1, "voters": ["n1", "n2"]}
    put(tables, "elections", group | vote | {"start_time": at(39), "end_time": at(40), "start_event_id": "e2"})
    put(tables, "log_lines", log_line("e1", "c1/nodes/n1/logs/broker.log", 7, HOSTILE))
    coverage = {
        "rule": "LEADERLESS",
        "conforms": 0,
        "violates": 1,
        "undecidable": 1,
        "why_undecidable": "a log just stops",
    }
    put(tables, "rule_coverage", group | coverage)
    publish(tables)
    return tables


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    """The same for all tests."""
    return filled(tmp_path_factory.mktemp("dashboard") / "w")


@pytest.fixture(scope="module")
def client(warehouse: Warehouse) -> FlaskClient:
    """Asks the dashboard without a server."""
    return shown.dashboard(warehouse).test_client()


def asked(client: FlaskClient, address: str, code: int = 200) -> Reader:
    """A page, as a browser would read it."""
    answer = client.get(f"http://127.0.0.1:8050{address}")
    assert answer.status_code == code, answer.text
    assert "\x1b" not in answer.text
    return Reader(answer.text)


def words(page: Reader) -> str:
    """What can be read on a page."""
    return " ".join(page.text.split())


@pytest.mark.parametrize("address", PAGES)
def test_each_page_says_what_it_is_about(client: FlaskClient, address: str) -> None:
    page = asked(client, address)
    for expected in PAGES[address]:
        assert expected in words(page)
    names = [name for name, _ in page.elements]
    assert names.count("h1") == 1
    assert names.count("main") == 1
    assert names.count("title") >= 1
    assert "img" not in names
    attributes = [(key, value or "") for _, given in page.elements for key, value in given.items()]
    assert not [key for key, _ in attributes if key.startswith("on") or key == "style"]
    assert not [value for key, value in attributes if key.endswith("href") and value.startswith("javascript")]


def test_beside_the_picture_stand_lines_another_group_and_markdown(cut_off: str) -> None:
    client = shown.dashboard(Warehouse(cut_off)).test_client()
    window = "from=2026-11-21T09:41:14&to=2026-11-21T09:41:15"
    address = f"/group?cluster=master-cut-off&group=bs-orders&{window}"
    plain = words(asked(client, address))
    assert "Log lines of all members" not in plain
    assert "## master-cut-off / bs-orders" in plain
    assert "- **critical (definite) SPLIT\\_BRAIN" not in plain, "a rule's name stands as it is"
    assert "- **critical (definite) SPLIT_BRAIN_OVERLAP** 2026-11-21 09:41:14" in plain
    more = words(asked(client, f"{address}&lines=1&with=master-cut-off+/+controller"))
    assert "09:41:14 broker-3 2026-11-21 17:41:14 INFO AdminBrokerThread_13" in more
    assert "n1 (ctl-2)" in more
    assert "n1 (ctl-2)" not in plain


def sql_of(page: Reader) -> list[str]:
    """The questions in SQL that a page of a group has to copy."""
    return [text for text in page.texts if text.startswith("SELECT ")]


def test_the_sql_of_a_time_answers_what_the_picture_shows(cut_off: str) -> None:
    window = "from=2026-11-21T09:41:14.500&to=2026-11-21T09:41:15"
    page = asked(
        shown.dashboard(Warehouse(cut_off)).test_client(), f"/group?cluster=master-cut-off&group=bs-orders&{window}"
    )
    published = Published(Warehouse(cut_off))
    findings, roles, lines = (published.rows(sql) for sql in sql_of(page))
    assert f"Findings: {len([row for row in findings if row['severity'] == 'critical'])} critical" in words(page)
    assert {row["rule"] for row in findings} >= {"SPLIT_BRAIN_OVERLAP"}
    assert {(row["node"], row["role"]) for row in roles} == {("1", "leader"), ("2", "follower"), ("3", "leader")}
    assert {row["source_node"] for row in lines} <= {"broker-1", "broker-2", "broker-3"}
    assert {f"{row['happened_at']:%H:%M:%S}" for row in lines} == {"09:41:15"}


def test_the_sql_of_a_group_whose_name_has_a_quote(tmp_path: Path) -> None:
    tables = blank(tmp_path / "w")
    put(tables, "role_intervals", role("n1", "leader", 0, 9, term=1) | {"cluster": "o'clock", "replica_group": "';--"})
    publish(tables)
    page = asked(shown.dashboard(tables).test_client(), "/group?cluster=o'clock&group=%27;--")
    assert [len(Published(tables).rows(sql)) for sql in sql_of(page)] == [0, 1, 0]
    raw = asked(shown.dashboard(tables).test_client(), "/group?cluster=o'clock&group=%27;--&clock=raw")
    assert sql_of(raw) == [], "the tables have no time of a clock that is not put right"


@pytest.mark.parametrize(
    ("address", "code", "said"),
    [
        ("/nix", 404, "there is no page /nix"),
        ("/grup", 404, "did you mean /group"),
        ("/group?cluster=c1&group=bs-order", 404, "did you mean c1 / bs-orders"),
        ("/group", 404, "there is no group"),
        ("/group?cluster=c1&group=bs-orders&with=c1+/+nix", 400, "no group nix in c1"),
        ("/finding?id=nix", 404, "no finding has an id that begins with nix"),
        ("/finding", 404, "no finding has an id"),
        ("/group?cluster=c1&group=bs-orders&from=yesterday", 400, "yesterday is no time: write it like"),
        ("/group?cluster=c1&group=bs-orders&from=2026-03-02&to=2026-03-01", 400, "is after --to"),
        ("/group?cluster=c1&group=bs-orders&clock=sun", 400, "there is no clock sun"),
        ("/?severity=deadly", 400, "there is no severity deadly; there is critical, warning, info"),
        ("/?rule=%1b[31m", 400, "there is no rule"),
        ("/?new=soon", 400, "soon is no time"),
        ("/fleet?sort=luck", 400, "there is no order luck"),
    ],
)
def test_what_is_not_there_is_said_with_its_code_and_what_may_have_been_meant(
    client: FlaskClient, address: str, code: int, said: str
) -> None:
    page = asked(client, address, code)
    assert said in words(page)
    assert ("a", {"href": "/"}) in [(name, {"href": given.get("href")}) for name, given in page.elements]


def listed(page: Reader) -> list[str]:
    """The ids of the findings that a page lists, in its order."""
    links = [given.get("href") or "" for name, given in page.elements if name == "a" and given.get("class") == "what"]
    return [link.partition("id=")[2] for link in links]


@pytest.mark.parametrize(
    ("query", "ids"),
    [
        ("", ["f1", "f3", "f2"]),
        ("?sort=newest", ["f2", "f1", "f3"]),
        ("?severity=critical", ["f1"]),
        ("?certainty=definite&severity=warning", ["f2", "f3"]),
        ("?rule=POSSIBLE_DATA_LOSS", ["f3"]),
        ("?system=ZooKeeper", []),
        ("?system=RocketMQ", ["f1", "f3", "f2"]),
        ("?cluster=c1&group=bs-orders&find=leaderless", ["f2"]),
        ("?cluster=c2", []),
        ("?since=2026-03-01T12:01:13", ["f2"]),
        ("?until=2026-03-01T12:00:50", ["f1"]),
        ("?find=ONERROR", ["f1"]),
        ("?find=%27%20OR%201=1%20--", []),
    ],
)
def test_what_the_inbox_lists_stands_in_its_address(client: FlaskClient, query: str, ids: list[str]) -> None:
    page = asked(client, f"/{query}")
    assert listed(page) == ids
    assert f"of {len(ids)} findings" in words(page)


def test_what_is_sure_stands_before_what_is_only_possible(tmp_path: Path) -> None:
    tables = blank(tmp_path / "w")
    for number, (severity, certainty) in enumerate(
        (("critical", "proven"), ("critical", "definite"), ("critical", "possible"), ("warning", "proven"))
    ):
        sure = {"severity": severity, "certainty": certainty}
        put(tables, "findings", finding(str(number), "LEADERLESS", number, number + 1, **sure))
    publish(tables)
    client = shown.dashboard(tables).test_client()
    assert listed(asked(client, "/")) == ["1", "0", "2", "3"]
    assert listed(asked(client, "/?sort=newest")) == ["3", "2", "1", "0"]


def test_a_finding_tells_each_measure_once(client: FlaskClient) -> None:
    text = words(asked(client, "/finding?id=f1"))
    assert re.search(r"How long\s*29 s to 31 s", text)
    assert "Smallest overlap" not in text
    assert "Bytes that were cut off" not in text


def test_what_is_new_since_a_moment(tmp_path: Path) -> None:
    tables = blank(tmp_path / "w")
    put(tables, "findings", finding("old", "LEADERLESS", 0, 1, first_seen_run="r0", first_seen_at=at(0)))
    put(tables, "findings", finding("new", "LEADERLESS", 0, 1, first_seen_run="r9", first_seen_at=at(100)))
    publish(tables)
    client = shown.dashboard(tables).test_client()
    assert listed(asked(client, "/?new=2026-03-01T12:01:00")) == ["new"]
    assert sorted(listed(asked(client, "/?new=2026-03-01T11:00:00"))) == ["new", "old"]


def test_an_echo_stands_below_its_root_and_alone_it_names_it(client: FlaskClient) -> None:
    assert "from it follows: POSSIBLE_DATA_LOSS." in words(asked(client, "/"))
    assert "follows from SPLIT_BRAIN_OVERLAP: POSSIBLE_DATA_LOSS." in words(asked(client, "/?severity=warning"))


@pytest.mark.parametrize(
    ("kept", "events", "told"),
    [
        ([7], 1, ""),
        ([6, 7], 2, ""),
        ([7], 9, "some are not kept any more"),
        ([], 9, "none is kept any more"),
    ],
)
def test_lines_around_a_proof_that_are_forgotten_are_told_of(
    kept: list[int], events: int, told: str, tmp_path: Path
) -> None:
    tables = filled(tmp_path / "w")
    path = "c1/nodes/n1/logs/broker.log"
    DeltaTable(tables.location("log_lines")).delete()
    put(tables, "log_lines", *(log_line(f"e{number}", path, number, f"line {number}") for number in kept))
    put(tables, "landed_files", landed("n1", 0, 10, path=path, lines_event=events))
    later = {"run_id": "r2", "published_at": at(60), "versions": list(tables.versions().items())}
    put(tables, "runs", next(iter(tables.runs())) | {"counts": []} | later)
    page = words(asked(shown.dashboard(tables).test_client(), "/finding?id=f1"))
    assert f"{path}:7" in page
    assert ("Lines of interest around them" in page) == bool(kept)
    assert told in page
    assert told or "not kept any more" not in page
    assert told or "is kept any more" not in page


ALIKE = 1
"""So many links with the same page and parameters are followed."""


def test_all_links_lead_somewhere(client: FlaskClient) -> None:
    """``make test`` follows some links with the same page and parameters, ``make prove`` all."""
    seen, todo, alike = set(), ["/"], Counter[tuple[str, ...]]()
    while todo:
        address = todo.pop()
        page = asked(client, address)
        for name, given in page.elements:
            link = (given.get("href") or "").partition("#")[0]
            if name == "a" and link.startswith("/") and link not in seen:
                seen.add(link)
                parts = urlsplit(link)
                kind = (parts.path, *sorted(parse_qs(parts.query)))
                alike[kind] += 1
                if PROVING or alike[kind] <= ALIKE:
                    todo.append(link)
    assert {urlsplit(one).path for one in seen} == {"/", "/fleet", "/group", "/finding", "/rules", "/runs"}


def test_a_newer_run_is_shown_whole(tmp_path: Path) -> None:
    tables = filled(tmp_path / "w")
    newest = shown.Newest(tables)

    def count(published: Published) -> Any:
        return published.rows("SELECT count(*) AS n FROM terms")[0]["n"]

    assert newest.ask(count) == 2
    three = (term(number, f"n{number}", 40 * number, None) | {"run_id": "r2"} for number in (1, 2, 3))
    put(tables, "terms", *three)
    assert newest.ask(count) == 2
    name_published(tables, "r2")
    later = {"run_id": "r2", "published_at": at(60), "versions": list(tables.versions().items())}
    put(tables, "runs", next(iter(tables.runs())) | {"counts": []} | later)
    assert [newest.ask(count) for _ in range(2 * shown.READERS)] == [3] * 2 * shown.READERS


def test_several_readers_are_answered_at_once(warehouse: Warehouse) -> None:
    def ask(address: str) -> int:
        return app.test_client().get(f"http://127.0.0.1{address}").status_code

    app = shown.dashboard(warehouse)
    with ThreadPoolExecutor(8) as readers:
        assert set(readers.map(ask, ["/", "/fleet", "/finding?id=f1", "/runs"])) == {200}
    newest = shown.Newest(warehouse)

    def both(published: Published) -> bool:
        return newest.ask(lambda other: other is not published)

    assert newest.ask(both)
    with pytest.raises(ZeroDivisionError):
        newest.ask(lambda _: 1 // 0)
    with ThreadPoolExecutor(8) as readers:
        assert all(readers.map(lambda _: newest.ask(lambda one: one.run["run_id"] == "r1"), range(20)))


def test_what_one_page_does_not_list_is_said_on_it(tmp_path: Path) -> None:
    tables = blank(tmp_path / "w")
    turns = range(SHOWN + 70)
    put(tables, "terms", *(term(n, f"n{n % 2}", n, n + 1) for n in turns))
    put(tables, "role_intervals", *(role(f"n{n % 2}", "leader", n, n + 1, term=n) for n in turns))
    put(tables, "findings", *(finding(f"f{n:03}", "LEADERLESS", n, n + 1) for n in turns))
    publish(tables)
    client = shown.dashboard(tables).test_client()
    text = words(asked(client, "/group?cluster=c1&group=g1"))
    assert "Findings: 120 warning" in text
    assert "The first 50 of 120, the gravest first" in text
    assert "The first 50 of what is to be told" in text
    assert "120 findings share marks that say their number" in text
    part = words(asked(client, f"/group?cluster=c1&group=g1&to={at(9):%Y-%m-%dT%H:%M:%S}"))
    assert "Findings: 10 warning" in part
    assert "The first 50" not in part
    assert "share" not in part
    seen = [one for after in (0, ROWS, 2 * ROWS) for one in listed(asked(client, f"/?after={after}"))]
    assert sorted(seen) == [f"f{n:03}" for n in turns]


def named(page: Reader) -> list[str]:
    """The groups that the fleet lists."""
    return [text.removeprefix("c1 / ") for text in page.texts if text.startswith("c1 / ")]


def test_every_group_can_be_reached(tmp_path: Path) -> None:
    tables = blank(tmp_path / "w")
    groups = [f"g{n:03}" for n in range(2 * ROWS + 20)]
    put(tables, "findings", *(finding(f"f{g}", "LEADERLESS", 0, 1) | {"replica_group": g} for g in groups))
    publish(tables)
    client = shown.dashboard(tables).test_client()
    seen: list[str] = []
    for after in (0, ROWS, 2 * ROWS):
        page = asked(client, f"/fleet?after={after}")
        seen += named(page)
        ways = [given["rel"] for name, given in page.elements if name == "a" and given.get("rel") in {"prev", "next"}]
        assert ways == ["prev"] * (after > 0) + ["next"] * (after < 2 * ROWS)
    assert seen == groups
    assert named(asked(client, "/fleet?find=C1+/+g01")) == [f"g01{n}" for n in range(10)]
    assert "0 of 0 groups" in words(asked(client, "/fleet?find=%3Cb%3E"))


def test_a_long_table_says_how_long_it_is(tmp_path: Path) -> None:
    tables = filled(tmp_path / "w")
    where = {"cluster": "c1", "source_node": "n1", "stream": "broker.log", "fingerprint": "f", "path": "broker.log"}
    bad = where | {"reason": "not a time", "text": HOSTILE, "text_length": len(HOSTILE), "batch": 1}
    put(tables, "quarantine", *(bad | {"line_no": n} for n in range(ROWS + 1)))
    publish(tables)
    text = words(asked(shown.dashboard(tables).test_client(), "/runs"))
    assert "The first 50 of 51; `election-replay sql` shows all." in text


def test_other_sites_cannot_read_along(warehouse: Warehouse, client: FlaskClient) -> None:
    for host in ("127.0.0.1:8050", "localhost:8050", "[::1]:8050", "LOCALHOST"):
        assert client.get("/", headers={"Host": host}).status_code == 200, host
    for host in ("evil.example:8050", "evil.example", "127.0.0.1.evil.example", "[::2]:80", "ops.example.com"):
        assert client.get("/", headers={"Host": host}).status_code == 403, host
    team = shown.dashboard(warehouse, hosts=["ops.example.com"]).test_client()
    assert team.get("/", headers={"Host": "ops.example.com"}).status_code == 200
    assert team.get("/", headers={"Host": "evil.example"}).status_code == 403


@pytest.mark.parametrize("base", ["elections", "/elections", "/elections/"])
@pytest.mark.parametrize("sent", ["/elections/fleet", "/fleet"])
def test_behind_a_proxy_all_addresses_lie_below_its_path(warehouse: Warehouse, base: str, sent: str) -> None:
    page = asked(shown.dashboard(warehouse, base).test_client(), sent)
    links = [given.get(key) or "" for _, given in page.elements for key in ("href", "src", "action")]
    assert all(link.startswith("/elections/") for link in links if link.startswith("/"))
    assert "/elections/group?cluster=c1&group=bs-orders" in links
    assert [name for name, given in page.elements if given.get("aria-current")] == ["a"]


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH"])
def test_nothing_can_be_changed(client: FlaskClient, method: str) -> None:
    answer = client.open("http://127.0.0.1/finding?id=f1", method=method, data=b"x")
    assert answer.status_code == 405


@pytest.mark.parametrize("window", ["from=0001-01-01&to=9999-12-31", "to=9999-12-31", "from=9999-12-31T23:59-12:00"])
def test_any_window_of_time_is_answered(client: FlaskClient, window: str) -> None:
    for page in ("/group?cluster=c1&group=bs-orders&", "/?since=9999-12-31&", "/fleet?"):
        answer = client.get(f"http://127.0.0.1{page}{window}")
        assert answer.status_code in {200, 400}, page
        assert "fault" not in answer.text


FORGED = ("%00", "%1b[31m", "%ff", "%ed%a0%80", "' OR 1=1 --", "9" * 400, "../../etc/passwd")
FORGED_PAGES = ("/", "/fleet", "/group", "/group?cluster=c1&group=bs-orders", "/finding")
FORGED_NAMES = (
    "cluster",
    "group",
    "from",
    "id",
    "bar",
    "after",
    "find",
    "rule",
    "new",
    "sort",
    "clock",
    "with",
    "lines",
)


@pytest.mark.parametrize("number", range(len(FORGED)), ids=FORGED)
def test_forged_addresses_are_no_fault(client: FlaskClient, capfd: pytest.CaptureFixture[str], number: int) -> None:
    """Each name is forged by each value, and on each page by at least one of them."""
    value = FORGED[number]
    for page in (f"/{value}", f"/static/{value}/style.css", f"/static/{shown.VERSION}/{value}"):
        assert client.get(f"http://127.0.0.1{page}").status_code == 404
    for place, name in enumerate(FORGED_NAMES):
        page = FORGED_PAGES[(place + number) % len(FORGED_PAGES)]
        answer = client.get(f"http://127.0.0.1{page}{'&' if '?' in page else '?'}{name}={value}")
        assert answer.status_code in {200, 400, 404}, (page, name)
        assert "\x1b" not in answer.text
    assert "Traceback" not in "".join(capfd.readouterr())


def test_answers_keep_other_pages_out(client: FlaskClient) -> None:
    for path in ("/", f"/static/{shown.VERSION}/script.js", "/nowhere.js"):
        headers = client.get(f"http://127.0.0.1:8050{path}").headers
        assert headers["X-Frame-Options"] == "DENY"
        assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
        assert "unsafe" not in headers["Content-Security-Policy"]
        assert "default-src 'none'" in headers["Content-Security-Policy"]
    assert client.get("http://127.0.0.1/").headers["Cache-Control"] == "no-store"


def test_an_empty_warehouse_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["dashboard", "--warehouse", "nix"]) == 1
    assert "nothing is published in" in capsys.readouterr().err


def test_a_port_that_is_taken_is_one_line(warehouse: Warehouse, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert main(["dashboard", "--warehouse", warehouse.root, "--port", str(port)]) == 1
    assert f"error: cannot listen on 127.0.0.1:{port}: " in capsys.readouterr().err


# -- in a browser -----------------------------------------------------------------------------------------------


@contextmanager
def served(warehouse: Warehouse, *more: str) -> Iterator[str]:
    """The address of a running dashboard, in a process of its own."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = "import sys; import election_replay.jobs.cli.app; sys.exit(election_replay.jobs.cli.app.main())"
    arguments = ["dashboard", "--warehouse", warehouse.root, "--port", str(port), *more]
    process = subprocess.Popen(
        [sys.executable, "-c", command, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    while process.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                break
        time.sleep(0.2)
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait()


@pytest.fixture(scope="module")
def address(warehouse: Warehouse) -> Iterator[str]:
    """The dashboard of the small warehouse, below a path."""
    with served(warehouse, "--base-path", "/elections") as address:
        yield f"{address}/elections"


IN_A_BROWSER = pytest.mark.skipif(
    CHROMIUM is None,
    reason="NO CHROMIUM WAS FOUND: the dashboard was not opened in a browser (Debian: apt-get install chromium)",
)


@IN_A_BROWSER
@pytest.mark.slow
@pytest.mark.parametrize("page", ["/", "/group?cluster=c1&group=bs-orders"])
def test_a_browser_shows_each_page_and_asks_nobody_else(address: str, page: str, tmp_path: Path) -> None:
    requests = tmp_path / "requests.json"
    done = subprocess.run(
        [
            *(str(CHROMIUM), *QUIET),
            *(f"--user-data-dir={tmp_path / 'profile'}", f"--log-net-log={requests}", "--virtual-time-budget=20000"),
            *("--dump-dom", address + page),
        ],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    for expected in PAGES[page]:
        assert expected in words(Reader(done.stdout)), done.stderr[-2000:]
    asked = hosts_asked_by(address.removesuffix("/elections"), requests.read_text(encoding="utf-8"))
    assert asked == {"127.0.0.1"}, "the page asked other machines; what the browser asks on its own is not counted"


def hosts_asked_by(origin: str, log: str) -> set[str | None]:
    """The hosts that pages of ``origin`` asked, by a network log of Chromium, an event a line."""
    own = [line for line in log.splitlines() if f'"initiator":"{origin}"' in line]
    return {urlsplit(url).hostname for line in own for url in re.findall(r'"url":"([^"]*)"', line)}


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[Browser]:
    """A window."""
    window = Browser(tmp_path / "profile")
    yield window
    window.close()


SAYS_OTHERWISE = """[...document.querySelectorAll('a[aria-label]')].flatMap(link =>
    [...link.querySelectorAll('text')].map(text => text.textContent).filter(text => !link.ariaLabel.includes(text)))"""
"""What is drawn in links whose names do not hold it: who speaks to a machine says what he sees."""


@IN_A_BROWSER
@pytest.mark.skipif(AXE is None, reason="NO AXE WAS FOUND: `npm install --prefix build/axe axe-core` brings it")
@pytest.mark.slow
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_axe_finds_no_violation_on_any_page(address: str, tmp_path: Path, *, dark: bool) -> None:
    for width in amount((390,) if dark else (1280,), (1280, 390)):
        window = Browser(tmp_path / f"profile-{width}", width=width, dark=dark)
        try:
            for page in [*PAGES, "/nix"]:
                window.open(address + page)
                window.until("document.readyState == 'complete' && document.querySelector('main h1')")
                window.value("document.querySelectorAll('details').forEach(one => one.open = true)")
                assert violations(window) == [], (page, width)
                assert window.value(SAYS_OTHERWISE) == [], (page, width)
                fits = "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
                assert window.value(fits), f"{page} is wider than a window of {width} pixels"
            assert window.errors == []
        finally:
            window.close()


def press(browser: Browser, key: str) -> None:
    """Press a key, as a hand does."""
    codes = {"Enter": 13, "Escape": 27, "Tab": 9}
    text = "\r" if key == "Enter" else key if len(key) == 1 else ""
    shared = {"key": key, "windowsVirtualKeyCode": codes.get(key, 0)}
    browser.ask("Input.dispatchKeyEvent", type="keyDown", text=text, **shared)
    browser.ask("Input.dispatchKeyEvent", type="keyUp", **shared)


@IN_A_BROWSER
@pytest.mark.slow
def test_keys_alone_lead_from_the_inbox_to_the_evidence_and_back(address: str, browser: Browser) -> None:
    browser.open(f"{address}/")
    browser.until("document.readyState == 'complete' && document.querySelector('main h1')")
    press(browser, "/")
    browser.until("document.activeElement.id == 'find'")
    browser.ask("Input.insertText", text="onerror")
    press(browser, "Enter")
    browser.until("location.search == '?find=onerror' && document.readyState == 'complete'")
    press(browser, "j")
    browser.until("document.activeElement.className == 'what'")
    press(browser, "Enter")
    browser.until("location.pathname == '/elections/finding' && document.readyState == 'complete'")
    assert "c1/nodes/n1/logs/broker.log:7" in browser.text()
    press(browser, "j")
    browser.until("document.activeElement.href.includes('f3')")
    press(browser, "u")
    browser.until("location.pathname == '/elections/group' && document.readyState == 'complete'")
    press(browser, "u")
    browser.until("location.pathname == '/elections/fleet' && document.readyState == 'complete'")
    press(browser, "u")
    browser.until("location.pathname == '/elections/' && document.readyState == 'complete'")
    press(browser, "j")
    press(browser, "j")
    browser.until("document.activeElement.href.includes('f3')")
    press(browser, "k")
    browser.until("document.activeElement.href.includes('f1')")
    assert browser.errors == []


@IN_A_BROWSER
@pytest.mark.slow
def test_a_reviewer_finds_the_line_that_proves_a_split_brain_by_mouse(
    local: LocalEngine, landing: Landing, browser: Browser, tmp_path: Path
) -> None:
    replay_in(local, landing(["rocketmq-controller/master-cut-off"]), tmp_path / "w")
    with served(Warehouse(str(tmp_path / "w"))) as address:
        browser.open(address)
        browser.click("[...document.querySelectorAll('dd a')].find(one => one.innerText.endsWith('bs-orders'))")
        browser.until("document.querySelector('h1')?.innerText == 'master-cut-off / bs-orders'")
        browser.click("[...document.querySelectorAll('svg.role.leader')].at(-1)")
        browser.until("document.querySelector('#bar pre')")
        assert "Begin to change to master" in browser.value("document.querySelector('#bar pre').innerText")
        told = browser.value("document.querySelector('.story').innerText")

        left, top, right, bottom = browser.value(
            "(() => { const plot = document.querySelector('svg.plot'); plot.scrollIntoView(); "
            "const box = plot.getBoundingClientRect(); return [box.left, box.top, box.right, box.bottom]; })()"
        )
        lane = top + 0.9 * (bottom - top)
        browser.drag((left + (right - left) / 3, lane), (left + (right - left) / 2, lane))
        link = browser.until("location.search.includes('from=') && location.href")
        zoomed = "document.body?.innerText.includes('see all times')"
        browser.until(zoomed)
        part = browser.value("document.querySelector('.story').innerText")
        assert part != told
        browser.double_click((left + 9, top + 8))
        browser.until(f"!location.search.includes('from=') && !{zoomed}")

        browser.click("document.querySelector('a[href=\"#sql\"]')")
        browser.until("document.querySelector('#sql').open")
        browser.click("document.querySelector('#sql button.copy')")
        browser.until("document.querySelector('#sql button.copy').innerText == 'Copied'")

        browser.open(address + "/runs")
        browser.until("document.querySelector('h1')?.innerText == 'Runs and data quality'")
        browser.open(link)
        browser.until(zoomed)
        assert browser.value("location.href") == link
        assert browser.value("document.querySelector('.story').innerText") == part

        browser.open(f"{address}/group?cluster=master-cut-off&group=bs-orders")
        browser.click("document.querySelector('a .mark.critical .target')")
        browser.until("location.pathname == '/finding' && document.querySelector('figure')")
        proof = "master-cut-off/nodes/broker-1/logs/rocketmqlogs/broker.log:2528"
        for said in ("SPLIT_BRAIN_OVERLAP", "were both master for 34 s to 38 s", proof, "Begin to change to slave"):
            assert said in browser.text()
    assert {urlsplit(url).hostname for url in browser.requests if not url.startswith("data:")} == {"127.0.0.1"}
    assert browser.errors == []
