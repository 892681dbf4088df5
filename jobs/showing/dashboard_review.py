"""Marks of reviewers: shown with a finding, and set where the operator of the dashboard allows it."""

import hmac
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from xml.etree.ElementTree import Element

from election_replay.jobs import JobError
from election_replay.jobs.reading.marks import in_full
from election_replay.jobs.reading.words import Row, harmless
from election_replay.jobs.showing.dashboard_frame import Here, choice, labelled
from election_replay.jobs.showing.markup import Child, tag
from election_replay.schemas.reviews import STATES

MOST_CHARACTERS = {"ticket": 200, "note": 2000, "reviewer": 100}
"""How long what is said may be."""

MOST_BYTES = 1 << 16
"""How large what a browser sends may be."""

Mark = Callable[[str, str, str | None, str | None, str | None], Row]
"""Marks a finding: its id, the state, the ticket, a note, and who says so."""


@dataclass(frozen=True, slots=True)
class Reviewing:
    """How marks are set. The ``token`` stands in our own forms alone: a page of another site cannot know it."""

    mark: Mark
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32))

    def set(self, form: Mapping[str, str]) -> str:
        """Set the mark that a form says; the id of its finding.

        Raises :class:`JobError` for a form that is not ours, and for what cannot be said.
        """
        if not hmac.compare_digest(form.get("token", "").encode(), self.token.encode()):
            raise JobError("this form is older than the dashboard: load the page of the finding again")
        given = {name: harmless(form.get(name, "")).strip() for name in ("id", "state", *MOST_CHARACTERS)}
        for name, most in MOST_CHARACTERS.items():
            if len(given[name]) > most:
                raise JobError(f"the {name} is longer than {most:,} characters")
        if not given["reviewer"]:
            raise JobError("say who you are: the mark bears your name")
        row = self.mark(given["id"], given["state"], given["ticket"] or None, given["note"] or None, given["reviewer"])
        return str(row["finding_id"])


def review_part(finding: Row, mark: Row | None, here: Here) -> list[Child]:
    """What was said of a finding, and where it is allowed a form to say something."""
    state = in_full(mark) if mark else "nobody has marked it"
    shown: list[Child] = [tag("h2", "Review"), tag("p", state)]
    return [*shown, form_of(finding, mark, here)] if here.token else shown


def form_of(finding: Row, mark: Row | None, here: Here) -> Element:
    """The form that marks a finding."""

    def text(name: str, label: str) -> Element:
        known = (mark or {}).get(name) if name == "ticket" else None
        most = MOST_CHARACTERS[name]
        return labelled(label, tag("input", name=name, type="text", value=known or "", maxlength=most))

    return tag(
        "form",
        tag("input", type="hidden", name="token", value=here.token),
        tag("input", type="hidden", name="id", value=finding["finding_id"]),
        tag(
            "div",
            choice("Mark as", "state", STATES, mark["state"] if mark else "seen", every=""),
            text("ticket", "Ticket"),
            text("note", "Note"),
            text("reviewer", "Your name"),
            tag("button", "Mark", type="submit"),
        ),
        method="post",
        action=here.link("review"),
        class_="filters",
        aria_label="Review",
    )
