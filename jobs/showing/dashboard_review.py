"""Setting marks of reviewers in the dashboard, where its operator allows it."""

import hmac
import ipaddress
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from election_replay.jobs import JobError
from election_replay.jobs.reading.words import Row, harmless

MOST_CHARACTERS = {"ticket": 200, "note": 2000}
"""The maximum length of the fields of a mark, in characters."""

LONGEST_NAME = 100
"""The maximum length of a reviewer's name, in characters."""

MOST_BYTES = 1 << 16
"""The maximum size of a request body, in bytes."""

FORWARDED = ("Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-IP", "Via")
"""Headers that proxies add."""

Mark = Callable[[str, str, str | None, str | None, str], Row]
"""A function that marks a finding, given its id, the state, the ticket, a note and the reviewer's name."""


@dataclass(frozen=True, slots=True)
class Reviewing:
    """Sets marks in the name of the user that ``user_header`` gives, or of ``operator`` if there is no proxy.

    The header is trusted only in requests from this machine or from ``proxies``. The ``secret`` makes the tokens of our
    own forms, which a page of another site cannot know (CSRF).
    """

    mark: Mark
    operator: str = ""
    user_header: str = ""
    proxies: frozenset[str] = frozenset()
    secret: bytes = field(default_factory=lambda: secrets.token_bytes(32))

    def name(self, header: Callable[[str], str | None], peer: str) -> str:
        """Return the user's name from a request's headers and peer address. Raises :class:`JobError` if unknown."""
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
        """Return the token for the forms of one reviewer."""
        return hmac.digest(self.secret, name.encode(), "sha256").hex()

    def set(self, form: Mapping[str, str], name: str) -> str:
        """Set the mark of a form in the name of ``name``, and return the id of the finding.

        Raises :class:`JobError` for a form with a wrong token, or for invalid values.
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
    """Return True for a loopback address, or ``localhost``."""
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return address == "localhost"
