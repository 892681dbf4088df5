"""Names in place of addresses and client ids, where the settings ask for them: ``addr-3f9a1c2b7d4e``.

They are put into a line before it is read, so that everything kept of it (columns, text, quarantine, what waits for
the next landing) is made of the line without them. What is equal stays equal, whoever writes it and wherever it
stands; ports stay. A name is an HMAC-SHA-256 under a key that no table holds.

What is an address is known by its form, never by its place in a line: else one line would say ``addr-3f9a1c2b7d4e``
and the next one the same machine's own name, and rules would see two machines. Names of hosts have no form; the
settings list them as patterns.
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
"""Hex digits of a name: among a million values two share one with a chance of one in five hundred."""

LEAST_KEY = 16
"""The shortest key, in bytes."""

SAYS_NOTHING = frozenset({"null", "unknown", "localhost"})
"""What is printed where there is no address or client, in small letters, and what every machine is to itself."""

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
    """Which of the ``kinds`` get names, under which ``key``; ``hosts`` is a pattern of the names of hosts, if any."""

    kinds: tuple[str, ...]
    key: bytes = field(repr=False)
    hosts: str | None = None

    @property
    def mark(self) -> str:
        """What a warehouse notes of this, so that no other names come into it; it does not tell the key."""
        return f"{', '.join(self.kinds)}; key {self._digest('mark', '')}"

    def in_text(self, text: str) -> str:
        """``text`` with names in place of what has a form: addresses, and client ids that begin with one."""
        return _pattern(self.kinds, self.hosts).sub(self._named, text)

    def in_event(self, event: Event, text: str) -> tuple[Event, str]:
        """An event and its text, which have been through :meth:`in_text`, without client ids of any other form.

        Raises :class:`Unparsable` for an address that shows the name of a host that no pattern fits: no part of such a
        line is kept.
        """
        if ADDRESS in self.kinds and (_shows_host(event.address) or _shows_host(event.peer_address)):
            raise Hidden("names a host that no pattern of privacy.host_names fits")
        if CLIENT_ID not in self.kinds:
            return event, text
        client, text = self._named_client(event.client_id, text)
        peer, text = self._named_client(event.peer_client_id, text)
        return replace(event, client_id=client, peer_client_id=peer), text

    def _named_client(self, client: str | None, text: str) -> tuple[str | None, str]:
        """The name of a client, if it has none yet, and the text with it."""
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
    """A line of which nothing may be kept but the reason."""


def pseudonyms_of(privacy: "Privacy") -> Pseudonyms | None:
    """What the settings ask for; ``None`` for nothing. Raises :class:`JobError` where the key is missing or short."""
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
    """What to look for, the longest first: a client id of RocketMQ begins with the address of its machine."""
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
    """Whether an address holds a name that is neither a pseudonym nor says nothing."""
    words = re.findall(rf"{_NAME}(?!\w*://)", re.sub(PSEUDONYM, "", address or ""), re.ASCII)
    return any(re.search("[A-Za-z]", word) and word.lower() not in SAYS_NOTHING for word in words)
