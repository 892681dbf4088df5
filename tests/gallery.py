"""The pictures of docs/gallery.md, taken anew: the clusters, what is changed in them, and Chromium.

    python -m tests.gallery CORPORA docs/gallery      # CORPORA: the archives of tests/corpora, unpacked

They are 1100 and 390 pixels wide, light and dark. Look at them, and hold what docs/gallery.md says of each against it.
"""

import base64
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple
from urllib.parse import quote

from benchmarks.dashboard import GROUP_PAGE, filled
from election_replay.jobs.cli.app import main
from election_replay.jobs.reading.published import Published
from election_replay.jobs.warehouse.warehouse import Warehouse
from tests.jobs.browser import Browser
from tests.jobs.showing.test_dashboard import served

SIZES = {"desktop": (1100, 780), "phone": (390, 780)}
QUALITY = 80
"""Of the pictures, in percent."""

STAMP = re.compile(r"(?m)^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}")
READY = "document.querySelector('svg.plot, .inbox a')"
Change = Callable[[Path], None]


class Shown(NamedTuple):
    """A cluster of the gallery: the run of the corpora, what is changed in a copy of it, and what else is shown."""

    run: str
    change: Change | None = None
    more: str = ""


def logs(nodes: Path, node: str) -> Iterator[Path]:
    """The log files of a node."""
    return (file for file in (nodes / node / "logs").rglob("*") if file.is_file())


def rewritten(file: Path, text: str) -> None:
    """Another text under the same name; the file that it was linked with stays as it is."""
    file.unlink()
    file.write_text(text, "utf-8", newline="")


def one_id_for_two(nodes: Path) -> None:
    """As if two brokers had been set up with one configuration."""
    for file in logs(nodes, "n2"):
        rewritten(file, re.sub(r"(?<![A-Za-z0-9])n2(?![A-Za-z0-9])", "n1", file.read_text("utf-8")))


def clock_set_back(nodes: Path) -> None:
    """All times of one server are 88.5 s earlier than they were."""

    def earlier(found: re.Match[str]) -> str:
        at = datetime.strptime(found[0], "%Y-%m-%d %H:%M:%S,%f") - timedelta(seconds=88.5)  # noqa: DTZ007 - as logged
        return f"{at:%Y-%m-%d %H:%M:%S},{at.microsecond // 1000:03}"

    for file in logs(nodes, "zk2"):
        rewritten(file, STAMP.sub(earlier, file.read_text("utf-8")))


def log_cut(nodes: Path) -> None:
    """The log of the server that won ends two seconds later."""
    for file in logs(nodes, "zk3"):
        lines = file.read_text("utf-8").splitlines(keepends=True)
        won = next(line[:23] for line in lines if " - LEADING\n" in line)
        end = datetime.strptime(won, "%Y-%m-%d %H:%M:%S,%f") + timedelta(seconds=2)  # noqa: DTZ007 - as logged
        kept = [line for line in lines if not STAMP.match(line) or line[:23] < f"{end:%Y-%m-%d %H:%M:%S,%f}"[:23]]
        rewritten(file, "".join(kept))


CLUSTERS = {
    "two-machines-one-id": Shown("rocketmq-dledger/isolate-leader-497", one_id_for_two),
    "clock-behind": Shown("zookeeper/isolate-leader-380", clock_set_back),
    "clock-set-back": Shown("zookeeper/chaos-372"),
    "late-log": Shown("zookeeper/kill-leader-384", log_cut),
    "five-members": Shown("rocketmq-dledger/five-kill-leader-then-two-533", more="&votes=1"),
    "master-cut-off": Shown("rocketmq-controller/master-cut-off"),
    "old-copy": Shown("rocketmq-dledger/old-copy-497"),
    "unclean-election": Shown("rocketmq-controller/unclean-election"),
    "locks-cut": Shown("rocketmq-acting-master/locks-nonstrict-cut"),
}


def landed(corpora: Path, zone: Path) -> None:
    """A landing zone of all of them."""
    for name, shown in CLUSTERS.items():
        nodes = zone / name / "nodes"
        shutil.copytree(corpora / shown.run / "nodes", nodes, copy_function=os.link)
        if shown.change:
            shown.change(nodes)


def pages(warehouse: Warehouse) -> Iterator[tuple[str, str]]:
    """What is shown: the name of each picture, and its address. Of a cluster it is the group with most to say."""
    worst = "SELECT cluster, replica_group FROM groups ORDER BY critical, warning, changes, info, replica_group"
    groups = {row["cluster"]: row["replica_group"] for row in Published(warehouse).rows(worst)}
    for name, shown in CLUSTERS.items():
        yield name, f"/group?cluster={name}&group={quote(groups[name])}{shown.more}"
    yield "inbox", "/"


def taken(warehouse: Warehouse, addresses: Iterator[tuple[str, str]], profile: Path, pictures: Path) -> None:
    """Take each page in all sizes, light and dark."""
    wanted = list(addresses)
    with served(warehouse) as base:
        for size, (width, height) in SIZES.items():
            for dark in (False, True):
                browser = Browser(profile, width, height, dark=dark)
                browser.ask("Emulation.setScrollbarsHidden", hidden=True)
                for name, address in wanted:
                    browser.open(base + address)
                    browser.until(READY)
                    picture = browser.ask("Page.captureScreenshot", format="webp", quality=QUALITY)["data"]
                    look = "dark" if dark else "light"
                    (pictures / f"{name}-{size}-{look}.webp").write_bytes(base64.b64decode(picture))
                browser.close()


if __name__ == "__main__":
    _, corpora_at, pictures_at = sys.argv
    Path(pictures_at).mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix="gallery-", ignore_cleanup_errors=True) as folder:
        root = Path(folder)
        landed(Path(corpora_at), root / "landing")
        run = ["run", "--engine", "local", "--landing", f"{root}/landing", "--warehouse", f"{root}/warehouse"]
        if failed := main(run):
            sys.exit(failed)
        real, made = Warehouse(f"{root}/warehouse"), filled(root / "made", 2000, 200)
        taken(real, pages(real), root / "profile", Path(pictures_at))
        taken(made, iter([("two-thousand-intervals", GROUP_PAGE)]), root / "profile", Path(pictures_at))
