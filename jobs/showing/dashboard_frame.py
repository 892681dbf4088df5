"""Addresses of the dashboard, and what every page of it has."""

from dataclasses import dataclass
from datetime import datetime
from difflib import get_close_matches
from typing import Any
from urllib.parse import urlencode

from election_replay.jobs import JobError
from election_replay.jobs.reading.words import Row
from election_replay.jobs.showing.rendering import render

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
    """What is shown: the template, the title of the window, what the template asks for, and where ``u`` leads."""

    template: str
    title: str
    values: dict[str, Any]
    up: str = ""


def near(text: str, known: list[str]) -> list[str]:
    """What may have been meant, as a line; none where nothing is near."""
    found = get_close_matches(text, known, n=2, cutoff=0.6)
    return [f"did you mean {' or '.join(found)}?"] if found else []


def frame(shown: Page, here: Here) -> str:
    """A page as it is sent."""
    return render(shown.template, title=shown.title, up=shown.up, here=here, **shown.values)


def refusal(error: JobError) -> Page:
    """What cannot be shown, why, and where to go instead."""
    return Page("refusal.html.j2", "Not there", {"lines": str(error).splitlines()})


def place_of(here: Here) -> int:
    """After how many rows a page begins."""
    asked = here.asked("after")
    return int(asked[:9]) if asked.isdecimal() and asked.isascii() else 0


def iso(at: datetime) -> str:
    """A time for an address; what was published in the same moment is not after it."""
    return at.isoformat()
