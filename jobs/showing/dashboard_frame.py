"""What stands around every page of the dashboard, and the parts that several pages have."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from difflib import get_close_matches
from typing import Any
from urllib.parse import urlencode
from xml.etree.ElementTree import Element

from election_replay.jobs import JobError
from election_replay.jobs.reading.inbox import ROWS
from election_replay.jobs.reading.words import (
    Row,
    cell,
    clock,
    spoken,
)
from election_replay.jobs.showing.markup import Child, document, tag

SHOWN = 50
"""Findings, and sentences of a story, that one page lists; a zoom shows those of a shorter time."""


Query = dict[str, str]


class NotThere(JobError):
    """An address that leads nowhere."""


@dataclass(frozen=True, slots=True)
class Here:
    """The address of a page: below which path the dashboard is shown, the path, and what stands after ``?``.

    ``token`` goes into forms that change something; it is empty where nothing can be changed. ``reviewer`` is who asks.
    """

    root: str
    path: str
    query: Query
    version: str = "0"
    token: str = ""
    reviewer: str = ""

    def link(self, path: str, **query: str | None) -> str:
        """The address of another page."""
        asked = urlencode({name: value for name, value in query.items() if value})
        return f"{self.root}/{path}" + (f"?{asked}" if asked else "")

    def again(self, **changes: str | None) -> str:
        """The address of this page with some of its query changed; ``None`` or nothing drops a name."""
        return self.link(self.path.lstrip("/"), **(dict[str, str | None](self.query) | changes))

    def asked(self, name: str) -> str:
        """What the address says of ``name``; nothing where it does not."""
        return self.query.get(name, "").strip()

    def group(self, row: Row, **more: str | None) -> str:
        """The address of a group."""
        return self.link("group", cluster=row["cluster"], group=row["replica_group"], **more)

    def finding(self, row: Row) -> str:
        """The address of a finding."""
        return self.link("finding", id=row["finding_id"])


@dataclass(frozen=True, slots=True)
class Page:
    """What is shown: the title of the window, the elements, and where ``u`` leads."""

    title: str
    parts: list[Child] = field(default_factory=list)
    up: str = ""


def near(text: str, known: list[str]) -> list[str]:
    """What may have been meant, as a line; none where nothing is near."""
    found = get_close_matches(text, known, n=2, cutoff=0.6)
    return [f"did you mean {' or '.join(found)}?"] if found else []


NAVIGATION = (("", "Inbox", ""), ("fleet", "Fleet", ""), ("rules", "Rules", ""), ("runs", "Runs", " and data quality"))
"""The pages that every page leads to: path, name, and what of the name a phone has no room for."""


def frame(shown: Page, here: Here) -> str:
    """A page with what stands around it on every one."""
    files = f"{here.root}/static/{here.version}"
    head = (
        tag("title", f"{shown.title} · election-replay"),
        tag("link", rel="icon", href="data:,"),
        tag("link", rel="stylesheet", href=f"{files}/style.css"),
        tag("script", src=f"{files}/script.js", defer="defer"),
    )
    links = (
        tag(
            "a",
            name,
            tag("span", more) if more else None,
            href=here.link(path),
            aria_current="page" if here.path == f"/{path}" else None,
        )
        for path, name, more in NAVIGATION
    )
    keys = (("j", "next"), ("k", "before"), ("Enter", "open"), ("u", "up"), ("/", "find"))
    key_hints = (part for key, effect in keys for part in (tag("kbd", key), f" {effect}  "))
    return document(
        head,
        (
            tag("a", "Skip to the content", href="#content", class_="skip"),
            tag("header", tag("nav", links, aria_label="Pages"), tag("a", "Up", href=shown.up, rel="up", class_="up"))
            if shown.up
            else tag("header", tag("nav", links, aria_label="Pages")),
            tag("main", shown.parts, id="content", tabindex=-1),
            tag("footer", key_hints),
        ),
    )


def refusal(error: JobError) -> Page:
    """What cannot be shown, why, and where to go instead."""
    first, *more = str(error).splitlines()
    further = [tag("p", line) for line in more]
    where = tag("p", "The pages above lead to all there is.")
    return Page(
        "Not there", [tag("h1", "This cannot be shown"), tag("div", tag("p", first), further, where, class_="error")]
    )


def labelled(name: str, control: Element) -> Element:
    """A field with its name."""
    return tag("label", tag("span", name), control)


def choice(name: str, key: str, values: Iterable[str], chosen: str, every: str = "all") -> Element:
    """A field in which one of some values can be chosen."""
    options = [tag("option", every, value="")] if every else []
    options += [tag("option", value, value=value, selected="selected" if value == chosen else None) for value in values]
    return labelled(name, tag("select", options, name=key, id=f"choose-{key}"))


def place_of(here: Here) -> int:
    """After how many rows a page begins."""
    asked = here.asked("after")
    return int(asked[:9]) if asked.isdecimal() and asked.isascii() else 0


def pages(here: Here, after: int, shown: int, count: int, rows: str) -> Element:
    """Which rows a page shows, and the way to the others."""
    there = {"before": after - ROWS if after else None, "next": after + shown if after + shown < count else None}
    ways = [
        part
        for name, to in there.items()
        if to is not None
        for part in (
            " ",
            tag("a", name, href=here.again(after=str(max(to, 0))), rel="next" if name == "next" else "prev"),
        )
    ]
    which = f"{after + 1:,} to {after + shown:,} of {count:,} {rows}" if shown else f"0 of {count:,} {rows}"
    return tag("p", which, ways, class_="pages")


def stamp(at: datetime | None) -> str:
    """A time to the second."""
    return "" if at is None else f"{at:%Y-%m-%d %H:%M:%S}"


def iso(at: datetime) -> str:
    """A time for an address; what was published in the same moment is not after it."""
    return at.isoformat()


def scrolling(name: str, content: Element) -> Element:
    """What may be wider than the page."""
    return tag("div", content, class_="scroll", tabindex=0, role="region", aria_label=name)


def table(title: str, rows: list[Row]) -> Element:
    """Rows as a table."""
    if not rows:
        return tag("p", "none", class_="muted")
    head = tag("thead", tag("tr", (tag("th", spoken(name), scope="col") for name in rows[0])))
    body = (tag("tr", (tag("td", in_cell(value)) for value in row.values())) for row in rows)
    return scrolling(title, tag("table", head, tag("tbody", body)))


def in_cell(value: Any) -> str:
    """A value of a table, as people write it."""
    if value is None:
        return ""
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%d} {clock(value)}"
    return f"{value:,}" if isinstance(value, int | Decimal) else cell(value)
