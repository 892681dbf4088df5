"""Pseudonyms in place of addresses and client ids, where the settings ask for them: ``addr-3f9a1c2b7d4e``.

They replace the values in a line before it is read, so that everything kept of the line (columns, text, quarantine,
what waits for the next landing) is free of the originals. Equal values get equal pseudonyms, in every line of every
log; ports stay. A pseudonym is an HMAC-SHA-256 under a key that no table holds.

An address is recognised by its form, never by its place in a line: otherwise one line would hold ``addr-3f9a1c2b7d4e``
and the next one the same machine's own name, and rules would see two machines. Host names have no form of their own;
the settings list them as patterns.
"""

import hmac
import os
import re
from dataclasses import dataclass, field, replace
from functools import cache
from hashlib import sha256

from election_replay.election_core.model.events import Event, Unparsable
from election_replay.jobs import JobError
from election_replay.jobs.settings.config import ADDRESS, CLIENT_ID, Privacy

DIGITS = 12
"""Hex digits of a pseudonym: among a million values two collide with a chance of one in five hundred."""

LEAST_KEY = 16
"""The shortest key, in bytes."""

SAYS_NOTHING = frozenset({"null", "unknown", "localhost"})
"""Lowercase values that get no pseudonym: placeholders for no address or client, and the name of every machine."""

PSEUDONYM = rf"(?:addr|client)-[0-9a-f]{{{DIGITS}}}"
_NAME = r"[A-Za-z0-9_](?:[A-Za-z0-9._-]*[A-Za-z0-9_])?"
_V4 = r"(?<!\d)(?<!\d\.)(?:\d{1,3}\.){3}\d{1,3}(?!\d|\.\d)"
_GROUP = r"[0-9A-Fa-f]{1,4}"
_GROUPS = rf"{_GROUP}(?::{_GROUP}){{0,6}}"
_V6 = (  # not behind a colon: host:9878::100 is a port and a priority
    rf"(?<![\w:.])(?:(?:{_GROUP}:){{7}}{_GROUP}(?!\w)|(?:{_GROUPS}::(?:{_GROUPS})?|::{_GROUPS})(?![\w:]))(?:%\w+)?"
)
_ENDS_ID = r"\s,;=\[\](){}\"'<>\\"
_CLIENT = rf"[^{_ENDS_ID}]*[^{_ENDS_ID}.:]"


@dataclass(frozen=True, slots=True)
class Pseudonyms:
    """The ``kinds`` of values that get pseudonyms and the ``key`` of these; ``hosts`` is a pattern of host names."""

    kinds: tuple[str, ...]
    key: bytes = field(repr=False)
    hosts: str | None = None

    @property
    def mark(self) -> str:
        """Return the mark that a warehouse records to refuse other pseudonyms; it does not reveal the key."""
        return f"{', '.join(self.kinds)}; key {self._digest('mark', '')}"

    def in_text(self, text: str) -> str:
        """Return ``text`` with pseudonyms for addresses, and for client ids that a label or an address precedes."""
        return _pattern(self.kinds, self.hosts).sub(self._named, text)

    def in_event(self, event: Event, text: str) -> tuple[Event, str]:
        """Return the event and its text with pseudonyms for the client ids that :meth:`in_text` did not recognise.

        ``event`` and ``text`` must come from a line that went through :meth:`in_text`. Raises :class:`Hidden` for an
        address with a host name that no pattern fits: no part of such a line is kept.
        """
        if ADDRESS in self.kinds and (_shows_host(event.address) or _shows_host(event.peer_address)):
            raise Hidden("names a host that no pattern of privacy.host_names fits")
        if CLIENT_ID not in self.kinds:
            return event, text
        client, text = self._named_client(event.client_id, text)
        peer, text = self._named_client(event.peer_client_id, text)
        return replace(event, client_id=client, peer_client_id=peer), text

    def _named_client(self, client: str | None, text: str) -> tuple[str | None, str]:
        """Return the pseudonym of a client, and the text with it; None and pseudonyms come back unchanged."""
        if client is None or re.fullmatch(rf"{PSEUDONYM}(?::\d+)?", client):
            return client, text
        name = self._name(CLIENT_ID, client)
        return name, re.sub(rf"(?<![\w.@-]){re.escape(client)}(?![\w.@-])", name, text)

    def _named(self, found: re.Match[str]) -> str:
        value = found.group()
        if re.fullmatch(PSEUDONYM, value) or value.lower() in SAYS_NOTHING:
            return value
        return self._name(CLIENT_ID if found.lastgroup == "client" else ADDRESS, value)

    def _name(self, kind: str, value: str) -> str:
        return f"{'client' if kind == CLIENT_ID else 'addr'}-{self._digest(kind, value)}"

    def _digest(self, kind: str, value: str) -> str:
        return hmac.digest(self.key, f"{kind}:{value}".encode("utf-8", "surrogateescape"), sha256).hex()[:DIGITS]


class Hidden(Unparsable):
    """Raised for a line of which nothing but the reason may be kept."""


def pseudonyms_of(privacy: "Privacy") -> Pseudonyms | None:
    """Return the pseudonyms that the settings ask for; None if they ask for none.

    Raises :class:`JobError` when the key is missing or too short.
    """
    if not privacy.hash:
        return None
    key = os.environ.get(privacy.key_env, "").encode()
    if len(key) < LEAST_KEY:
        state = "is too short" if key else "is not set"
        raise JobError(
            f"privacy.hash needs a key of at least {LEAST_KEY} characters in the environment variable "
            f"{privacy.key_env}, which {state}: make one with `openssl rand -hex 32`, and keep it"
        )
    hosts = "|".join(re.escape(name).replace(r"\*", r"(?:[A-Za-z0-9._-]*[A-Za-z0-9_])?") for name in privacy.host_names)
    return Pseudonyms(tuple(sorted(privacy.hash)), key, hosts or None)


@cache
def _pattern(kinds: tuple[str, ...], hosts: str | None) -> re.Pattern[str]:
    """Return the pattern of values to replace; client ids come first, as those of RocketMQ begin with an address."""
    address = "|".join([_V4, _V6, *([rf"(?<![A-Za-z0-9_.])(?:{hosts})(?![A-Za-z0-9_-]|\.\w)"] if hosts else [])])
    parts = []
    if CLIENT_ID in kinds:
        labelled = rf"(?:(?<=client[ _]id[=:])|(?<=clientid[=:])|(?<=clientid: )){_CLIENT}"
        parts.append(rf"(?P<client>(?i:{labelled})|(?:{address})@{_CLIENT})")
    if ADDRESS in kinds:
        resolved = (
            rf"(?<![\w./<-]){_NAME}(?=/\[?(?:{_V4}|{_V6}))"  # Java's host/10.0.0.1; JRaft's <group/10.0.0.1 is none
        )
        parts.append(rf"(?P<address>{resolved}|(?<=://){_NAME}|{address})")
    return re.compile("|".join(parts), re.ASCII)


def _shows_host(address: str | None) -> bool:
    """Return True when an address holds a host name: a word with letters, no pseudonym, not in SAYS_NOTHING."""
    words = re.findall(rf"{_NAME}(?!\w*://)", re.sub(PSEUDONYM, "", address or ""), re.ASCII)
    return any(re.search("[A-Za-z]", word) and word.lower() not in SAYS_NOTHING for word in words)
