"""Addresses of the dashboard, and the parts that all its pages share."""

from dataclasses import dataclass
from datetime import datetime
from difflib import get_close_matches
from typing import Any
from urllib.parse import urlencode

from election_replay.jobs import JobError
from election_replay.jobs.reading.words import Row
from election_replay.jobs.showing.rendering import render

SHOWN = 50
"""The maximum number of findings, and of sentences of a story, on one page; a zoom shows those of a shorter time."""


Query = dict[str, str]


class NotThere(JobError):
    """An address without a page."""


@dataclass(frozen=True, slots=True)
class Here:
    """The address of the current page: the dashboard's root, the path below it, and the query.

    ``token`` goes into forms that change something; it is empty if nothing can be changed. ``reviewer`` is the user.
    """

    root: str
    path: str
    query: Query
    version: str = "0"
    token: str = ""
    reviewer: str = ""

    def link(self, path: str, **query: str | None) -> str:
        """Return the address of another page; empty values are left out of the query."""
        asked = urlencode({name: value for name, value in query.items() if value})
        return f"{self.root}/{path}" + (f"?{asked}" if asked else "")

    def again(self, **changes: str | None) -> str:
        """Return the address of this page with some of its query changed; an empty value or ``None`` drops a name."""
        return self.link(self.path.lstrip("/"), **(dict[str, str | None](self.query) | changes))

    def asked(self, name: str) -> str:
        """Return the value of ``name`` in the query; empty if it is missing."""
        return self.query.get(name, "").strip()

    def group(self, row: Row, **more: str | None) -> str:
        """Return the address of a row's group."""
        return self.link("group", cluster=row["cluster"], group=row["replica_group"], **more)

    def finding(self, row: Row) -> str:
        """Return the address of a finding."""
        return self.link("finding", id=row["finding_id"])


@dataclass(frozen=True, slots=True)
class Page:
    """A page: template, window title, values of the template, and ``up``, the address for the key ``u``."""

    template: str
    title: str
    values: dict[str, Any]
    up: str = ""


def near(text: str, known: list[str]) -> list[str]:
    """Return a line that suggests similar known names, as a list; empty if there are none."""
    found = get_close_matches(text, known, n=2, cutoff=0.6)
    return [f"did you mean {' or '.join(found)}?"] if found else []


def frame(shown: Page, here: Here) -> str:
    """Return the HTML of a page."""
    return render(shown.template, title=shown.title, up=shown.up, here=here, **shown.values)


def refusal(error: JobError) -> Page:
    """Return the page for an address that cannot be shown, with the reason."""
    return Page("refusal.html.j2", "Not there", {"lines": str(error).splitlines()})


def place_of(here: Here) -> int:
    """Return the number of rows to skip before the page; 0 unless the address has a valid one."""
    asked = here.asked("after")
    return int(asked[:9]) if asked.isdecimal() and asked.isascii() else 0


def iso(at: datetime) -> str:
    """Return a time for an address, in full precision: what was published at that very time is not after it."""
    return at.isoformat()
