"""The dashboard: its pages, links that keep the view, hostile text, and a real browser that asks nobody else."""

import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

from jobs.cli.app import main
from jobs.reading.published import Published
from jobs.showing import dashboard as shown
from jobs.warehouse.warehouse import Warehouse
from tests.acceptance.published import replay_in
from tests.conftest import Landing
from tests.jobs.browser import CHROMIUM, HAND, PATIENCE, QUIET, Browser
from tests.jobs.showing.test_report import Reader
from tests.jobs.tables import GROUP, at, finding, log_line, publish, put, role, term

if TYPE_CHECKING:
    from jobs.engines.spark_engine import SparkEngine

HOSTILE = "<img src=x onerror=alert(1)><b>\x1b[31m</b> & <a href='javascript:alert(2)'>x</a>"
PAGES = {
    "/": ["All groups", "Changes of leadership per day", "bs-orders"],
    "/group?cluster=c1&group=bs-orders": ["c1 / bs-orders", "n2 becomes leader", "SPLIT_BRAIN_OVERLAP", "LEADERLESS"],
    "/group?cluster=c1&group=bs-orders&from=2026-03-01T12:00:45&to=2026-03-01T12:00:50": ["see all times", "critical"],
    "/finding?id=f1": [
        "SPLIT_BRAIN_OVERLAP",
        "c1/nodes/n1/logs/broker.log:7",
        "onerror=alert(1)",
        "What would refute it",
    ],
    "/runs": ["Runs and data quality", "What could not be judged", "a log just stops"],
}
"""Addresses, and what each page must say."""


def filled(root: Path) -> Warehouse:
    """Two leaders at once, proven by a line that would like to be markup."""
    tables = Warehouse(str(root))
    tables.create()
    group = GROUP | {"replica_group": "bs-orders"}
    put(tables, "terms", term(1, "n1", 0, 70) | group, term(2, "n2", 40, None, cause="heartbeat_timeout") | group)
    leader = role("n1", "leader", 0, 70, term=1, end_cause="larger_term", source_node=HOSTILE)
    put(tables, "role_intervals", leader | group, role("n2", "leader", 40, None, term=2) | group)
    said: dict[str, Any] = {"terms": [1, 2], "overlap_min_ms": 29000, "overlap_max_ms": 31000, "summary": HOSTILE}
    overlap = finding("f1", "SPLIT_BRAIN_OVERLAP", 40, 70, severity="critical", evidence=["e1"], **said)
    put(tables, "findings", overlap | group, finding("f2", "LEADERLESS", 75, 80, duration_min_ms=4000) | group)
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


def texts(component: Any) -> Iterator[str]:
    """All text of a page, as React gets it."""
    if isinstance(component, str):
        yield component
    elif isinstance(component, list | tuple):
        for one in component:
            yield from texts(one)
    elif component is not None and not isinstance(component, int | float):
        yield from texts(getattr(component, "children", None))


@pytest.mark.parametrize("address", PAGES)
def test_each_page_says_what_it_is_about(warehouse: Warehouse, address: str) -> None:
    path, search = urlsplit(address).path, urlsplit(address).query
    text = " ".join(texts(shown.page(Published(warehouse), path, shown.query_of(search))))
    for expected in PAGES[address]:
        assert expected in text
    assert "\x1b" not in text


def test_what_is_not_there_is_said_on_the_page(warehouse: Warehouse) -> None:
    published = Published(warehouse)
    for path, query in (
        ("/group", {"cluster": "c2", "group": "g"}),
        ("/group", {}),
        ("/group", {"cluster": "c1", "group": "bs-orders", "from": "yesterday"}),
        ("/finding", {"id": "nix"}),
    ):
        page = shown.page(published, path, query)
        assert page.className == "error"


def test_a_zoom_becomes_an_address_that_keeps_the_view() -> None:
    query = {"cluster": "c 1", "group": "g"}
    zoomed = shown.zoomed(
        {"xaxis.range[0]": "2026-03-01 12:00:45.1234", "xaxis.range[1]": "2026-03-01 12:00:50"}, query
    )
    assert zoomed == "?cluster=c+1&group=g&from=2026-03-01T12%3A00%3A45.123&to=2026-03-01T12%3A00%3A50"
    assert shown.query_of(zoomed) == query | {"from": "2026-03-01T12:00:45.123", "to": "2026-03-01T12:00:50"}
    assert shown.zoomed({"xaxis.autorange": True}, shown.query_of(zoomed)) == "?cluster=c+1&group=g"
    assert shown.zoomed({"autosize": True}, query) is None


def test_a_newer_run_is_shown_whole(tmp_path: Path) -> None:
    tables = filled(tmp_path / "w")
    newest = shown.Newest(tables)

    def count(published: Published) -> Any:
        return published.rows("SELECT count(*) AS n FROM terms")[0]["n"]

    assert newest.ask(count) == 2
    put(tables, "terms", term(3, "n3", 90, None))
    assert newest.ask(count) == 2
    publish(tables)
    assert newest.ask(count) == 3


def test_what_one_page_does_not_list_is_said_on_it(tmp_path: Path) -> None:
    tables = Warehouse(str(tmp_path / "w"))
    tables.create()
    turns = range(shown.SHOWN + 70)
    put(tables, "terms", *(term(n, f"n{n % 2}", n, n + 1) for n in turns))
    put(tables, "role_intervals", *(role(f"n{n % 2}", "leader", n, n + 1, term=n) for n in turns))
    put(tables, "findings", *(finding(f"f{n:03}", "LEADERLESS", n, n + 1) for n in turns))
    publish(tables)
    published = Published(tables)
    text = " ".join(texts(shown.page(published, "/group", {"cluster": "c1", "group": "g1"})))
    assert "Findings: 120 warning" in text
    assert "The gravest 50 of 120 that follow from no other" in text
    assert "The first 50 of what is to be told" in text
    assert "120 findings share marks that say their number" in text
    part = " ".join(texts(shown.page(published, "/group", {"cluster": "c1", "group": "g1", "to": at(9).isoformat()})))
    assert "Findings: 10 warning" in part
    assert "The first" not in part
    assert "share" not in part


def test_every_group_can_be_reached(tmp_path: Path) -> None:
    tables = Warehouse(str(tmp_path / "w"))
    tables.create()
    groups = [f"g{n:03}" for n in range(2 * shown.ROWS + 20)]
    put(tables, "findings", *(finding(f"f{g}", "LEADERLESS", 0, 1) | {"replica_group": g} for g in groups))
    publish(tables)
    published = Published(tables)
    seen: list[str] = []
    for after in (0, shown.ROWS, 2 * shown.ROWS):
        page = list(texts(shown.page(published, "/", {"after": str(after)})))
        seen += [text for text in page if text in groups]
        assert ("before" in page, "next" in page) == (after > 0, after < 2 * shown.ROWS)
    assert seen == groups
    found = list(texts(shown.page(published, "/", {"find": "C1 / g01"})))
    assert [text for text in found if text in groups] == [f"g01{n}" for n in range(10)]
    assert " 1 to 10 of 10, the worst first" in found
    assert " none" in list(texts(shown.page(published, "/", {"find": "<b>"})))


def test_a_long_table_says_how_long_it_is(tmp_path: Path) -> None:
    tables = filled(tmp_path / "w")
    where = {"cluster": "c1", "source_node": "n1", "stream": "broker.log", "fingerprint": "f", "path": "broker.log"}
    bad = where | {"reason": "not a time", "text": HOSTILE, "text_length": len(HOSTILE), "batch": 1}
    put(tables, "quarantine", *(bad | {"line_no": n} for n in range(shown.ROWS + 1)))
    publish(tables)
    text = " ".join(texts(shown.page(Published(tables), "/runs", {})))
    assert "The first 50 of 51; `election-replay sql` shows all." in text


def test_a_mark_of_several_findings_lists_them(warehouse: Warehouse) -> None:
    published = Published(warehouse)
    assert "SPLIT_BRAIN_OVERLAP" in " ".join(texts(shown.marked(published, ["f1"], 1)))
    text = " ".join(texts(shown.marked(published, ["f1", "f2"], 30)))
    for said in ("30 findings share this mark", "The first 2 are:", "SPLIT_BRAIN_OVERLAP", "LEADERLESS"):
        assert said in text
    assert "The first" not in " ".join(texts(shown.marked(published, ["f1", "f2"], 2)))


def test_other_sites_cannot_read_along(warehouse: Warehouse) -> None:
    client = shown.dashboard(warehouse).server.test_client()
    assert client.get("/", headers={"Host": "127.0.0.1:8050"}).status_code == 200
    assert client.get("/", headers={"Host": "localhost:8050"}).status_code == 200
    assert client.get("/", headers={"Host": "evil.example:8050"}).status_code == 403
    assert client.get("/_dash-layout", headers={"Host": "evil.example"}).status_code == 403


def test_an_empty_warehouse_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["dashboard", "--warehouse", "nix"]) == 1
    assert "nothing is published in" in capsys.readouterr().err


# -- in a browser -----------------------------------------------------------------------------------------------


@contextmanager
def served(warehouse: Warehouse) -> Iterator[str]:
    """The address of a running dashboard, in a process of its own."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = "import sys; import jobs.cli.app; sys.exit(jobs.cli.app.main())"
    arguments = ["dashboard", "--warehouse", warehouse.root, "--port", str(port)]
    process = subprocess.Popen(
        [sys.executable, "-c", command, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    until = time.monotonic() + 120
    while time.monotonic() < until:
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
    """The dashboard of the small warehouse."""
    with served(warehouse) as address:
        yield address


IN_A_BROWSER = pytest.mark.skipif(
    CHROMIUM is None,
    reason="NO CHROMIUM WAS FOUND: the dashboard was not opened in a browser (Debian: apt-get install chromium)",
)


@IN_A_BROWSER
@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
def test_a_browser_shows_each_page_and_asks_nobody_else(address: str, page: str, tmp_path: Path) -> None:
    requests = tmp_path / "requests.json"
    done = subprocess.run(
        [
            *(CHROMIUM, *QUIET),
            *(f"--user-data-dir={tmp_path / 'profile'}", f"--log-net-log={requests}", "--virtual-time-budget=20000"),
            *("--dump-dom", address + page),
        ],
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    for expected in PAGES[page]:
        assert expected in done.stdout, done.stderr[-2000:]
    seen = Reader(done.stdout)
    assert "img" not in {name for name, _ in seen.elements}
    attributes = [(key, value or "") for _, all_of_one in seen.elements for key, value in all_of_one.items()]
    assert not [key for key, _ in attributes if key.startswith("on")]
    assert not [value for key, value in attributes if key.endswith("href") and value.startswith("javascript")]
    asked = hosts_asked_by(address, requests.read_text(encoding="utf-8"))
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


@IN_A_BROWSER
@pytest.mark.slow
def test_a_reviewer_finds_the_line_that_proves_a_split_brain_by_mouse(
    spark: "SparkEngine", landing: Landing, browser: Browser, tmp_path: Path
) -> None:
    replay_in(spark, landing(["rocketmq-controller/master-cut-off"]), tmp_path / "w")
    with served(Warehouse(str(tmp_path / "w"))) as address:
        browser.open(address)
        browser.click("[...document.querySelectorAll('td a')].find(one => one.innerText == 'bs-orders')")
        browser.until("document.querySelector('h1')?.innerText == 'master-cut-off / bs-orders'")
        browser.click("document.querySelector('#lanes .scatterlayer .points path')")
        browser.until("document.querySelector('#evidence article')")
        proof = "master-cut-off/nodes/broker-1/logs/rocketmqlogs/broker.log:2528"
        for said in ("SPLIT_BRAIN_OVERLAP", "were both master for 34 s to 38 s", proof, "Begin to change to slave"):
            assert said in browser.text()

        left, top, right, bottom = browser.value(
            "(() => { const box = document.querySelector('#lanes .nsewdrag').getBoundingClientRect(); "
            "return [box.left, box.top, box.right, box.bottom]; })()"
        )
        middle = (top + bottom) / 2
        browser.drag((left + (right - left) / 3, middle), (left + (right - left) / 2, middle))
        link = browser.until("location.search.includes('from=') && location.href")
        zoomed = "document.body?.innerText.includes('see all times')"  # no body while a page is loaded
        browser.until(zoomed)
        told = browser.value("document.querySelector('.story').innerText")

        end = time.monotonic() + PATIENCE
        while browser.value("location.search.includes('from=')"):  # a busy machine makes two clicks of a double one
            assert time.monotonic() < end
            browser.double_click((left + 9, middle))
            time.sleep(HAND)
        browser.until(f"!{zoomed}")

        browser.open(address + "/runs")
        browser.until("document.querySelector('h1')?.innerText == 'Runs and data quality'")
        browser.open(link)
        browser.until(zoomed)
        assert browser.value("location.href") == link
        assert browser.value("document.querySelector('.story').innerText") == told

        browser.click(
            "[...document.querySelectorAll('.findings a')].find(one => one.innerText == 'SPLIT_BRAIN_OVERLAP')"
        )
        browser.until("location.pathname == '/finding' && document.querySelector('article')")
        assert proof in browser.text()
    assert {urlsplit(url).hostname for url in browser.requests if not url.startswith("data:")} == {"127.0.0.1"}
    assert browser.errors == []


def asked(warehouse: Warehouse, output: str, inputs: list[Any], state: list[Any]) -> Any:
    """What the dashboard answers to a callback as a browser, or somebody else, sends it."""
    body = {"output": output, "outputs": {"id": "x", "property": "children"}, "inputs": inputs, "state": state}
    address = "http://127.0.0.1:8050/_dash-update-component"
    return shown.dashboard(warehouse).server.test_client().post(address, json=body)


@pytest.mark.parametrize(
    "clicked",
    [
        *({}, [], 1, "x", {"points": 1}, {"points": [1]}, {"points": {}}, {"points": [{"customdata": 1}]}),
        *({"points": [{"customdata": one}]} for one in ([], [1], [[], 1], [["f1"]], [[1], 1], [["f1"], "1"])),
        *({"points": [{"customdata": [[one], 1]}]} for one in ("nobody", "\x1b[31m", "\ud800", "' OR 1=1 --")),
    ],
)
def test_a_forged_click_is_no_fault(warehouse: Warehouse, capfd: pytest.CaptureFixture[str], clicked: Any) -> None:
    answer = asked(warehouse, "evidence.children", [{"id": "lanes", "property": "clickData", "value": clicked}], [])
    assert answer.status_code in {200, 204, 400}
    assert "\x1b" not in answer.text
    assert "\\u001b" not in answer.text
    assert "Traceback" not in "".join(capfd.readouterr())


@pytest.mark.parametrize("value", [1, [1], {"a": 1}, None, "\ud800", "?from=1&from=2", "?cluster=%1b[31m&group=%00"])
def test_forged_addresses_are_no_fault(warehouse: Warehouse, capfd: pytest.CaptureFixture[str], value: Any) -> None:
    address = [{"id": "address", "property": name, "value": value} for name in ("pathname", "search")]
    for path in (address[0], {"id": "address", "property": "pathname", "value": "/group"}):
        answer = asked(
            warehouse,
            "..page.children...shown.data..",
            [path, address[1]],
            [{"id": "shown", "property": "data", "value": value}],
        )
        assert answer.status_code in {200, 204, 400}
        assert "\\u001b" not in answer.text
    for body in (b"{", b"[]", b"{}", b'{"output": 1}'):
        client = shown.dashboard(warehouse).server.test_client()
        answer = client.post("http://127.0.0.1:8050/_dash-update-component", data=body, content_type="application/json")
        assert answer.status_code == 400
    assert "Traceback" not in "".join(capfd.readouterr())


def test_answers_keep_other_pages_out(warehouse: Warehouse) -> None:
    client = shown.dashboard(warehouse).server.test_client()
    for path in ("/", "/_dash-layout", "/nowhere.js"):
        headers = client.get(f"http://127.0.0.1:8050{path}").headers
        assert headers["X-Frame-Options"] == "DENY"
        assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
        assert "unsafe-eval" not in headers["Content-Security-Policy"]
        assert "script-src 'self' 'sha256-" in headers["Content-Security-Policy"]
