"""Marks of reviewers: shown with a finding, and set where the operator of the dashboard allows it."""

import hmac
import ipaddress
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from election_replay.jobs import JobError
from election_replay.jobs.reading.words import Row, harmless

MOST_CHARACTERS = {"ticket": 200, "note": 2000}
"""How long what is said may be."""

LONGEST_NAME = 100
"""Characters of a reviewer's name."""

MOST_BYTES = 1 << 16
"""How large what a browser sends may be."""

FORWARDED = ("Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-IP", "Via")
"""What proxies say of themselves."""

Mark = Callable[[str, str, str | None, str | None, str], Row]
"""Marks a finding: its id, the state, the ticket, a note, and who says so."""


@dataclass(frozen=True, slots=True)
class Reviewing:
    """How marks are set, and who sets them: whom ``user_header`` names, or ``operator`` where no proxy is in front.

    The header counts only where the machine that asks is this one or one of ``proxies``. The ``secret`` makes the
    tokens of our own forms: a page of another site cannot know them.
    """

    mark: Mark
    operator: str = ""
    user_header: str = ""
    proxies: frozenset[str] = frozenset()
    secret: bytes = field(default_factory=lambda: secrets.token_bytes(32))

    def name(self, header: Callable[[str], str | None], peer: str) -> str:
        """Who asks, by the headers of a request and the address that it comes from. Raises :class:`JobError`."""
        if not self.user_header:
            if any(map(header, FORWARDED)):
                raise JobError("this request came through a proxy: start the dashboard with --user-header")
            return self.operator
        if not (is_loopback(peer) or peer in self.proxies):
            raise JobError(f"{peer} is not the proxy that says who asks: name it by --proxy")
        found = (header(self.user_header) or "").strip()
        if not found or len(found) > LONGEST_NAME or harmless(found) != found:
            raise JobError(f"the proxy does not say who asks: {self.user_header} has no name in it")
        return found

    def token(self, name: str) -> str:
        """What stands in the forms of one reviewer."""
        return hmac.digest(self.secret, name.encode(), "sha256").hex()

    def set(self, form: Mapping[str, str], name: str) -> str:
        """Set the mark that a form says, by whom ``name`` names; the id of its finding.

        Raises :class:`JobError` for a form that is not ours, and for what cannot be said.
        """
        if not hmac.compare_digest(form.get("token", "").encode(), self.token(name).encode()):
            raise JobError("this form is older than the dashboard: load the page of the finding again")
        given = {name: harmless(form.get(name, "")).strip() for name in ("id", "state", *MOST_CHARACTERS)}
        for field_name, most in MOST_CHARACTERS.items():
            if len(given[field_name]) > most:
                raise JobError(f"the {field_name} is longer than {most:,} characters")
        row = self.mark(given["id"], given["state"], given["ticket"] or None, given["note"] or None, name)
        return str(row["finding_id"])


def is_loopback(address: str) -> bool:
    """Whether an address is of this machine alone."""
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return address == "localhost"
