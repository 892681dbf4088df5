"""The dashboard over one group with 100,000 role intervals and 10,000 findings, in a real browser.

Prints one line of JSON: seconds until the first page, the page of the group and one finding can be read, each asked
for twice; and until the picture is drawn anew after a zoom by mouse into nine tenths, a fifth, and a fifth of that, and
after a double click that shows all times again. A zoom is timed from the moment in which the mouse lets go.

    make bench-dashboard          # 100,000 intervals, 10,000 findings
    python -m benchmarks.dashboard --intervals 25000 --findings 2500
"""

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.printed import say
from election_replay.jobs.warehouse.warehouse import Warehouse
from tests.jobs.browser import Browser
from tests.jobs.showing.test_dashboard import served
from tests.jobs.tables import GROUP, finding, log_line, publish, put, role, term

NODES = 5
GROUP_PAGE = f"/group?cluster={GROUP['cluster']}&group={GROUP['replica_group']}"


def filled(root: Path, intervals: int, findings: int) -> Warehouse:
    """A warehouse in which five members take turns, a turn a second, and something is found in every tenth."""
    tables = Warehouse(str(root))
    tables.create()
    turns = intervals // NODES
    spans = [
        role(f"n{node}", "leader" if node == turn % NODES else "follower", turn, turn + 1, term=turn)
        for turn in range(turns)
        for node in range(NODES)
    ]
    put(tables, "role_intervals", *spans)
    put(tables, "terms", *(term(turn, f"n{turn % NODES}", turn, turn + 1) for turn in range(turns)))
    every = max(turns // findings, 1)
    found = range(findings)
    put(tables, "log_lines", *(log_line(f"e{n}", "c1/nodes/n1/logs/broker.log", n, f"line {n}") for n in found))
    put(
        tables,
        "findings",
        *(
            finding(f"f{n:06}", "LEADERLESS", n * every, n * every + 1, evidence=[f"e{n}"], nodes=["n1"], terms=[n])
            for n in found
        ),
    )
    publish(tables)
    return tables


def seconds(work: Callable[[], Any]) -> float:
    """How long ``work`` takes."""
    began = time.monotonic()
    work()
    return round(time.monotonic() - began, 2)


def opened(browser: Browser, address: str, ready: str) -> Callable[[], Any]:
    """Opens a page and waits until it can be read."""

    def work() -> None:
        browser.open(address)
        browser.until(ready)

    return work


WATCH = """(() => {
    const before = document.querySelector('svg.plot');
    const letsGo = () => window.let_go = performance.now();
    const drawn = new MutationObserver(() => {
        const now = document.querySelector('svg.plot');
        if (!now || now === before || window.drawn_after) return;
        drawn.disconnect();
        requestAnimationFrame(() => setTimeout(() => {
            window.drawn_after = (performance.now() - window.let_go) / 1000;
            removeEventListener('mouseup', letsGo, true);
        }));
    });
    window.drawn_after = undefined;
    addEventListener('mouseup', letsGo, true);
    drawn.observe(document.body, { childList: true, subtree: true });
})()"""
"""Takes the time from the moment in which the mouse lets go until what came from the server is on the screen."""

BOX = """(() => {
    const plot = document.querySelector('svg.plot');
    plot.scrollIntoView({ block: 'center' });
    const box = plot.getBoundingClientRect();
    return [box.left, box.right, box.top + 8];
})()"""


def zoom(browser: Browser, part: float) -> float:
    """Zooms by mouse into ``part`` of what is shown; the seconds until that is drawn anew."""
    left, right, middle = browser.value(BOX)
    browser.value(WATCH)
    begin = left + (right - left) * (1 - part) / 2
    browser.drag((begin, middle), (begin + (right - left) * part, middle))
    return round(float(browser.until("window.drawn_after")), 2)


def unzoom(browser: Browser) -> float:
    """Shows all times again by a double click; the seconds until that is drawn anew."""
    left, _, axis = browser.value(BOX)
    browser.value(WATCH)
    browser.double_click((left + 4, axis))
    return round(float(browser.until("window.drawn_after")), 2)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--intervals", type=int, default=100_000)
    parser.add_argument("--findings", type=int, default=10_000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-dashboard-") as folder:
        tables = filled(Path(folder) / "warehouse", given.intervals, given.findings)
        browser = Browser(Path(folder) / "profile")
        with served(tables) as address:
            inbox = opened(browser, address, "document.querySelector('.inbox a')")
            fleet = opened(browser, address + "/fleet", "document.querySelector('.fleet a')")
            group = opened(browser, address + GROUP_PAGE, "document.querySelector('svg.plot .mark')")
            one = opened(browser, address + "/finding?id=f000077", "document.querySelector('figure')")
            result: dict[str, Any] = {
                "intervals": given.intervals,
                "findings": given.findings,
                "first_page_s": [seconds(inbox), seconds(inbox)],
                "fleet_s": [seconds(fleet), seconds(fleet)],
                "group_s": [seconds(group), seconds(group)],
                "zoom_s": [zoom(browser, 0.9), zoom(browser, 0.2), zoom(browser, 0.2)],
                "see_all_s": unzoom(browser),
                "finding_s": [seconds(one), seconds(one)],
            }
        browser.close()
    say("dashboard", **result)


if __name__ == "__main__":
    main()
